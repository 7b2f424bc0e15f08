import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ListFilter } from '../resources/resources.model.ts';
import type { Macro } from './macros.model.ts';

export type MacroRow = Omit<Macro, 'capabilities' | 'warnings'> & { version: number };

const columns = fragment`
  r.id, r.name, m.filename, r.description, m.language, m.code, m.code_version as "codeVersion", r.sort_order as "sortOrder",
  r.created_by as "createdBy", r.created_by_name as "createdByName", m.forked_from as "forkedFrom",
  r.created_at as "createdAt", r.updated_at as "updatedAt", r.organization_id as "organizationId",
  r.organization_name as "organizationName", r.visibility`;

export interface MacroFilter extends ListFilter {
  language: string | undefined;
}

export const listMacros = (db: Queryable, filter: MacroFilter, page: Slice) =>
  db.rows<Macro>(sql('macros.list')`
    select ${columns}
    from listed_page(${filter.userId}, 'macro', ${filter.scope === 'related'}, ${filter.search ?? null}, ${filter.language ?? null}, ${page.limit}, ${page.offset}) page
    join library_resources r on r.id = page.id
    join macros m on m.id = page.id
    order by page.position`);

export const findMacro = (db: Queryable, id: string) =>
  db.one<MacroRow>(
    sql('macros.find')`select ${columns}, r.version from library_resources r join macros m on m.id = r.id where r.id = ${id}`,
  );

export const insertMacro = (db: Queryable, row: { id: string; code: string; language: string; forkedFrom: string | null }) =>
  db.run(sql('macros.insert')`
    insert into macros (id, code, language, forked_from) values (${row.id}, ${row.code}, ${row.language}, ${row.forkedFrom})`);

export const updateMacro = (db: Queryable, id: string, row: { code: string; language: string; codeVersion: number }) =>
  db.run(sql('macros.update')`
    update macros set code = ${row.code}, language = ${row.language}, code_version = ${row.codeVersion} where id = ${id}`);
