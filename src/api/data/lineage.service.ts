import { isAllowed } from '../../authorization/access.ts';
import type { OpenTable } from '../../authorization/tables.ts';
import type { Context } from '../../context.ts';
import { errors } from '../../errors.ts';
import { listUploadSources } from '../../ingest/uploads/standing.ts';
import { findRow } from '../../ingest/messages/measured.ts';
import { findTable } from '../../lakehouse/tables/manifest.ts';
import { findReadable } from './data.service.ts';
import type { Lineage, LineageSource } from './lineage.model.ts';
import { findMessage, findStoredSource, listUploadFiles } from './lineage.queries.ts';

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const instant = (value: unknown): Date | null =>
  typeof value === 'string' ? new Date(`${value.replace(' ', 'T').replace(/\+00$/, '')}Z`) : null;

type Origin = Pick<Lineage, 'source' | 'pipelineVersion' | 'arrivedAt' | 'processedAt' | 'tableVersion'>;
const UNKNOWN: Origin = { source: null, pipelineVersion: null, arrivedAt: null, processedAt: null, tableVersion: null };

/** A row id is the 20 hex digits of the row's source, then the row's position in that source. */
const placeOf = (rowId: string) => ({ source: rowId.slice(0, 20), position: Number.parseInt(rowId.slice(20), 16) });

/** What a row came in, as what is kept of it says. */
type Sent = Pick<LineageSource, 'kind' | 'objectKey' | 'path' | 'byteCount'> & Pick<Lineage, 'arrivedAt'>;
type FindSent = (id: string, source: string) => Promise<Sent>;

async function originOf(ctx: Context, table: { id: string; anonymised: boolean }, rowId: string, findSent: FindSent): Promise<Origin> {
  const { source, position } = placeOf(rowId);
  const stored = await findStoredSource(ctx.db, table.id, source);
  if (!stored) return UNKNOWN;
  const { origin: id, pipelineVersion, committedAt: processedAt, version: tableVersion } = stored;
  if (id === null) return { ...UNKNOWN, pipelineVersion, processedAt, tableVersion };
  const { arrivedAt, ...sent } = await findSent(id, source);
  const objectKey = table.anonymised ? null : sent.objectKey;
  return { source: { ...sent, id, objectKey, position }, pipelineVersion, arrivedAt, processedAt, tableVersion };
}

const messageOf =
  (ctx: Context): FindSent =>
  async (id) => {
    const { objectKey = null, byteCount = null, arrivedAt = null } = (await findMessage(ctx.db, id)) ?? {};
    return { kind: objectKey === null ? 'message' : 'object', objectKey, path: null, byteCount, arrivedAt };
  };

const fileOf =
  (ctx: Context, tableId: string): FindSent =>
  async (id, source) => {
    const files = await listUploadFiles(ctx.db, id);
    const {
      objectKey = null,
      path = null,
      byteCount = null,
      arrivedAt = null,
    } = files.find(({ sha256, ...file }) => sha256 !== null && listUploadSources({ tableId, sha256, ...file }).includes(source)) ?? {};
    return { kind: 'upload', objectKey, path, byteCount, arrivedAt };
  };

/** Tells where a row came from, in a table that the caller may read. Errors: rowsNotFound. */
export async function loadLineage(ctx: Context, userId: string, table: OpenTable, rowId: string): Promise<Lineage> {
  const { experimentId, kind, identifier, tableId } = table;
  const anonymised = table.scope.anonymised;
  const id = rowId.toLowerCase();
  const own = {
    raw_data: ['processed_timestamp'],
    upload: [],
    device: ['processed_timestamp'],
    macro: ['raw_id', 'macro_name', 'macro_version', 'processed_timestamp'],
  };
  const row = tableId === null ? undefined : await findRow(ctx, experimentId, identifier, id, own[kind]);
  if (!row || tableId === null) throw errors.rowsNotFound(id, identifier);
  const about = { tableName: identifier, rowId: id, macro: null };
  if (kind === 'device') return { ...about, ...UNKNOWN, processedAt: instant(row['processed_timestamp']) };
  if (kind === 'upload') return { ...about, ...(await originOf(ctx, { id: tableId, anonymised }, id, fileOf(ctx, tableId))) };
  if (kind === 'raw_data') {
    const origin = await originOf(ctx, { id: tableId, anonymised }, id, messageOf(ctx));
    return { ...about, ...origin, arrivedAt: origin.arrivedAt ?? instant(row['processed_timestamp']) };
  }
  const rawId = text(row['raw_id']) ?? '';
  const raw = await findTable(ctx.db, experimentId, 'raw_data');
  const origin = raw ? await originOf(ctx, { id: raw.id, anonymised }, rawId, messageOf(ctx)) : UNKNOWN;
  // a caller who may read macro rows but not raw ones is not told the source of the raw ones
  const source = (await findReadable(ctx, userId, experimentId, 'raw_data')) ? origin.source : null;
  const version = text(row['macro_version']);
  const mayRead = await isAllowed(ctx.db, userId, 'macro', identifier, 'read');
  const macro = { id: identifier, name: mayRead ? text(row['macro_name']) : null, version, rawId };
  return {
    ...about,
    ...origin,
    source,
    macro,
    tableVersion: null,
    processedAt: version === null ? origin.processedAt : instant(row['processed_timestamp']),
  };
}
