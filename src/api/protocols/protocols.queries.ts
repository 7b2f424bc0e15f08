import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ListFilter } from '../resources/resources.model.ts';
import type { Protocol } from './protocols.model.ts';

/** A protocol as the database has it: `code` is JSON text. */
export type ProtocolRow = Omit<Protocol, 'code' | 'capabilities'> & { code: string };

const columns = fragment`
  r.id, r.name, r.description, p.code::text as code, p.code_version as "codeVersion", p.family, r.sort_order as "sortOrder",
  r.created_by as "createdBy", r.created_by_name as "createdByName", p.forked_from as "forkedFrom",
  r.created_at as "createdAt", r.updated_at as "updatedAt", r.organization_id as "organizationId",
  r.organization_name as "organizationName", r.visibility`;

export const listProtocols = (db: Queryable, filter: ListFilter, page: Slice) =>
  db.rows<ProtocolRow>(sql('protocols.list')`
    select ${columns}
    from listed_page(${filter.userId}, 'protocol', ${filter.scope === 'related'}, ${filter.search ?? null}, null, ${page.limit}, ${page.offset}) page
    join library_resources r on r.id = page.id
    join protocols p on p.id = page.id
    order by page.position`);

export const findProtocol = (db: Queryable, id: string) =>
  db.one<ProtocolRow & { version: number }>(
    sql('protocols.find')`select ${columns}, r.version from library_resources r join protocols p on p.id = r.id where r.id = ${id}`,
  );

export const insertProtocol = (db: Queryable, row: { id: string; code: string; family: string; forkedFrom: string | null }) =>
  db.run(sql('protocols.insert')`
    insert into protocols (id, code, family, forked_from) values (${row.id}, ${row.code}::json, ${row.family}, ${row.forkedFrom})`);

export const updateProtocol = (db: Queryable, id: string, row: { code: string; family: string; codeVersion: number }) =>
  db.run(sql('protocols.update')`
    update protocols set code = ${row.code}::json, family = ${row.family}, code_version = ${row.codeVersion} where id = ${id}`);
