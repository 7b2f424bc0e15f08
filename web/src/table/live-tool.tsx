import { useIsFetching, type QueryKey } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { queryClient } from '../api.ts';
import { tablesQuery } from '../experiments/queries.ts';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { useFollowed } from './live.ts';
import { rowsQuery, type TableShown } from './queries.ts';

const said = words.table.live;

interface LiveProps {
  shown: TableShown;
  /** The version whose rows are shown; undefined until they are read. `totalRows` is how many the whole table has in it; null where the rows are narrowed down or grouped. */
  version: number | undefined;
  totalRows: number | null;
  isLive: boolean;
  change: (isLive: boolean) => void;
}

/** Reads the rows of a question and the list of tables anew. */
async function renew(experimentId: string, rows: QueryKey): Promise<void> {
  await Promise.all([rows, tablesQuery(experimentId).queryKey].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}

/** Follows a table: says that there are new rows, or shows them at once where that was chosen. */
export function LiveTool({ shown, version, totalRows, isLive, change }: LiveProps) {
  const { experimentId, table, search } = shown;
  const { told, error } = useFollowed(experimentId, table);
  const { queryKey } = rowsQuery({ experimentId, table, search });
  const isReading = useIsFetching({ queryKey }) > 0;
  const tried = useRef(version);
  const isNewer = version !== undefined && told !== null && told.version !== null && told.version > version;
  const added = isNewer && totalRows !== null && told.totalRows !== null ? told.totalRows - totalRows : 0;
  const read = () => {
    tried.current = told?.version ?? version;
    void renew(experimentId, queryKey);
  };
  const follow = useEffectEvent(read);
  useEffect(() => {
    // one reading at a time, and one for each version: what is told meanwhile is read afterwards
    if (isLive && isNewer && !isReading && told.version !== tried.current) follow();
  }, [isLive, isNewer, isReading, told]);
  return (
    <div className="live">
      <button type="button" className="button" aria-pressed={isLive} onClick={() => change(!isLive)}>
        {said.live}
      </button>
      <div role="status" className="live-told">
        {told?.version === null ? (
          <p className="small">{said.gone}</p>
        ) : isNewer && !isLive ? (
          <>
            <p className="small">{added > 0 ? said.newRows(added, countText(added)) : said.changed}</p>
            <SendButton isSending={isReading} onClick={read}>
              {said.show}
            </SendButton>
          </>
        ) : null}
      </div>
      {error === null ? null : (
        <div>
          <p className="small">{said.ended}</p>
          <Problem error={error} />
        </div>
      )}
    </div>
  );
}
