import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ListFilter } from '../resources/resources.model.ts';
import type { Workbook, WorkbookListItem } from './workbooks.model.ts';

export type WorkbookRow = Omit<Workbook, 'capabilities'> & { version: number };

const shared = fragment`
  r.id, r.name, r.description, w.metadata, workbook_drifted(w.id) as "isUpgradable",
  (select count(*)::integer from experiments e where e.workbook_id = w.id) as "experimentCount",
  r.created_by as "createdBy", r.created_by_name as "createdByName", w.forked_from as "forkedFrom",
  r.created_at as "createdAt", r.updated_at as "updatedAt", r.organization_id as "organizationId",
  r.organization_name as "organizationName", r.visibility`;

export const listWorkbooks = (db: Queryable, filter: ListFilter, page: Slice) =>
  db.rows<WorkbookListItem>(sql('workbooks.list')`
    select ${shared}, w.cell_type_counts as "cellTypeCounts"
    from listed_page(${filter.userId}, 'workbook', ${filter.scope === 'related'}, ${filter.search ?? null}, null, ${page.limit}, ${page.offset}) page
    join library_resources r on r.id = page.id
    join workbooks w on w.id = page.id
    order by page.position`);

export const findWorkbook = (db: Queryable, id: string) =>
  db.one<WorkbookRow>(
    sql('workbooks.find')`select ${shared}, w.cells, r.version from library_resources r join workbooks w on w.id = r.id where r.id = ${id}`,
  );

export interface WorkbookContent {
  cells: string;
  metadata: string;
  designDigest: Buffer;
  cellTypeCounts: string;
}

export const insertWorkbook = (db: Queryable, id: string, forkedFrom: string | null, content: WorkbookContent) =>
  db.run(sql('workbooks.insert')`
    insert into workbooks (id, cells, metadata, design_digest, cell_type_counts, forked_from)
    values (${id}, ${content.cells}::json, ${content.metadata}::json, ${content.designDigest}, ${content.cellTypeCounts}::jsonb, ${forkedFrom})`);

export const updateCells = (db: Queryable, id: string, content: Omit<WorkbookContent, 'metadata'>) =>
  db.run(sql('workbooks.updateCells')`
    update workbooks set cells = ${content.cells}::json, design_digest = ${content.designDigest}, cell_type_counts = ${content.cellTypeCounts}::jsonb
    where id = ${id}`);

export const updateMetadata = (db: Queryable, id: string, metadata: string) =>
  db.run(sql('workbooks.updateMetadata')`update workbooks set metadata = ${metadata}::json where id = ${id}`);

export const deleteUses = (db: Queryable, id: string) =>
  db.run(sql('workbooks.deleteUses')`delete from workbook_uses where workbook_id = ${id}`);

export const insertUses = (db: Queryable, id: string, uses: readonly { type: string; id: string }[]) =>
  db.run(sql('workbooks.insertUses')`
    insert into workbook_uses (workbook_id, resource_id, resource_type)
    select ${id}, u.id, u.type from json_to_recordset(${JSON.stringify(uses)}::json) as u (id uuid, type text)`);

export interface UsedEntity {
  id: string;
  type: 'protocol' | 'macro';
  /** Bytes of its code. */
  size: number;
  /** Family of a protocol, language of a macro. */
  kind: string;
  isReadable: boolean;
}

/** Keeps the protocols and macros that the cells name as they are until the transaction ends. What they are is read after the wait, by another statement. */
export const lockUsed = (db: Queryable, uses: readonly { id: string }[]) =>
  db.run(sql('workbooks.lockUsed')`select from resources where id = any (${uses.map(({ id }) => id)}::uuid[]) order by id for share`);

/** Lists the protocols and macros that the cells name and that still exist, and whether this person may read each. */
export const listUsed = (db: Queryable, userId: string, uses: readonly { type: string; id: string }[]) =>
  db.rows<UsedEntity>(sql('workbooks.listUsed')`
    select r.id, r.type, octet_length(coalesce(p.code::text, m.code)) as size, coalesce(p.family, m.language) as kind,
      exists (select from readable_resources(${userId}, array['protocol', 'macro'], false) readable where readable.id = r.id) as "isReadable"
    from json_to_recordset(${JSON.stringify(uses)}::json) as u (id uuid, type text)
    join resources r on r.id = u.id and r.type = u.type
    left join protocols p on p.id = r.id
    left join macros m on m.id = r.id
    order by r.id`);

/** Lists the code of protocols, as JSON text, and of macros, as it was sent. */
export const listCode = (db: Queryable, ids: readonly string[]) =>
  db.rows<{ id: string; type: string; code: string; kind: string }>(sql('workbooks.listCode')`
    select id, 'protocol' as type, code::text as code, family as kind from protocols where id = any (${ids}::uuid[])
    union all
    select id, 'macro', code, language from macros where id = any (${ids}::uuid[])
    order by id`);
