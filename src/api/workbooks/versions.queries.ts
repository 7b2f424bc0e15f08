import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { WorkbookPin, WorkbookVersionSummary } from './workbooks.model.ts';

const summary = fragment`v.id, v.workbook_id as "workbookId", v.version, v.created_at as "createdAt", v.created_by as "createdBy"`;

/** Newest first. */
export const listVersions = (db: Queryable, workbookId: string, page: Slice) =>
  db.rows<WorkbookVersionSummary>(sql('workbooks.versions')`
    select ${summary} from workbook_versions v where v.workbook_id = ${workbookId} order by v.version desc limit ${page.limit} offset ${page.offset}`);

export const countVersions = (db: Queryable, workbookId: string) =>
  db.count(sql('workbooks.countVersions')`select count(*) as count from workbook_versions where workbook_id = ${workbookId}`);

/** A version of a workbook. `snapshots` is JSON text, so that numbers in code keep their digits. */
export type VersionRow = WorkbookVersionSummary & { cells: unknown; metadata: Record<string, unknown>; snapshots: string };

export const findVersion = (db: Queryable, workbookId: string, id: string) =>
  db.one<VersionRow>(sql('workbooks.version')`
    select ${summary}, v.cells, v.metadata, v.entity_snapshots::text as snapshots
    from workbook_versions v where v.id = ${id} and v.workbook_id = ${workbookId}`);

/** Finds the latest version, and whether the workbook differs from it. */
export const findLatest = (db: Queryable, workbookId: string) =>
  db.one<WorkbookPin & { isDrifted: boolean }>(sql('workbooks.latest')`
    select v.workbook_id as "workbookId", v.id as "workbookVersionId", v.version, workbook_drifted(v.workbook_id) as "isDrifted"
    from workbook_versions v where v.workbook_id = ${workbookId} order by v.version desc limit 1`);

export interface NewVersion {
  id: string;
  workbookId: string;
  version: number;
  cells: string;
  metadata: string;
  designDigest: Buffer;
  snapshots: string;
  createdBy: string;
}

export const insertVersion = (db: Queryable, row: NewVersion) =>
  db.run(sql('workbooks.insertVersion')`
    insert into workbook_versions (id, workbook_id, version, cells, metadata, design_digest, entity_snapshots, created_by)
    values (${row.id}, ${row.workbookId}, ${row.version}, ${row.cells}::json, ${row.metadata}::json, ${row.designDigest}, ${row.snapshots}::json, ${row.createdBy})`);

export const insertVersionUses = (db: Queryable, versionId: string, workbookId: string) =>
  db.run(sql('workbooks.insertVersionUses')`
    insert into workbook_version_uses (version_id, resource_id, code_digest)
    select ${versionId}, u.resource_id, coalesce(m.code_digest, p.code_digest)
    from workbook_uses u
    left join macros m on u.resource_type = 'macro' and m.id = u.resource_id
    left join protocols p on u.resource_type = 'protocol' and p.id = u.resource_id
    where u.workbook_id = ${workbookId}`);

/** Finds the workbook version of an experiment, attached or kept as history. */
export const findPin = (db: Queryable, experimentId: string) =>
  db.one<{ workbookId: string | null; workbookVersionId: string | null }>(sql('workbooks.pin')`
    select workbook_id as "workbookId", workbook_version_id as "workbookVersionId" from experiments where id = ${experimentId}`);

/** Attaches a version to an experiment. Null detaches the workbook; the version stays as history. */
export const setPin = (db: Queryable, experimentId: string, pin: Pick<WorkbookPin, 'workbookId' | 'workbookVersionId'> | null) =>
  db.run(sql('workbooks.setPin')`
    with changed as (update resources set updated_at = now(), version = version + 1 where id = ${experimentId} returning id)
    update experiments e set workbook_id = ${pin?.workbookId ?? null}, workbook_version_id = coalesce(${pin?.workbookVersionId ?? null}, workbook_version_id)
    from changed where e.id = changed.id`);
