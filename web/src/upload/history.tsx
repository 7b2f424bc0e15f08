import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { agoText, countText, momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { Pages } from '../ui/pages.tsx';
import { words } from '../words.ts';
import { historyQuery, PAGE_SIZE } from './queries.ts';
import { StatusTag } from './status-tag.tsx';

const said = words.upload.history;

/** The experiment's uploads, newest first. */
export function History({ id, page }: { id: string; page: number }) {
  const { data, error, refetch } = useQuery(historyQuery(id, page));
  return (
    <section className="panel" aria-labelledby="history">
      <h2 id="history">{said.title}</h2>
      <Problem error={error} retry={() => void refetch()} />
      {data === undefined ? (
        error === null ? (
          <p className="quiet">{words.waiting}</p>
        ) : null
      ) : data.total === 0 ? (
        <p className="quiet">{said.none}</p>
      ) : (
        <ul className="rows">
          {data.uploads.map(({ uploadId, uploadTableName, sourceKind, status, rowCount, quarantined, createdAt, withdrawnAt }) => (
            <li key={uploadId}>
              <div>
                <h3>
                  <Link to="/experiments/$id/uploads/$upload" params={{ id, upload: uploadId }}>
                    {uploadTableName ?? said.noTable}
                  </Link>
                </h3>
                <p className="small quiet number" title={momentText(createdAt)}>
                  {said.facts(words.upload.kinds[sourceKind], countText(rowCount), countText(quarantined), agoText(createdAt))}
                </p>
              </div>
              <StatusTag status={status} withdrawnAt={withdrawnAt} />
            </li>
          ))}
        </ul>
      )}
      {data === undefined ? null : (
        <Pages
          page={page}
          pageSize={PAGE_SIZE}
          total={data.total}
          link={(to, text) => (
            <Link className="button" to="/experiments/$id/uploads" params={{ id }} search={{ page: to }}>
              {text}
            </Link>
          )}
        />
      )}
    </section>
  );
}
