/** The first rows of a table, as part of another answer. */
import { text } from 'node:stream/consumers';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { readJson } from '../../json.ts';
import { framePage } from '../../lakehouse/read/page-frame.ts';
import { readPage } from '../../lakehouse/read/read.ts';
import type { DataPage, DataRows } from './data.model.ts';
import { findReadable, findShare, openSource } from './data.service.ts';

const ROWS = 100;

/** Reads the first of an experiment's measurements; undefined where the caller may not read them. Errors: those of a read. */
export async function readFirstMeasurements(
  ctx: Context,
  caller: Caller,
  experimentId: string,
  signal: AbortSignal,
): Promise<DataRows | undefined> {
  const table = await findReadable(ctx, caller.userId, experimentId, 'raw_data');
  if (!table) return undefined;
  const release = await ctx.shares.acquire(findShare(caller, table), signal);
  try {
    const asked = { limit: ROWS };
    const { warehouse, source } = await ctx.reads.choose(await openSource(ctx, table), asked);
    const options = { signal, timeoutMs: ctx.config.limits.statementTimeoutMs, tag: caller.requestId };
    const page = await readPage(warehouse, source, asked, options);
    const names = { name: table.identifier, catalog_name: table.experimentName, schema_name: 'fieldlake' };
    const [first] = readJson(await text(framePage(page, names))) as DataPage[];
    return first?.data;
  } finally {
    release();
  }
}
