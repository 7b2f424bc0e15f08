/** Turns a chart's data config into one read of its table, and into a plan for making series of the answer's rows. Pure. */
import type { Aggregation, FunctionCall, FunctionName, GroupKey, ReadRequest } from '../../lakehouse/ask/request.ts';
import { errors } from '../../errors.ts';
import { parsePath } from '../../lakehouse/ask/resolve.ts';
import type { ChannelPlan as Channel, Layout } from '../../charts/series.ts';
import { isCalendar } from '../../lakehouse/terms/plan.ts';
import { isMeasure, ROLES, SUMMED, WITH_ERRORS } from './roles.ts';
import type { ChartType, DataConfig, DataSource, SourceRole } from './visualizations.model.ts';

/** How many plain rows, and how many groups, a chart reads at most. */
const MOST_ROWS = 50_000;
const MOST_GROUPS = 10_000;
/** How many values a chart shows at most: with more than ten columns, fewer rows. */
const MOST_VALUES = 500_000;

/** A column of the answer, the channel of a series that it fills, and the part that it plays in the chart. */
type ChannelPlan = Channel & { role: SourceRole };

/** One read, and how its rows become series. */
export interface ChartPlan extends Pick<Layout, 'color' | 'facet'> {
  request: ReadRequest;
  shared: ChannelPlan[];
  series: { name: string; channels: ChannelPlan[]; source: DataSource }[];
  /** Whether rows from all over the table are read where it has too many of them, in place of the first ones. */
  isSample: boolean;
}

/** The role, by chart type, of which every column makes a series. */
const SERIES_ROLE: Partial<Record<ChartType, SourceRole>> = { pie: 'labels', alluvial: 'groupBy' };

/** People and devices are plotted by the name that they are shown under. */
const plotted = (column: string): string =>
  column === 'contributor' ? 'contributor.name' : column === 'device' ? 'device.serial_number' : column;

const titleOf = ({ alias, seriesName, columnName }: DataSource) => alias ?? seriesName ?? (columnName === '*' ? 'count' : columnName);

/** What a function computes, as an axis says it. */
const COMPUTED: Readonly<Record<FunctionName, string>> = {
  avg: 'mean',
  count: 'count',
  sum: 'sum',
  min: 'least',
  max: 'greatest',
  median: 'median',
  std: 'standard deviation',
  var: 'variance',
  sem: 'standard error',
  ci95: 'half 95 % interval',
  p05: '5th percentile',
  p95: '95th percentile',
  first: 'first',
  last: 'last',
  cumsum: 'running sum',
  count_distinct: 'number of different',
  corr: 'correlation',
};
const ERRORS = { std: ' ± SD', sem: ' ± SE', ci95: ' ± 95 % CI' } as const satisfies Record<NonNullable<DataSource['error']>, string>;

/** The title of an axis: what is computed of which column, and what its error bars are, unless somebody named it. */
function axisTitleOf(source: DataSource): string {
  const { aggregate, error, alias, seriesName, columnName } = source;
  if (aggregate === undefined || alias !== undefined || seriesName !== undefined || columnName === '*') return titleOf(source);
  return `${COMPUTED[aggregate as FunctionName]} of ${columnName}${error === undefined ? '' : ERRORS[error]}`;
}

/** The read of a chart, and where in its answer the parts of a draft stand. */
interface Compiled {
  request: ReadRequest;
  at: (draft: Draft) => number;
  error: (draft: Draft) => number | null;
  /** The zone of a draft that is cut into parts of a calendar. */
  zone: (draft: Draft) => string | undefined;
}

interface Draft {
  source: DataSource;
  index: number;
  column: string;
}

/** Whether two spellings name one column, as `spad` and `"spad"` do. */
const isSame = (one: string, other: string): boolean =>
  one === other || parsePath(one)?.join('\0') === (parsePath(other) ?? [other]).join('\0');

function functionOf({ source, column }: Draft, aggregation: DataConfig['aggregation']): { name: FunctionName; second?: string } | null {
  const { alias, aggregate } = source;
  const calls = aggregation?.functions?.filter(
    (one) => aggregate === undefined || (isSame(one.column, column) && one.function === aggregate),
  );
  // several functions of one column are told apart by their aliases
  const named = calls?.find((one) => alias !== undefined && one.alias === alias) ?? calls?.find((one) => isSame(one.column, column));
  const name = aggregate ?? named?.function;
  return name === undefined ? null : { name: name as FunctionName, second: named?.secondColumn };
}

/**
 * Finds the function that computes the error bars of an aggregated series; null without error bars. Errors: error bars of anything but a mean, and an error
 * column that the rows of a group do not have.
 */
