import type { Readable } from 'node:stream';
import { openTable, type OpenTable } from '../../authorization/tables.ts';
import type { Caller } from '../../auth/caller.ts';
import { NO_VALUE, printText } from '../../charts/chart.ts';
import { ChartRefused } from '../../charts/drawing.ts';
import type { Layout } from '../../charts/series.ts';
import type { Context } from '../../context.ts';
import { errors } from '../../errors.ts';
import { readJson } from '../../json.ts';
import type { ReadRequest } from '../../lakehouse/ask/request.ts';
import { makeResolver } from '../../lakehouse/ask/resolve.ts';
import { readPage } from '../../lakehouse/read/read.ts';
import { readSample } from '../../lakehouse/read/sample.ts';
import { findShare, makeCacheKey, openSource, type OpenSource } from '../data/data.service.ts';
import { readShape } from '../input/input.service.ts';
import { compileChart, sumConfig, type ChartPlan } from './chart.ts';
import type { VisualizationData } from './plot.model.ts';
import { findAxisKind, listMissingRoles, checkRoles, ROLES } from './roles.ts';
import { dataConfigShape } from './shape.ts';
import type { ChartType, DataConfig, Visualization } from './visualizations.model.ts';

/** The parts of a chart, stored or not, that its data depend on. */
type Drawable = Pick<Visualization, 'experimentId' | 'chartType' | 'dataConfig'> & {
  /** Version of the table; the newest one when absent. */
  asOf?: number | undefined;
  /** Whether groups have the colours that they have without filters, which takes another read. */
  keepsColors?: boolean;
};

/** Bytes of the rows of a chart as JSON, at most: they are held in memory, and 500,000 values seldom have half of it. */
const MOST_BYTES = 32 * 1_048_576;

/** Checks that a stored config can be drawn. Errors: visualization incomplete, naming what is missing. */
function drawable({ chartType, dataConfig }: Drawable): DataConfig {
  if (!Object.hasOwn(ROLES, chartType)) throw errors.visualizationIncomplete('its chart type is not known any more');
  if (dataConfig.tableName === '') throw errors.visualizationIncomplete('no table is chosen');
  const missing = listMissingRoles(chartType, dataConfig);
  if (missing.length > 0) throw errors.visualizationIncomplete(`no column is chosen for ${missing.join(', ')}`);
  const config = readShape(dataConfigShape, dataConfig, 'dataConfig');
  const [problem] = checkRoles(chartType, config, 'dataConfig');
  if (problem) throw errors.visualizationIncomplete(`${problem.path} ${problem.message}`);
  return config;
}

/** A column of the rows that were read. */
interface AnswerColumn {
  name: string;
  type_name: string;
}

/** Refuses a column of a kind that its role cannot be drawn with. A column of any kind can serve as a category. */
function refuseKinds(type: ChartType, plan: Pick<ChartPlan, 'shared' | 'series'>, columns: readonly AnswerColumn[]): void {
  for (const { role, channel, position } of [...plan.shared, ...plan.series.flatMap(({ channels }) => channels)]) {
    const kinds = channel === 'error' ? ['numeric'] : ROLES[type][role]?.kinds;
    const column = columns[position];
    if (!kinds || !column || kinds.includes('categorical') || (kinds as readonly string[]).includes(findAxisKind(column.type_name)))
      continue;
    throw errors.queryRefused(
      `Column '${column.name}' is ${column.type_name}, and a ${type} chart needs a ${kinds.join(' or ')} one as ${channel}.`,
    );
  }
}

/** Lists the columns of an answer as the chart asked for them. One that it names in two spellings, such as `data.phi2` and `data."phi2"`, is there once. */
function listAsked({ columns: asked }: ReadRequest, source: OpenSource, columns: readonly AnswerColumn[]): readonly AnswerColumn[] {
  const resolve = makeResolver(source.columns);
  return (
    asked?.flatMap((spelling, index) => {
      const { name } = resolve(spelling, `columns/${index}`);
      return columns.find((column) => column.name === name) ?? [];
    }) ?? columns
  );
}

/** Reads the rows of a chart. Errors: values that are too long for a picture. */
async function readBytes(rows: Readable): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of rows) {
    const bytes = Buffer.from(chunk as Buffer);
    chunks.push(bytes);
    length += bytes.length;
    if (length > MOST_BYTES)
      throw errors.queryRefused(
        `The values of this chart are longer than ${MOST_BYTES / 1_048_576} MiB together. Choose columns with shorter values, or fewer rows by a filter.`,
      );
  }
  // of its own memory, which is handed to another thread
  return new Uint8Array(Buffer.concat(chunks));
}

const LINES: ReadonlySet<ChartType> = new Set(['line', 'area']);

export interface ChartRows {
  /** JSON objects with commas between them. */
  rows: Uint8Array<ArrayBuffer>;
  layout: Layout;
  tableName: string;
  /** Version of the table that was read. */
  version: string;
  truncated: boolean;
  /** How many rows match, where a sample of them was read. */
  sampleOf?: number;
}

/** A chart whose config can be drawn. */
interface Drawn {
  chartType: ChartType;
  config: DataConfig;
}

