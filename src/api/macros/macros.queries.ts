import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ListFilter } from '../resources/resources.model.ts';
import type { Macro } from './macros.model.ts';

export type MacroRow = Omit<Macro, 'capabilities' | 'warnings'> & { version: number };

const columns = fragment`
  r.id, r.name, m.filename, r.description, m.language, m.code, m.code_version as "codeVersion", r.sort_order as "sortOrder",
  r.created_by as "createdBy", person.first_name || ' ' || person.last_name as "createdByName", m.forked_from as "forkedFrom",
  r.created_at as "createdAt", r.updated_at as "updatedAt", r.organization_id as "organizationId",
  case when o.personal_user_id is null then o.name end as "organizationName", r.visibility`;

const joins = fragment`
  join resources r on r.id = m.id
  join organizations o on o.id = r.organization_id
  join people person on person.user_id = r.created_by`;

export interface MacroFilter extends ListFilter {
  language: string | undefined;
}

const matching = ({ userId, scope, search, language }: MacroFilter, most: number) =>
  fragment`listed_ids(${userId}, 'macro', ${scope === 'related'}, ${search ?? null}, ${language ?? null}, least(${most}::bigint, 2147483647)::integer)`;

// a search ranks what it finds, so it must see more than one page
const SEARCHED = 10_001;

export const listMacros = (db: Queryable, filter: MacroFilter, page: Slice) =>
  db.rows<Macro>(sql('macros.list')`
    select ${columns}
    from (select id, position from ${matching(filter, filter.search === undefined ? page.limit + page.offset : SEARCHED)}
          order by position limit ${page.limit} offset ${page.offset}) page
    join macros m on m.id = page.id ${joins}
    order by page.position`);

export const countMacros = (db: Queryable, filter: MacroFilter, most: number) =>
  db.count(sql('macros.count')`select count(*) as count from ${matching(filter, most)}`);

export const findMacro = (db: Queryable, id: string) =>
  db.one<MacroRow>(sql('macros.find')`select ${columns}, r.version from macros m ${joins} where m.id = ${id}`);

export const insertMacro = (db: Queryable, row: { id: string; code: string; language: string; forkedFrom: string | null }) =>
  db.run(sql('macros.insert')`
    insert into macros (id, code, language, forked_from) values (${row.id}, ${row.code}, ${row.language}, ${row.forkedFrom})`);

export const updateMacro = (db: Queryable, id: string, row: { code: string; language: string; codeVersion: number }) =>
  db.run(sql('macros.update')`
    update macros set code = ${row.code}, language = ${row.language}, code_version = ${row.codeVersion} where id = ${id}`);
