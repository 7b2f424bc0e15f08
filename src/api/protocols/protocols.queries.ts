import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ListFilter } from '../resources/resources.model.ts';
import type { Protocol } from './protocols.model.ts';

/** A protocol as the database has it: `code` is JSON text. */
export type ProtocolRow = Omit<Protocol, 'code' | 'capabilities'> & { code: string };

const columns = fragment`
  r.id, r.name, r.description, p.code::text as code, p.code_version as "codeVersion", p.family, r.sort_order as "sortOrder",
  r.created_by as "createdBy", person.first_name || ' ' || person.last_name as "createdByName", p.forked_from as "forkedFrom",
  r.created_at as "createdAt", r.updated_at as "updatedAt", r.organization_id as "organizationId",
  case when o.personal_user_id is null then o.name end as "organizationName", r.visibility`;

const joins = fragment`
  join resources r on r.id = p.id
  join organizations o on o.id = r.organization_id
  join people person on person.user_id = r.created_by`;

const matching = ({ userId, scope, search }: ListFilter, most: number) =>
  fragment`listed_ids(${userId}, 'protocol', ${scope === 'related'}, ${search ?? null}, null, least(${most}::bigint, 2147483647)::integer)`;

// a search ranks what it finds, so it must see more than one page
const SEARCHED = 10_001;

export const listProtocols = (db: Queryable, filter: ListFilter, page: Slice) =>
  db.rows<ProtocolRow>(sql('protocols.list')`
    select ${columns}
    from (select id, position from ${matching(filter, filter.search === undefined ? page.limit + page.offset : SEARCHED)} order by position limit ${page.limit} offset ${page.offset}) page
    join protocols p on p.id = page.id ${joins}
    order by page.position`);

export const countProtocols = (db: Queryable, filter: ListFilter, most: number) =>
  db.count(sql('protocols.count')`select count(*) as count from ${matching(filter, most)}`);

export const findProtocol = (db: Queryable, id: string) =>
  db.one<ProtocolRow & { version: number }>(
    sql('protocols.find')`select ${columns}, r.version from protocols p ${joins} where p.id = ${id}`,
  );

export const insertProtocol = (db: Queryable, row: { id: string; code: string; family: string; forkedFrom: string | null }) =>
  db.run(sql('protocols.insert')`
    insert into protocols (id, code, family, forked_from) values (${row.id}, ${row.code}::json, ${row.family}, ${row.forkedFrom})`);

export const updateProtocol = (db: Queryable, id: string, row: { code: string; family: string; codeVersion: number }) =>
  db.run(sql('protocols.update')`
    update protocols set code = ${row.code}::json, family = ${row.family}, code_version = ${row.codeVersion} where id = ${id}`);