function errorOf({ source, column }: Draft, drawn: FunctionName, aggregation: DataConfig['aggregation']): FunctionCall | null {
  if (source.error !== undefined) {
    if (drawn !== 'avg')
      throw errors.queryRefused(`Error bars by '${source.error}' are those of a mean, and '${column}' is drawn by '${drawn}'.`);
    return { column, function: source.error };
  }
  if (source.errorColumn === undefined) return null;
  const named = aggregation?.functions?.find((one) => (one.alias ?? `${one.column}_${one.function}`) === source.errorColumn);
  if (named)
    return {
      column: named.column,
      function: named.function as FunctionName,
      ...(named.secondColumn === undefined ? {} : { secondColumn: named.secondColumn }),
    };
  throw errors.queryRefused(
    `The rows of a group have no one value of '${source.errorColumn}' for error bars: give the alias of an aggregate function, or "error": "sem" for the rows' own.`,
  );
}

const call = (column: string, name: FunctionName, alias: string, second?: string): FunctionCall => ({
  column,
  function: name,
  alias,
  ...(second === undefined ? {} : { secondColumn: second }),
});

/** The columns of the answer; each gets its position when it is added. */
class Answer {
  readonly names: string[] = [];
  add(name: string): number {
    const known = this.names.indexOf(name);
    return known >= 0 ? known : this.names.push(name) - 1;
  }
}

function plain(config: DataConfig, drafts: readonly Draft[]): Compiled {
  const answer = new Answer();
  const positions = new Map(drafts.map((draft) => [draft, answer.add(draft.column)]));
  const errorPositions = new Map(
    drafts.flatMap((draft) => (draft.source.errorColumn ? [[draft, answer.add(draft.source.errorColumn)] as const] : [])),
  );
  const x = drafts.find(({ source }) => source.role === 'x');
  return {
    request: {
      columns: answer.names,
      filters: config.filters as ReadRequest['filters'],
      ...(x ? { orderBy: x.column, orderDirection: 'ASC' as const } : {}),
      limit: Math.min(MOST_ROWS, Math.floor(MOST_VALUES / drafts.length)),
    },
    at: (draft) => positions.get(draft) ?? 0,
    error: (draft) => errorPositions.get(draft) ?? null,
    zone: () => undefined,
  };
}

const outputOf = ({ column, timeBucket }: GroupKey) => (timeBucket === undefined ? column : `${column}_${timeBucket}`);

/** Lists the group keys, x first, because a running sum runs along x. */
function keysOf(type: ChartType, config: DataConfig, drafts: readonly Draft[]): GroupKey[] {
  const given = (config.aggregation?.groupBy ?? []) as GroupKey[];
  const measured = (draft: Draft) => isMeasure(type, draft.source.role) || draft.source.aggregate !== undefined;
  const wanted = drafts.filter((draft) => !measured(draft)).sort((a, b) => Number(b.source.role === 'x') - Number(a.source.role === 'x'));
  const keys: GroupKey[] = [];
  for (const { column } of wanted)
    if (!keys.some((key) => isSame(key.column, column))) keys.push(given.find((key) => isSame(key.column, column)) ?? { column });
  return [...keys, ...given.filter((key) => !keys.some(({ column }) => isSame(column, key.column)))];
}

function aggregated(type: ChartType, config: DataConfig, drafts: readonly Draft[]): Compiled {
  const answer = new Answer();
  const keys = keysOf(type, config, drafts);
  for (const key of keys) answer.add(outputOf(key));
  const functions: FunctionCall[] = [];
  const add = (function_: FunctionCall) => {
    functions.push(function_);
    return answer.add(function_.alias ?? '');
  };
  const x = keys[0]?.column;
  const positions = new Map<Draft, number>();
  const errorPositions = new Map<Draft, number>();
  const zones = new Map<Draft, string>();
  for (const draft of drafts) {
    const { column, index } = draft;
    const key = draft.source.aggregate === undefined ? keys.find((one) => isSame(one.column, column)) : undefined;
    if (key) {
      positions.set(draft, answer.add(outputOf(key)));
      if (key.timezone !== undefined && key.timeBucket !== undefined && isCalendar(key.timeBucket)) zones.set(draft, key.timezone);
      continue;
    }
    const { name, second } = functionOf(draft, config.aggregation) ?? { name: 'avg' as const };
    const target = column === '' ? '*' : column;
    positions.set(
      draft,
      add(call(target, name, `${target === '*' ? 'count' : column}_${name}_s${index}`, name === 'corr' ? (second ?? x) : undefined)),
    );
    const error = errorOf(draft, name, config.aggregation);
    if (error) errorPositions.set(draft, add({ ...error, alias: `error_s${index}` }));
  }
  if (functions.length === 0) add(call('*', 'count', 'count'));
  const xDraft = drafts.find(({ source }) => source.role === 'x');
  const xName = xDraft ? answer.names[positions.get(xDraft) ?? 0] : undefined;
  const aggregation: Aggregation = { groupBy: keys, functions };
  return {
    request: {
      aggregation,
      filters: config.filters as ReadRequest['filters'],
      ...(xName === undefined ? {} : { orderBy: xName, orderDirection: 'ASC' as const }),
      limit: Math.min(MOST_GROUPS, Math.floor(MOST_VALUES / answer.names.length)),
    },
    at: (draft) => positions.get(draft) ?? 0,
    error: (draft) => errorPositions.get(draft) ?? null,
    zone: (draft) => zones.get(draft),
  };
}

