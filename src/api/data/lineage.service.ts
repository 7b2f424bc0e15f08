import { decide } from '../../authorization/access.ts';
import { openTable, type OpenTable } from '../../authorization/tables.ts';
import type { Context } from '../../context.ts';
import { ApiError, errors } from '../../errors.ts';
import { listUploadSources } from '../../ingest/uploads/standing.ts';
import { findRow } from '../../ingest/messages/measured.ts';
import { findTable } from '../../lakehouse/tables/manifest.ts';
import type { Lineage, LineageSource } from './lineage.model.ts';
import { findMessage, findStoredSource, listUploadFiles } from './lineage.queries.ts';

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const instant = (value: unknown): Date | null =>
  typeof value === 'string' ? new Date(`${value.replace(' ', 'T').replace(/\+00$/, '')}Z`) : null;

type Origin = Pick<Lineage, 'source' | 'pipelineVersion' | 'arrivedAt' | 'processedAt' | 'tableVersion'>;
const UNKNOWN: Origin = { source: null, pipelineVersion: null, arrivedAt: null, processedAt: null, tableVersion: null };

/** A row id is the 20 hex digits of the row's source, then the row's position in that source. */
const placeOf = (rowId: string) => ({ source: rowId.slice(0, 20), position: Number.parseInt(rowId.slice(20), 16) });

async function messageOf(ctx: Context, table: { id: string; anonymised: boolean }, rowId: string, arrivedAt: Date | null): Promise<Origin> {
  const { source, position } = placeOf(rowId);
  const stored = await findStoredSource(ctx.db, table.id, source);
  if (!stored) return { ...UNKNOWN, arrivedAt };
  const message = stored.origin === null ? undefined : await findMessage(ctx.db, stored.origin);
  const from: LineageSource | null =
    stored.origin === null
      ? null
      : {
          kind: message && message.objectKey !== null ? 'object' : 'message',
          id: stored.origin,
          objectKey: table.anonymised ? null : (message?.objectKey ?? null),
          path: null,
          byteCount: message?.byteCount ?? null,
          position,
        };
  const { pipelineVersion, committedAt, version } = stored;
  return { source: from, pipelineVersion, arrivedAt: message?.arrivedAt ?? arrivedAt, processedAt: committedAt, tableVersion: version };
}

async function uploadOf(ctx: Context, table: { id: string; anonymised: boolean }, rowId: string): Promise<Origin> {
  const { source, position } = placeOf(rowId);
  const stored = await findStoredSource(ctx.db, table.id, source);
  if (!stored) return UNKNOWN;
  const files = stored.origin === null ? [] : await listUploadFiles(ctx.db, stored.origin);
  const file = files.find(
    ({ sha256, path, reading }) => sha256 !== null && listUploadSources({ tableId: table.id, sha256, path, reading }).includes(source),
  );
  const from: LineageSource | null =
    stored.origin === null
      ? null
      : {
          kind: 'upload',
          id: stored.origin,
          objectKey: table.anonymised ? null : (file?.objectKey ?? null),
          path: file?.path ?? null,
          byteCount: file?.byteCount ?? null,
          position,
        };
  const { pipelineVersion, committedAt, version } = stored;
  return { source: from, pipelineVersion, arrivedAt: file?.arrivedAt ?? null, processedAt: committedAt, tableVersion: version };
}

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
  if (kind === 'upload') return { ...about, ...(await uploadOf(ctx, { id: tableId, anonymised }, id)) };
  if (kind === 'raw_data')
    return { ...about, ...(await messageOf(ctx, { id: tableId, anonymised }, id, instant(row['processed_timestamp']))) };
  const rawId = text(row['raw_id']) ?? '';
  const raw = await findTable(ctx.db, experimentId, 'raw_data');
  const origin = raw ? await messageOf(ctx, { id: raw.id, anonymised }, rawId, null) : UNKNOWN;
  // a caller who may read macro rows but not raw ones is not told the source of the raw ones
  const source = await openTable(ctx.db, userId, experimentId, 'raw_data').then(
    () => origin.source,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'TABLE_DENIED') return null;
      throw error;
    },
  );
  const version = text(row['macro_version']);
  const mayRead = await decide(ctx.db, userId, 'macro', identifier, 'read').then(({ allow }) => allow);
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
