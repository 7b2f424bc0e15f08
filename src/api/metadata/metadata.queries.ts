import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { MetadataShape } from './merged.ts';
import type { Metadata, MetadataRecord } from './metadata.model.ts';

export type StoredRecord = Omit<MetadataRecord, 'duplicateIdentifiers'> & { version: number };

const columns = fragment`
  m.id as "metadataId", m.experiment_id as "experimentId", m.metadata, m.created_by as "createdBy", m.created_at as "createdAt",
  m.updated_at as "updatedAt", m.version`;

export const listRecords = (db: Queryable, experimentId: string, page: Slice) =>
  db.rows<StoredRecord>(sql('metadata.list')`
    select ${columns} from metadata_records m where m.experiment_id = ${experimentId}
    order by m.created_at desc, m.id desc limit ${page.limit} offset ${page.offset}`);

export const listRecordsOldestFirst = (db: Queryable, experimentId: string) =>
  db.rows<StoredRecord>(sql('metadata.listOldestFirst')`
    select ${columns} from metadata_records m where m.experiment_id = ${experimentId} order by m.created_at, m.id`);

/** Lists what each table adds to measurements, oldest first, without its rows. */
export const listShapes = (db: Queryable, experimentId: string) =>
  db.values<MetadataShape>(sql('metadata.listShapes')`
    select shape from metadata_records where experiment_id = ${experimentId} order by created_at, id`);

/** Lists experiments whose metadata tables have never been written to the lake. */
export const listStale = (db: Queryable, most: number) =>
  db.values<string>(sql('metadata.listStale')`
    select distinct m.experiment_id from metadata_records m
    where not exists (select from lake_tables t where t.experiment_id = m.experiment_id and t.kind = 'metadata_record' and t.version > 0) limit ${most}`);

/** Counts an experiment's records and the characters that they hold together, leaving out the record that is about to change. */
export const measureRecords = async (db: Queryable, experimentId: string, exceptId: string | null = null) =>
  (await db.one<{ count: number; size: number }>(sql('metadata.measure')`
    select count(*) as count, coalesce(sum(size), 0)::bigint as size from metadata_records
    where experiment_id = ${experimentId} and id is distinct from ${exceptId}::uuid`)) ?? { count: 0, size: 0 };

export const findRecord = (db: Queryable, experimentId: string, id: string) =>
  db.one<StoredRecord>(sql('metadata.find')`
    select ${columns} from metadata_records m where m.id = ${id} and m.experiment_id = ${experimentId}`);

export const insertRecord = (
  db: Queryable,
  record: { id: string; experimentId: string; metadata: Metadata; size: number; createdBy: string },
) =>
  db.one<StoredRecord>(sql('metadata.insert')`
    insert into metadata_records as m (id, experiment_id, metadata, size, created_by)
    values (${record.id}, ${record.experimentId}, ${JSON.stringify(record.metadata)}, ${record.size}, ${record.createdBy}) returning ${columns}`);

export const updateRecord = (db: Queryable, id: string, metadata: Metadata, size: number) =>
  db.one<StoredRecord>(sql('metadata.update')`
    update metadata_records m set metadata = ${JSON.stringify(metadata)}, size = ${size}, version = version + 1, updated_at = now()
    where m.id = ${id} returning ${columns}`);

export const deleteRecord = (db: Queryable, id: string) => db.run(sql('metadata.delete')`delete from metadata_records where id = ${id}`);
