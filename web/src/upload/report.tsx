import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { queryClient } from '../api.ts';
import { experimentQuery, tablesQuery } from '../experiments/queries.ts';
import { countText, momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sessionQuery } from '../shell/session.ts';
import { AskFirst } from '../ui/ask-first.tsx';
import { NotYet } from '../ui/not-yet.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { FileReport } from './file-report.tsx';
import { isRunning, renewTables, replayUpload, uploadQuery, withdrawUpload, type UploadReport } from './queries.ts';
import { StatusTag } from './status-tag.tsx';
import './upload.css';

const route = getRouteApi('/guarded/experiments/$id/uploads/$upload');
const said = words.upload.report;

/** How far the reading is. That it ended is seen all over the page, and here it is read out. */
function Reading({ upload }: { upload: UploadReport }) {
  const { files, status, rowCount, withdrawRequestedAt, withdrawnAt } = upload;
  const isOn = isRunning(upload);
  const ended = said.ended(withdrawnAt === null ? words.upload.status[status] : words.upload.withdrawn, countText(rowCount));
  const done = files.filter((file) => file.status !== 'pending').length;
  return (
    <div className={isOn ? 'notice progress' : 'hidden-visually'}>
      <p role="status" className="number">
        {!isOn ? ended : withdrawRequestedAt === null ? said.reading(done, files.length) : said.withdrawing}
      </p>
      {/* without a value a progress bar says only that something is going on */}
      {!isOn ? null : files.length > 1 && withdrawRequestedAt === null ? (
        <progress aria-label={said.readingLabel} max={files.length} value={done} />
      ) : (
        <progress aria-label={said.readingLabel} />
      )}
    </div>
  );
}

function Counts({ upload: { rowCount, quarantined, alreadyThere, rowsIn } }: { upload: UploadReport }) {
  return (
    <dl className="counts">
      <div>
        <dt>{said.stored}</dt>
        <dd className="number">{countText(rowCount)}</dd>
      </div>
      <div>
        <dt>{said.quarantined}</dt>
        <dd className="number">{countText(quarantined)}</dd>
      </div>
      {alreadyThere === 0 ? null : (
        <div>
          <dt>{said.alreadyThere}</dt>
          <dd className="number">{countText(alreadyThere)}</dd>
        </div>
      )}
      <div>
        <dt>{said.records}</dt>
        <dd className="number">{countText(rowsIn)}</dd>
      </div>
    </dl>
  );
}

/** Has what could not be stored read again. */
function Replay({ id, uploadId, isKept }: { id: string; uploadId: string; isKept: boolean }) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => replayUpload(id, uploadId),
    onSuccess: (upload) => queryClient.setQueryData(uploadQuery(id, uploadId).queryKey, upload),
  });
  return (
    <div className="stack">
      <p className="small quiet">{isKept ? said.keptHint : said.quarantineHint}</p>
      <p>
        <SendButton isSending={isPending} onClick={() => mutate()}>
          {isKept ? said.replayKept : said.replay}
        </SendButton>
      </p>
      <Problem error={error} />
    </div>
  );
}

/** Takes an upload back, for whoever sent it and whoever manages the experiment. */
function Withdraw({ id, upload, mayManage }: { id: string; upload: UploadReport; mayManage: boolean }) {
  const { data: session } = useQuery(sessionQuery);
  const { uploadId, uploadTableName, rowCount, quarantined, createdBy, withdrawRequestedAt } = upload;
  const isOurs = mayManage || createdBy === session?.user.id;
  if (!isOurs || uploadTableName === null || withdrawRequestedAt !== null || rowCount + quarantined === 0) return null;
  return (
    <AskFirst
      action={said.withdraw}
      consequence={said.withdrawText(countText(rowCount), uploadTableName)}
      perform={async () => queryClient.setQueryData(uploadQuery(id, uploadId).queryKey, await withdrawUpload(id, uploadId))}
    />
  );
}

/** What became of an upload: how far it is, what was stored, and what each column became. */
export function ReportPage() {
  const { id, upload: uploadId } = route.useParams();
  const { experiment, capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const { data: upload, error, refetch } = useQuery(uploadQuery(id, uploadId));
  const tables = useQuery(tablesQuery(id)).data;
  const hasEnded = upload !== undefined && !isRunning(upload);
  useEffect(() => {
    // the lists of tables were read before the rows of this upload were there
    if (hasEnded) void renewTables(id);
  }, [hasEnded, id]);
  if (upload === undefined) return <NotYet error={error} refetch={refetch} />;
  const { uploadTableId, uploadTableName, sourceKind, status, errorMessage, createdAt, quarantined, rowCount, alreadyThere, withdrawnAt } =
    upload;
  const isKept = upload.files.some(({ reason }) => reason === 'processing_failed');
  const table = tables?.find(({ identifier }) => identifier === uploadTableId);
  const isWritable = experiment.status !== 'archived' && capabilities.canContribute;
  return (
    <div className="stack">
      <title>{`${said.title(uploadTableName ?? said.noTable)} · ${experiment.name} · ${words.name}`}</title>
      <section className="panel" aria-labelledby="report">
        <header>
          <h2 id="report">{said.title(uploadTableName ?? said.noTable)}</h2>
          <StatusTag status={status} withdrawnAt={withdrawnAt} />
        </header>
        <p className="small quiet">{said.sent(words.upload.kinds[sourceKind], momentText(createdAt))}</p>
        <Problem error={error} retry={() => void refetch()} />
        <Reading upload={upload} />
        {/* what is wrong with a file stands beside it */}
        {hasEnded && errorMessage !== null && upload.files.every(({ message }) => message === null) ? (
          <p role="alert" className="notice problem">
            {errorMessage}
          </p>
        ) : null}
        <Counts upload={upload} />
        {withdrawnAt === null ? null : <p className="notice">{said.withdrawn(momentText(withdrawnAt))}</p>}
        {hasEnded && withdrawnAt === null && (quarantined > 0 || isKept) && uploadTableId !== null && isWritable ? (
          <Replay id={id} uploadId={uploadId} isKept={isKept} />
        ) : null}
        <p className="inline">
          {table !== undefined && hasEnded ? (
            <Link
              className={rowCount + alreadyThere > 0 ? 'button primary' : 'button'}
              to="/experiments/$id/tables/$table"
              params={{ id, table: table.identifier }}
            >
              {said.open}
            </Link>
          ) : null}
          <Link className="button" to="/experiments/$id/uploads" params={{ id }}>
            {isWritable ? said.another : words.upload.history.title}
          </Link>
          {hasEnded && isWritable ? <Withdraw id={id} upload={upload} mayManage={capabilities.canManage} /> : null}
        </p>
      </section>
      {upload.files.map((file) => (
        <FileReport
          key={file.path}
          id={id}
          file={file}
          isOpen={upload.files.length === 1 || (hasEnded && file.status !== 'completed')}
          table={table}
          mayChange={capabilities.canManage && experiment.status !== 'archived' && withdrawnAt === null}
        />
      ))}
    </div>
  );
}
