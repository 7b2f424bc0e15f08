import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { printJson } from '../code/json.ts';
import { experimentQuery, tablesQuery } from '../experiments/queries.ts';
import { offerExperiments } from '../home/queries.ts';
import { Problem } from '../shell/problem.tsx';
import { sayProblem } from '../shell/toasts.tsx';
import { ChoiceField } from '../ui/choice.tsx';
import { SelectField } from '../ui/field.tsx';
import { Options } from '../ui/options.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { measurementsQuery, runMacro, type Macro, type Measurement, type RunResult, type Written } from './queries.ts';

const route = getRouteApi('/guarded/library/macros/$macro');
const said = words.macros.run;

const RAW = 'raw_data';

/** Where the measurement comes from, as the address says it, and what can be chosen. */
function useMeasurement() {
  const { experiment, table, row } = route.useSearch();
  const described = useQuery({ ...tablesQuery(experiment ?? ''), enabled: experiment !== undefined });
  const readable = described.data?.filter(({ canRead, tableType, totalRows }) => canRead && tableType !== 'macro' && totalRows > 0);
  const usual = readable?.find(({ identifier }) => identifier === RAW) ?? readable?.[0];
  const chosen = readable?.find(({ identifier }) => identifier === table) ?? usual;
  const rows = useQuery({
    ...measurementsQuery(experiment ?? '', chosen?.identifier ?? '', chosen?.defaultSortColumn),
    enabled: experiment !== undefined && chosen !== undefined,
  });
  const measurement = rows.data?.find(({ id }) => id === row) ?? rows.data?.[0];
  return { experiment, readable, table: chosen?.identifier, rows: rows.data, measurement, error: described.error ?? rows.error };
}

export interface Run {
  source: ReturnType<typeof useMeasurement>;
  result: RunResult | undefined;
  error: unknown;
  isPending: boolean;
  isPossible: boolean;
  start: (text: string) => void;
}

/** Runs the macro, as it is written now, with the chosen measurement. */
export function useRun(id: string, written: Written, stored: Macro): Run {
  const source = useMeasurement();
  const { mutate, data, error, isPending, variables } = useMutation({
    // measurement and text are handed over, so that what was just written runs
    mutationFn: ({ measurement, text }: { measurement: Measurement; text: string }) =>
      runMacro(id, { data: measurement.data, ...(text === stored.code || text === '' ? {} : { code: text }) }),
  });
  const isPossible = source.measurement !== undefined && written.language === stored.language && !isPending;
  return {
    source,
    // the result for another measurement says nothing of this one
    result: variables?.measurement.id === source.measurement?.id ? data : undefined,
    error,
    isPending,
    isPossible,
    start: (text) => {
      if (isPossible && source.measurement !== undefined) mutate({ measurement: source.measurement, text });
      else if (!isPending) sayProblem(source.measurement === undefined ? said.needsMeasurement : said.languageChanged);
    },
  };
}

function Result({ result, goTo }: { result: RunResult; goTo: (line: number, column?: number) => void }) {
  const { success, output, error, failure, logs, durationMs } = result;
  return (
    <div className="stack" role="status">
      {success ? (
        <>
          <p className="notice good">{said.worked(durationMs.toFixed(0))}</p>
          <h3>{said.output}</h3>
          {Object.keys(output ?? {}).length === 0 ? (
            <p>{said.noOutput}</p>
          ) : (
            <pre className="code-read" tabIndex={0} aria-label={said.output}>
              {printJson(output)}
            </pre>
          )}
        </>
      ) : (
        <div className="notice problem">
          <p>
            <strong>{said.failed}</strong>
          </p>
          <p>{failure?.line === undefined ? error : words.library.code.at(failure.line, error ?? failure.message)}</p>
          {failure?.line === undefined ? null : (
            <p>
              <button type="button" className="button" onClick={() => goTo(failure.line ?? 1, failure.column)}>
                {words.library.code.goTo(failure.line)}
              </button>
            </p>
          )}
        </div>
      )}
      {logs.length === 0 ? null : (
        <>
          <h3>{said.logs}</h3>
          <pre className="code-read" tabIndex={0} aria-label={said.logs}>
            {logs.join('\n')}
          </pre>
        </>
      )}
    </div>
  );
}

interface RunPanelProps {
  run: Run;
  written: Written;
  stored: Macro;
  goTo: (line: number, column?: number) => void;
}

/** A real measurement, what the macro makes of it, and what it says. */
export function RunPanel({ run, written, stored, goTo }: RunPanelProps) {
  const { experiment, readable, table, rows, measurement, error } = run.source;
  const navigate = route.useNavigate();
  const named = useQuery({ ...experimentQuery(experiment ?? ''), enabled: experiment !== undefined });
  const choose = (next: { experiment?: string; table?: string; row?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  return (
    <section className="panel" aria-labelledby="run">
      <h2 id="run">{said.title}</h2>
      <p className="small quiet">{said.lead}</p>
      <ChoiceField
        id="run-experiment"
        label={said.experiment}
        ask={offerExperiments}
        none={said.choose}
        chosen={experiment === undefined ? undefined : { id: experiment, name: named.data?.experiment.name ?? words.waiting }}
        choose={(found) => choose({ experiment: found?.id, table: undefined, row: undefined })}
      />
      <Problem error={named.error ?? error} />
      {readable?.length === 0 ? <p className="quiet">{said.noTables}</p> : null}
      {table === undefined ? null : (
        <div className="inline">
          <SelectField
            id="run-table"
            label={said.table}
            value={table}
            onChange={(event) => choose({ table: event.target.value, row: undefined })}
          >
            <Options texts={readable?.map(({ identifier, displayName }) => [identifier, displayName])} />
          </SelectField>
          <SelectField
            id="run-row"
            label={said.row}
            value={measurement?.id ?? ''}
            onChange={(event) => choose({ row: event.target.value })}
          >
            <Options texts={rows?.map(({ id, label }) => [id, label])} />
          </SelectField>
        </div>
      )}
      {rows?.length === 0 ? <p className="quiet">{said.noRows}</p> : null}
      {measurement === undefined ? null : (
        <details>
          <summary>{said.seen}</summary>
          <pre className="code-read" tabIndex={0} aria-label={said.seen}>
            {printJson(measurement.data)}
          </pre>
        </details>
      )}
      <div className="inline">
        <SendButton className="button primary" isSending={run.isPending} isIdle={!run.isPossible} onClick={() => run.start(written.code)}>
          {said.run}
        </SendButton>
        {experiment === undefined ? null : (
          <Link className="button" to="/experiments/$id/macros/$macro" params={{ id: experiment, macro: stored.id }}>
            {said.past}
          </Link>
        )}
      </div>
      <p className="small quiet">{written.language === stored.language ? said.unsaved : said.languageChanged}</p>
      <Problem error={run.error} />
      {run.isPending ? (
        <p className="quiet">{words.waiting}</p>
      ) : run.result === undefined ? null : (
        <Result result={run.result} goTo={goTo} />
      )}
    </section>
  );
}
