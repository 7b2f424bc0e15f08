import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { experimentQuery, tablesQuery } from '../experiments/queries.ts';
import { countText, momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { Form } from '../ui/form.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { Withheld } from './past-list.tsx';
import { pastQuery, pastRunQuery, renewPast, startPast, stopOnNew, type PastRun, type Wanted } from './past-queries.ts';
import { macroQuery } from './queries.ts';
import '../charts/charts.css';
import '../library/library.css';
import '../upload/upload.css';

const route = getRouteApi('/guarded/experiments/$id/macros/$macro');
const said = words.macros.past;

interface Place {
  id: string;
  macroId: string;
}

/** One run: how far it is, and what became of it. `errors` is the column with the reasons, for whoever may read it. */
function RunRow({ id, macroId, first, errors }: Place & { first: PastRun; errors: string | undefined }) {
  const { data: run, error } = useQuery(pastRunQuery(id, macroId, first));
  const { status, scope, codeVersion, createdAt, totalRows, doneRows, failedRows, note, filters } = run;
  const hasEnded = status === 'completed';
  const [isWatched] = useState(!hasEnded);
  useEffect(() => {
    // one that had ended before it was seen has changed nothing since
    if (isWatched && hasEnded) void renewPast(id);
  }, [isWatched, hasEnded, id]);
  return (
    <li>
      <div className="stack">
        <p role="status" className="number">
          {note !== undefined && totalRows === 0
            ? note
            : `${said.progress(countText(doneRows), countText(totalRows))}, ${said.failedRows(countText(failedRows))}`}
        </p>
        {note === undefined || totalRows === 0 ? null : <p>{note}</p>}
        {hasEnded ? null : <progress aria-label={said.progressLabel} max={Math.max(1, totalRows)} value={doneRows} />}
        <p className="small quiet">
          {said.fact(filters === undefined ? said.scopeFacts[scope] : said.someMatching, codeVersion, momentText(createdAt))}
        </p>
        {failedRows === 0 || errors === undefined ? null : (
          <p className="small">
            <Link
              to="/experiments/$id/tables/$table"
              params={{ id, table: macroId }}
              search={{ columns: ['timestamp', 'device_name', errors], filters: [{ column: errors, operator: 'is_not_null' }] }}
            >
              {said.seeFailed}
            </Link>
          </p>
        )}
        <Problem error={error} />
      </div>
      <span className={`tag ${hasEnded ? 'good' : 'warn'}`}>{said.states[status]}</span>
    </li>
  );
}

/** Says that the macro runs on new measurements, and lets the caller stop that. */
function OnNew({ id, macroId }: Place) {
  return (
    <div className="inline">
      <p>{said.runsOnNew}</p>
      <AskFirst
        action={said.stop}
        consequence={said.stopAsk}
        isDangerous={false}
        perform={async () => {
          await stopOnNew(id, macroId);
          sayDone(said.stopped);
        }}
      />
    </div>
  );
}

/** `isNamed`: whether measurements name it, or it was run on some. */
function StartForm({ id, macroId, mayManage, isNamed }: Place & { mayManage: boolean; isNamed: boolean }) {
  const [chosen, setWanted] = useState<Partial<Wanted>>({});
  const wanted: Wanted = { scope: mayManage && isNamed ? 'naming' : 'matching', includeDelivered: false, onNew: false, ...chosen };
  const start = useMutation({ mutationFn: () => startPast(id, macroId, wanted), onSuccess: () => sayDone(said.started) });
  return (
    <Form className="stack" send={() => start.mutate()}>
      <fieldset className="choose-scope">
        <legend className="label">{said.over}</legend>
        <p className="hint">{said.overHint}</p>
        {(mayManage ? (['naming', 'matching'] as const) : (['matching'] as const)).map((scope) => (
          <label key={scope} className="check">
            <input type="radio" name="scope" checked={wanted.scope === scope} onChange={() => setWanted({ ...wanted, scope })} />
            {said.scopes[scope]}
          </label>
        ))}
        <label className="check">
          <input
            type="checkbox"
            checked={wanted.includeDelivered}
            onChange={(event) => setWanted({ ...wanted, includeDelivered: event.target.checked })}
          />
          {said.delivered}
        </label>
        {wanted.scope === 'matching' ? (
          <label className="check">
            <input type="checkbox" checked={wanted.onNew} onChange={(event) => setWanted({ ...wanted, onNew: event.target.checked })} />
            {said.onNew}
          </label>
        ) : null}
      </fieldset>
      <div className="inline">
        <SendButton type="submit" className="button primary" isSending={start.isPending}>
          {said.start}
        </SendButton>
      </div>
      <Problem error={start.error} />
    </Form>
  );
}

/** A macro over the measurements of an experiment: running it, how far it is, and what was withheld. */
export function PastPage() {
  const { id, macro: macroId } = route.useParams();
  const { experiment, capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const tables = useQuery(tablesQuery(id));
  const macro = useQuery(macroQuery(macroId));
  const past = useQuery(pastQuery(id, macroId));
  const table = tables.data?.find(({ identifier }) => identifier === macroId);
  const name = macro.data?.macro.name ?? table?.displayName ?? words.waiting;
  return (
    <div className="stack">
      <title>{`${said.titleOf(name)} · ${experiment.name} · ${words.name}`}</title>
      <section className="panel" aria-labelledby="past">
        <header>
          <h2 id="past" className="library-name">
            {said.titleOf(name)}
          </h2>
          <p className="small facts">
            {table?.canRead === true ? (
              <Link to="/experiments/$id/tables/$table" params={{ id, table: macroId }}>
                {said.table}
              </Link>
            ) : null}
            {macro.data === undefined ? null : (
              <Link to="/library/macros/$macro" params={{ macro: macroId }} search={{ experiment: id }}>
                {said.macro}
              </Link>
            )}
          </p>
        </header>
        <Problem error={macro.error ?? tables.error} />
        {table?.withheld === undefined ? null : <Withheld withheld={table.withheld} />}
        {experiment.status === 'archived' ? (
          <p className="quiet">{said.archived}</p>
        ) : capabilities.canContribute ? (
          <>
            {table?.runsOnNew === true ? <OnNew id={id} macroId={macroId} /> : null}
            {tables.isPending ? null : (
              <StartForm id={id} macroId={macroId} mayManage={capabilities.canManage} isNamed={table !== undefined} />
            )}
          </>
        ) : (
          <p className="quiet">{said.forbidden}</p>
        )}
      </section>
      <section className="panel" aria-labelledby="past-runs">
        <h2 id="past-runs">{said.history}</h2>
        <Problem error={past.error} retry={() => void past.refetch()} />
        {past.data?.length === 0 ? <p className="quiet">{said.noHistory}</p> : null}
        <ul className="rows">
          {past.data?.map((run) => (
            <RunRow key={run.id} id={id} macroId={macroId} first={run} errors={table?.canRead === true ? table.errorColumn : undefined} />
          ))}
        </ul>
      </section>
    </div>
  );
}
