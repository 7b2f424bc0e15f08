import { useMutation, useQuery } from '@tanstack/react-query';
import { agoText, bytesText, countText, dayText, momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sessionQuery } from '../shell/session.ts';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { findLastError } from '../ui/last-error.ts';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { downloadExport, exportQuery, isRunning, removeExport, type ExportListed } from './queries.ts';
import './exports.css';

const said = words.exports;

const MOODS: Readonly<Record<ExportListed['status'], '' | 'good' | 'warn'>> = {
  queued: '',
  running: '',
  completed: 'good',
  failed: 'warn',
  cancelled: '',
};

interface ExportItemProps {
  listed: ExportListed;
  /** Name of its table. */
  table: string;
  /** Whether the caller manages the experiment, and so may remove exports of others. */
  canManage: boolean;
}

/** An export: how far it is, its file, or why there is none. */
export function ExportItem({ listed, table, canManage }: ExportItemProps) {
  const { experimentId: id, exportId } = listed;
  const { data: session } = useQuery(sessionQuery);
  const followed = useQuery(exportQuery(id, exportId)).data;
  const shown = followed ?? listed;
  const { status, format, rowCount, fileSize, filePath, createdAt, createdBy } = shown;
  const download = useMutation({ mutationFn: () => downloadExport(shown) });
  const cancel = useMutation({
    mutationFn: () => removeExport(id, exportId),
    onSuccess: () => sayDone(said.cancelled),
  });
  const title = said.titleOf(said.formatNames[format], table);
  const isMine = canManage || createdBy === session?.user.id;
  const isExpired = status === 'completed' && filePath === null;
  const version = followed === undefined ? null : said.version(countText(followed.tableVersion));
  const until = filePath === null || followed?.expiresAt == null ? null : said.until(dayText(followed.expiresAt));
  const facts =
    rowCount === null || fileSize === null
      ? said.askedFor(agoText(createdAt))
      : said.facts(countText(rowCount), bytesText(fileSize), agoText(createdAt));
  return (
    <li className="export">
      <div>
        <h3>
          {title} <span className={`tag ${isExpired ? '' : MOODS[status]}`}>{isExpired ? said.expired : said.status[status]}</span>
        </h3>
        <p className="small quiet number" title={momentText(createdAt)}>
          {[facts, version, until].filter((part) => part !== null).join(', ')}
        </p>
        {isRunning(shown) ? (
          <div className="export-progress">
            <progress aria-label={said.progress(title)} max={100} value={followed?.progress.percent ?? 0} />
            <p className="small number">
              {status === 'queued'
                ? said.waiting
                : followed?.progress.totalRows == null
                  ? said.beginning
                  : said.written(countText(followed.progress.rows), countText(followed.progress.totalRows))}
            </p>
          </div>
        ) : null}
        {followed?.errorMessage == null ? null : (
          <p className="small export-reason" role="note">
            {followed.errorMessage}
          </p>
        )}
        <Problem error={findLastError(download, cancel)} adviceHere={said.advice} />
      </div>
      <div className="inline">
        {filePath === null ? null : (
          <SendButton
            className="button primary"
            aria-label={said.downloadOf(title)}
            isSending={download.isPending}
            onClick={() => download.mutate()}
          >
            {said.download}
          </SendButton>
        )}
        {!isMine ? null : isRunning(shown) ? (
          <SendButton aria-label={said.cancelOf(title)} isSending={cancel.isPending} onClick={() => cancel.mutate()}>
            {said.cancel}
          </SendButton>
        ) : (
          <AskFirst
            action={said.remove}
            label={said.removeOf(title)}
            question={said.removeOf(title)}
            consequence={said.removeAsk}
            perform={() => removeExport(id, exportId).then(() => sayDone(said.removed))}
          />
        )}
      </div>
    </li>
  );
}