/** Whether a pie or alluvial chart counts rows, because no measured column is chosen. */
const countsWithoutMeasure = (type: ChartType, drafts: readonly Draft[]): boolean =>
  (type === 'pie' && !drafts.some(({ source }) => source.role === 'values')) ||
  (type === 'alluvial' && !drafts.some(({ source }) => source.role === 'value'));

const isAggregated = ({ dataSources, aggregation: { groupBy = [], functions = [] } = {} }: DataConfig): boolean =>
  groupBy.length + functions.length > 0 || dataSources.some(({ aggregate }) => aggregate !== undefined);

/** Whether a chart draws sums of rows, which those of a sample are not. */
const isSummed = (type: ChartType, { dataSources }: DataConfig): boolean =>
  SUMMED.has(type) || dataSources.some(({ traceType }) => traceType === 'bar');

/**
 * Makes the config of the same chart whose sums the engine makes, for a table of more rows than are read. Null where a series is no sum: it has an error of
 * each row, or is drawn as another kind of trace.
 */
export function sumConfig(type: ChartType, config: DataConfig): DataConfig | null {
  const { dataSources } = config;
  const measured = dataSources.filter(({ role }) => isMeasure(type, role));
  const isPlaced = dataSources.some(({ role }) => !isMeasure(type, role) && role !== 'color' && role !== 'facet');
  const isOwn = measured.some(({ errorColumn, traceType = 'bar' }) => errorColumn !== undefined || traceType !== 'bar');
  if (!SUMMED.has(type) || isAggregated(config) || measured.length === 0 || !isPlaced || isOwn) return null;
  return { ...config, dataSources: dataSources.map((source) => (isMeasure(type, source.role) ? { ...source, aggregate: 'sum' } : source)) };
}

/** Compiles a config in which every required role has a column. */
export function compileChart(type: ChartType, config: DataConfig): ChartPlan {
  const drafts = config.dataSources
    .map((source, index) => ({ source, index, column: plotted(source.columnName) }))
    .filter(({ source, column }) => column !== '' && ROLES[type][source.role] !== undefined);
  if (!WITH_ERRORS.has(type) && drafts.some(({ source }) => source.error !== undefined || source.errorColumn !== undefined))
    throw errors.queryRefused(`A ${type} chart shows no error bars; those of ${[...WITH_ERRORS].join(', ')} do.`);
  const counting = countsWithoutMeasure(type, drafts);
  const aggregates = counting || isAggregated(config);
  const { request, at, error, zone } = aggregates ? aggregated(type, config, drafts) : plain(config, drafts);
  let groups = 0;
  const channelOf = (draft: Draft): ChannelPlan => ({
    channel: draft.source.role === 'groupBy' ? `groupBy${groups++}` : draft.source.role,
    position: at(draft),
    role: draft.source.role,
    title: axisTitleOf(draft.source),
    zone: zone(draft),
  });
  const seriesRole = SERIES_ROLE[type] ?? 'y';
  if (!aggregates && drafts.some(({ source }) => source.error !== undefined))
    throw errors.queryRefused('Error bars of rows are drawn where they are aggregated: give the series "aggregate": "avg".');
  const measuredBySeries = drafts.filter(({ source }) => source.role === seriesRole);
  // what is a series' own stands after what all share: the last stage of an alluvial chart
  const own = seriesRole === 'y' ? measuredBySeries : measuredBySeries.slice(-1);
  const single = (role: SourceRole) => drafts.find(({ source }) => source.role === role);
  const shared = drafts
    .filter((draft) => !own.includes(draft) && draft.source.role !== 'color' && draft.source.role !== 'facet')
    .map(channelOf);
  // counted: the count stands after the group keys
  const counted: ChannelPlan[] = counting
    ? [
        {
          channel: type === 'pie' ? 'values' : 'value',
          position: request.aggregation?.groupBy.length ?? 0,
          role: type === 'pie' ? 'values' : 'value',
          title: 'count',
        },
      ]
    : [];
  const [color, facet] = [single('color'), single('facet')];
  return {
    request,
    shared: [...shared, ...counted],
    series: own.map((draft) => {
      const position = error(draft);
      const errorChannel: ChannelPlan[] = position === null ? [] : [{ channel: 'error', position, role: 'y', title: 'error' }];
      return {
        name: draft.source.seriesName ?? titleOf(draft.source),
        channels: [channelOf(draft), ...errorChannel],
        source: draft.source,
      };
    }),
    color: color ? channelOf(color) : null,
    facet: facet ? channelOf(facet) : null,
    isSample: !aggregates && !isSummed(type, config),
  };
}
