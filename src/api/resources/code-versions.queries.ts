import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { CodeVersionSummary } from './code-versions.model.ts';

export interface CodeVersionRow {
  resourceId: string;
  version: number;
  code: string;
  kind: string;
  createdBy: string;
}

/** Keeps the code of a protocol or macro at a version, for the results that the version makes. */
export const insertCodeVersion = (db: Queryable, row: CodeVersionRow) =>
  db.run(sql('resources.insertCodeVersion')`
    insert into code_versions (resource_id, version, code, kind, created_by)
    values (${row.resourceId}, ${row.version}, ${row.code}, ${row.kind}, ${row.createdBy})`);

const summary = fragment`v.version, v.created_by as "createdBy", person.first_name || ' ' || person.last_name as "createdByName", v.created_at as "createdAt"`;
const people = fragment`left join people person on person.user_id = v.created_by`;

/** Newest first. */
export const listCodeVersions = (db: Queryable, resourceId: string, page: Slice) =>
  db.rows<CodeVersionSummary>(sql('resources.codeVersions')`
    select ${summary} from code_versions v ${people}
    where v.resource_id = ${resourceId} order by v.version desc limit ${page.limit} offset ${page.offset}`);

export const countCodeVersions = (db: Queryable, resourceId: string) =>
  db.count(sql('resources.countCodeVersions')`select count(*) as count from code_versions where resource_id = ${resourceId}`);

export type CodeVersion = CodeVersionSummary & Pick<CodeVersionRow, 'code' | 'kind'>;

/** One version; `kind` is the family of a protocol or the language of a macro. */
export const findCodeVersion = (db: Queryable, resourceId: string, version: number) =>
  db.one<CodeVersion>(sql('resources.codeVersion')`
    select ${summary}, v.code, v.kind from code_versions v ${people} where v.resource_id = ${resourceId} and v.version = ${version}`);