interface Opened {
  table: OpenTable;
  source: OpenSource;
}

async function readChart(
  ctx: Context,
  { caller, signal }: Asker,
  { table, source }: Opened,
  { chartType, config }: Drawn,
): Promise<ChartRows> {
  const { request, isSample, ...plan } = compileChart(chartType, config);
  const key = makeCacheKey(ctx, table, { source, asked: { ...request, isSample } });
  const kept = ctx.pages.find(key);
  const release = kept ? () => undefined : await ctx.shares.acquire(findShare(caller, table), signal);
  try {
    const options = { signal, timeoutMs: ctx.config.limits.statementTimeoutMs, tag: caller.requestId };
    const read = async () => {
      const chosen = await ctx.reads.choose(source, request);
      return (isSample ? readSample : readPage)(chosen.warehouse, chosen.source, request, options);
    };
    const page = kept ?? ctx.pages.keep(key, await read());
    const columns = listAsked(request, source, page.columns);
    try {
      refuseKinds(chartType, plan, columns);
    } catch (error) {
      page.rows.destroy();
      throw error;
    }
    const rows = await readBytes(page.rows);
    const { truncated, totalRows } = page.counts();
    return {
      rows,
      layout: {
        ...plan,
        columns: columns.map(({ name, type_name }) => ({ name, kind: findAxisKind(type_name), isInstant: type_name === 'TIMESTAMP' })),
        isThinned: LINES.has(chartType),
      },
      tableName: config.tableName,
      version: source.version,
      truncated,
      ...(truncated && isSample ? { sampleOf: totalRows } : {}),
    };
  } finally {
    release();
  }
}

/**
 * Lists the groups that a column of colours has in the whole table; undefined where no filter leaves any out. By them each keeps its colour while filters come
 * and go.
 */
async function listGroups(
  ctx: Context,
  asker: Asker,
  opened: Opened,
  { config: { tableName, dataSources, filters = [] }, chartType, layout }: Drawn & Pick<ChartRows, 'layout'>,
): Promise<string[] | undefined> {
  const colored = dataSources.find(({ role, columnName }) => role === (chartType === 'pie' ? 'labels' : 'color') && columnName !== '');
  const isShade = layout.color !== null && layout.columns[layout.color.position]?.kind !== 'categorical';
  if (colored === undefined || isShade || filters.length === 0) return undefined;
  const labels = { columnName: colored.columnName, role: 'labels', tableName } as const;
  const read = await readChart(ctx, asker, opened, { chartType: 'pie', config: { tableName, dataSources: [labels] } });
  const counted = readJson(`[${new TextDecoder().decode(read.rows)}]`) as Record<string, unknown>[];
  return counted.map((row) => printText(row[read.layout.columns[0]?.name ?? ''], NO_VALUE));
}

/** Who asks for a chart. */
export interface Asker {
  caller: Caller;
  signal: AbortSignal;
}

/**
 * Reads the rows of a chart. Access to the table is decided first, as for a read of its rows. Errors: visualization incomplete, table not found, table denied,
 * and those of a read.
 */
async function readRows(ctx: Context, asker: Asker, visualization: Drawable): Promise<ChartRows> {
  const { chartType } = visualization;
  const config = drawable(visualization);
  const table = await openTable(ctx.db, asker.caller.userId, visualization.experimentId, config.tableName);
  const opened = { table, source: await openSource(ctx, table, visualization.asOf) };
  const read = await readChart(ctx, asker, opened, { chartType, config });
  const summed = read.truncated ? sumConfig(chartType, config) : null;
  const whole = summed ? await readChart(ctx, asker, opened, { chartType, config: summed }) : read;
  if (visualization.keepsColors !== true) return whole;
  const groups = await listGroups(ctx, asker, opened, { chartType, config, layout: whole.layout });
  return { ...whole, layout: { ...whole.layout, groups } };
}

/**
 * Reads the rows of a chart and makes something of them in another thread. Those of one caller are made one after the other, so that others wait for one of
 * them at most and only one is held. Errors: those of `readRows`, callerBusy, and a chart that is too large to draw.
 */
export async function makeOfRows<T>(ctx: Context, asker: Asker, drawn: Drawable, make: (read: ChartRows) => Promise<T>): Promise<T> {
  const { userId } = asker.caller;
  const release = await ctx.drawingShares.acquire({ caller: userId, owner: userId }, asker.signal);
  try {
    return await make(await readRows(ctx, asker, drawn));
  } catch (error) {
    throw error instanceof ChartRefused ? errors.queryRefused(error.message) : error;
  } finally {
    release();
  }
}

/** Reads what a stored chart shows, as the JSON of `VisualizationData`. Errors: those of `makeOfRows`. */
export async function printSeries(
  ctx: Context,
  asker: Asker,
  { id, ...drawn }: Drawable & { id: string },
): Promise<{ version: string; body: string | Buffer }> {
  return makeOfRows(ctx, asker, drawn, async ({ rows, layout, ...read }) => {
    const beside = { visualizationId: id, chartType: drawn.chartType, ...read } satisfies Partial<VisualizationData>;
    return { version: read.version, body: await ctx.drawing.series.print({ rows, layout, beside }, asker.signal) };
  });
}
