import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { ReadingOptions } from '../../ingest/typing/readings.ts';

/** Finds what was recorded when a source was stored in a table. */
export const findStoredSource = (db: Queryable, tableId: string, source: string) =>
  db.one<{ origin: string | null; pipelineVersion: string | null; version: number; committedAt: Date }>(sql('lineage.findSource')`
    select origin, pipeline_version as "pipelineVersion", version, committed_at as "committedAt" from lake_sources
    where table_id = ${tableId} and source = decode(${source}, 'hex')`);

export const findMessage = (db: Queryable, id: string) =>
  db.one<{ objectKey: string | null; byteCount: number; arrivedAt: Date }>(sql('lineage.findMessage')`
    select object_key as "objectKey", byte_count as "byteCount", arrived_at as "arrivedAt" from messages where id = ${id}`);

export const listUploadFiles = (db: Queryable, uploadId: string) =>
  db.rows<{
    path: string;
    sha256: string | null;
    objectKey: string | null;
    byteCount: number | null;
    arrivedAt: Date;
    reading: ReadingOptions;
  }>(sql('lineage.listUploadFiles')`
    select f.path, encode(f.sha256, 'hex') as sha256, f.object_key as "objectKey", f.byte_count as "byteCount",
      coalesce(u.received_at, u.created_at) as "arrivedAt", u.reading
    from upload_files f join uploads u on u.id = f.upload_id where f.upload_id = ${uploadId} order by f.ordinal`);
