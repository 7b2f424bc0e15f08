import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { isMeasure } from '../../../src/api/visualizations/roles.ts';
import { experimentQuery, tablesQuery } from '../experiments/queries.ts';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { NoTable } from '../table/no-table.tsx';
import { sentenceOf } from '../table/operators.ts';
import { saveFile } from '../ui/download.ts';
import { SendButton } from '../ui/send-button.tsx';
import { TakeButton } from '../ui/take-button.tsx';
import { words } from '../words.ts';
import { Drawing } from './drawing.tsx';
import { firstChart } from './first.ts';
import { ChartForm } from './form.tsx';
import { pictureOf, savedQuery, specQuery } from './queries.ts';
import { axesOf } from './region.ts';
import { RegionPanel, SingleRows } from './region-panel.tsx';
import { SavePanel } from './save.tsx';
import type { ChartSearch, ChartShown, Decide, Source } from './search.ts';
import { chartBody, drawnSources, missingOf } from './types.ts';
import '../table/table.css';
import './charts.css';

const route = getRouteApi('/guarded/experiments/$id/tables/$table/chart');
const said = words.charts;

/** Narrower pages have a smaller chart, so that its words can be read. Files are as large as ever. */
const NARROW = 640;
const SMALL = { width: 260, height: 240 };

/** What a chart is called unless somebody names it: `spad by genotype, treatment`. */
function usualName(type: ChartShown['type'], sources: readonly Source[]): string {
  const [drawn, places] = [true, false].map((isDrawn) =>
    sources
      .filter(({ role }) => isMeasure(type, role) === isDrawn)
      .map(({ columnName }) => (columnName === '*' ? said.everyRow : columnName)),
  );
  return [drawn, places].flatMap((names = []) => (names.length === 0 ? [] : [names.join(', ')])).join(said.by);
}

/** A column as it is drawn where each row stands for itself. */
const withoutSum = ({ aggregate: _sum, error: _bars, ...source }: Source): Source => source;

