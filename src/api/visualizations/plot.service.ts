import type { Readable } from 'node:stream';
import { openTable, type OpenTable } from '../../authorization/tables.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { errors } from '../../errors.ts';
import { readJson } from '../../json.ts';
import { readPage } from '../../lakehouse/read/read.ts';
import { readSample } from '../../lakehouse/read/sample.ts';
import { makeCacheKey, openSource, type OpenSource } from '../data/data.service.ts';
import { readShape } from '../input/input.service.ts';
import { compileChart, sumConfig, type ChartPlan } from './chart.ts';
import type { VisualizationData } from './plot.model.ts';
import { findAxisKind, listMissingRoles, checkRoles, ROLES } from './roles.ts';
import { makeSeries, type AnswerColumn } from './series.ts';
import { dataConfigShape } from './shape.ts';
import type { ChartType, DataConfig, Visualization } from './visualizations.model.ts';

/** The parts of a chart, stored or not, that its data depend on. */
type Drawable = Pick<Visualization, 'experimentId' | 'chartType' | 'dataConfig'> & {
  /** Version of the table; the newest one when absent. */
  asOf?: number | undefined;
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

/** Refuses a column of a kind that its role cannot be drawn with. A column of any kind can serve as a category. */
function refuseKinds(type: ChartType, plan: ChartPlan, columns: readonly AnswerColumn[]): void {
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

/** Reads the rows of a chart. Errors: values that are too long for a picture. */
async function readText(rows: Readable): Promise<string> {
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
  return Buffer.concat(chunks).toString('utf8');
}

const LINES: ReadonlySet<ChartType> = new Set(['line', 'area']);

type Series = Omit<VisualizationData, 'visualizationId'>;

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
  caller: Caller,
  { table, source }: Opened,
  { chartType, config }: Drawn,
  signal: AbortSignal,
): Promise<Series> {
  const plan = compileChart(chartType, config);
  const key = makeCacheKey(ctx, table, { source, asked: { ...plan.request, isSample: plan.isSample } });
  const kept = ctx.pages.find(key);
  const release = kept ? () => undefined : await ctx.shares.acquire(caller.userId, table.organizationId, signal);
  try {
    const options = { signal, timeoutMs: ctx.config.limits.statementTimeoutMs, tag: caller.requestId };
    const read = async () => {
      const chosen = await ctx.reads.choose(source, plan.request);
      return (plan.isSample ? readSample : readPage)(chosen.warehouse, chosen.source, plan.request, options);
    };
    const page = kept ?? ctx.pages.keep(key, await read());
    try {
      refuseKinds(chartType, plan, page.columns);
    } catch (error) {
      page.rows.destroy();
      throw error;
    }
    const rows = readJson(`[${await readText(page.rows)}]`) as Record<string, unknown>[];
    const { axes, series, seriesLeftOut } = makeSeries(plan, page.columns, rows, LINES.has(chartType));
    const { truncated, totalRows } = page.counts();
    return {
      chartType,
      tableName: config.tableName,
      version: source.version,
      axes,
      series,
      ...(seriesLeftOut === undefined ? {} : { seriesLeftOut }),
      rows: rows.length,
      truncated,
      ...(truncated && plan.isSample ? { sampleOf: totalRows } : {}),
    };
  } finally {
    release();
  }
}

/**
 * Reads what a chart shows. Access to the table is decided first, as for a read of its rows. Errors: visualization incomplete, table not found, table denied,
 * and those of a read.
 */
export async function readSeries(ctx: Context, caller: Caller, visualization: Drawable, signal: AbortSignal): Promise<Series> {
  const { chartType } = visualization;
  const config = drawable(visualization);
  const table = await openTable(ctx.db, caller.userId, visualization.experimentId, config.tableName);
  const opened = { table, source: await openSource(ctx, table, visualization.asOf) };
  const series = await readChart(ctx, caller, opened, { chartType, config }, signal);
  const summed = series.truncated ? sumConfig(chartType, config) : null;
  return summed ? readChart(ctx, caller, opened, { chartType, config: summed }, signal) : series;
}
