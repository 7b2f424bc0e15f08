import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import { isExperimentLocked } from '../experiments/open.service.ts';
import { replaceMetadata } from '../../ingest/dimensions.ts';
import type { MetadataColumn } from '../../lakehouse/terms/source.ts';
import { mergeColumns, mergeRows } from './merged.ts';
import { listRecordsOldestFirst, listShapes, listStale } from './metadata.queries.ts';
import { DEVICE, listEntries } from './records.ts';

/** Loads the columns that the metadata tables of an experiment add to its measurements. */
export const loadMetadataColumns = async (db: Queryable, experimentId: string): Promise<MetadataColumn[]> =>
  mergeColumns(await listShapes(db, experimentId));

/**
 * Brings the lake up to date with the metadata tables of an experiment. This happens inside the transaction that changes them, so that the next read sees both
 * changes or neither. The caller has locked the experiment. Errors: metadataFull beyond `mostCells`, which are the joined rows by the columns.
 */
export async function refreshMetadata(ctx: Context, tx: Transaction, experimentId: string, mostCells = Infinity): Promise<void> {
  const columns = await loadMetadataColumns(tx, experimentId);
  const tables = (await listRecordsOldestFirst(tx, experimentId)).map(({ metadata }) => ({
    matchedBy: metadata.experimentQuestionId === DEVICE ? 'device_id' : metadata.experimentQuestionId,
    entries: listEntries(metadata),
  }));
  const rows = mergeRows(tables, columns);
  if (rows.length * columns.length > mostCells) throw errors.metadataFull();
  await replaceMetadata(ctx.staging, tx, experimentId, { columns: columns.map(({ stored, type }) => ({ name: stored, type })), rows });
}

/** Writes the metadata tables of those experiments of which the lake has none. */
export async function refreshStale(ctx: Context): Promise<void> {
  for (const experimentId of await listStale(ctx.db, 1_000))
    await ctx.db.transaction(async (tx) => {
      if (await isExperimentLocked(tx, experimentId)) await refreshMetadata(ctx, tx, experimentId);
    });
}