/** A chart of a table, as the address says it. */
export function ChartPage() {
  const { id, table } = route.useParams();
  const asked = route.useSearch();
  const navigate = route.useNavigate();
  const { isAdmin, experiment, capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const tables = useSuspenseQuery(tablesQuery(id)).data;
  const described = tables.find(({ identifier }) => identifier === table);
  const columns = described?.columns ?? [];
  const shownOf = (address: ChartSearch): ChartShown => ({
    ...(address.sources === undefined ? firstChart(columns, { filters: address.filters }) : {}),
    ...Object.fromEntries(Object.entries(address).filter(([, value]) => value !== undefined)),
    type: address.type ?? (address.sources === undefined ? (firstChart(columns, {}).type ?? 'line') : 'line'),
  });
  const search = shownOf(asked);
  const change = (decide: Decide, replace = false) =>
    void navigate({
      // as the address is by now, which may not be drawn yet
      search: (before: ChartSearch) => {
        const now = shownOf(before);
        const next = decide(now);
        // a region belongs to the columns that were drawn when it was chosen
        const region = next.sources === undefined && next.type === undefined ? {} : { region: undefined };
        return { ...now, ...region, ...(next.type === undefined ? {} : { unknownType: undefined }), ...next };
      },
      replace,
      resetScroll: false,
    });

  const stored = useQuery({ ...savedQuery(id, search.saved ?? ''), enabled: search.saved !== undefined });
  const displayName = described?.displayName ?? table;
  const measured = drawnSources(search.type, search.sources ?? []);
  const axes = axesOf(search.type, measured, columns);
  const isSummedUp = axes === null && axesOf(search.type, measured.map(withoutSum), columns) !== null;
  const maySay = capabilities.canContribute && experiment.status !== 'archived' && columns.some((column) => column.name === 'annotations');
  const missing = missingOf(search.type, measured);
  const usual = usualName(search.type, measured);
  const name = stored.data?.chart.name ?? usual;
  const chart = chartBody(table, search, name.slice(0, 255));
  const { asOf } = search;
  const drawn = { ...chart, asOf };
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    ...specQuery(id, drawn, globalThis.innerWidth < NARROW ? SMALL : {}),
    enabled: missing.length === 0,
  });
  const download = useMutation({
    mutationFn: async (format: 'png' | 'svg') => saveFile(await pictureOf(id, drawn, format), `${name || displayName}.${format}`),
  });
  // a saved chart can still be deleted
  if (described === undefined && search.saved === undefined) return <NoTable id={id} />;
  return (
    <div>
      <title>{`${said.chartOf(displayName)} · ${experiment.name} · ${words.name}`}</title>
      <div className="table-head">
        <h2>{said.chartOf(displayName)}</h2>
        <Link
          className="small"
          to="/experiments/$id/tables/$table"
          params={{ id, table }}
          search={{ ...(search.filters === undefined ? {} : { filters: search.filters }), ...(asOf === undefined ? {} : { asOf }) }}
        >
          {said.rows}
        </Link>
      </div>
      {asOf === undefined ? null : (
        <div className="notice inline" role="status">
          <p>{said.asOf(countText(asOf))}</p>
          <button type="button" className="button" onClick={() => change(() => ({ asOf: undefined }))}>
            {said.newest}
          </button>
        </div>
      )}
      <div className="chart-page">
        <ChartForm search={search} columns={columns} change={change} />
        <div className="stack">
          <section className="panel chart-panel" aria-label={said.drawing(name)} aria-busy={isFetching}>
            {(search.filters ?? []).length === 0 ? null : (
              <p className="small chart-filters">
                {search.filters?.map((filter, index) => {
                  const sentence = sentenceOf(filter);
                  return (
                    <span key={sentence} className="filter">
                      {sentence}
                      <TakeButton
                        className=""
                        aria-label={words.table.filters.remove(sentence)}
                        onClick={() => change(({ filters }) => ({ filters: filters?.filter((_, at) => at !== index) }))}
                      >
                        ×
                      </TakeButton>
                    </span>
                  );
                })}
              </p>
            )}
            {search.unknownType === undefined ? null : (
              <p className="notice" role="status">
                {said.unknownType(search.unknownType, search.type)}
              </p>
            )}
            {missing.length > 0 ? (
              <p className="notice" role="status">
                {said.missing(missing.map((role) => said.roles[role]).join(', '))}
              </p>
            ) : error !== null ? (
              <Problem error={error} retry={() => void refetch()} />
            ) : data === undefined ? (
              <p className="quiet" role="status" data-awaited>
                {words.waiting}
              </p>
            ) : (
              <Drawing
                spec={data}
                name={said.drawing(name)}
                isStale={isPlaceholderData}
                region={
                  axes !== null && maySay && asOf === undefined
                    ? { shown: search.region, choose: (region) => change(() => ({ region })) }
                    : undefined
                }
              />
            )}
            <div className="inline">
              {(['png', 'svg'] as const).map((format) => (
                <SendButton key={format} isSending={download.isPending} isIdle={missing.length > 0} onClick={() => download.mutate(format)}>
                  {said.download(format.toUpperCase())}
                </SendButton>
              ))}
            </div>
            <Problem error={download.error} />
          </section>
          {/* rows are annotated as they are now, and a stored chart is of the newest version */}
          {axes !== null && maySay && missing.length === 0 && asOf === undefined ? (
            <RegionPanel
              experimentId={id}
              table={table}
              axes={axes}
              filters={search.filters ?? []}
              region={search.region}
              change={(region) => change(() => ({ region }))}
            />
          ) : null}
          {isSummedUp && maySay && missing.length === 0 && asOf === undefined ? (
            <SingleRows draw={() => change(({ sources = [] }) => ({ sources: sources.map(withoutSum) }))} />
          ) : null}
          {isAdmin && experiment.status !== 'archived' && missing.length === 0 && asOf === undefined ? (
            <SavePanel
              id={id}
              chart={chart}
              usual={usual}
              saved={search.saved}
              stored={stored.data}
              error={stored.error}
              show={(shown) => change(() => shown, true)}
            />
          ) : null}
        </div>
      </div>
    </div>
  );
}
