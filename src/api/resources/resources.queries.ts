import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { LibraryResource, LibraryType, ListFilter, Visibility } from './resources.model.ts';

export type ResourceRow = { type: LibraryType } & Pick<
  LibraryResource,
  'id' | 'organizationId' | 'visibility' | 'name' | 'description' | 'createdBy'
>;

export const insertResource = (db: Queryable, row: ResourceRow) =>
  db.run(sql('resources.insert')`
    insert into resources (id, type, organization_id, visibility, name, description, created_by)
    values (${row.id}, ${row.type}, ${row.organizationId}, ${row.visibility}, ${row.name}, ${row.description}, ${row.createdBy})`);

/** Locks the row for a change and says what state it is in. */
export const lockResource = (db: Queryable, type: string, id: string) =>
  db.one<{ visibility: Visibility; version: number; organizationId: string }>(sql('resources.lock')`
    select visibility, version, organization_id as "organizationId" from resources where id = ${id} and type = ${type} for update`);

/** Sets what is given and raises the version. */
export const touchResource = (db: Queryable, id: string, changes: { name?: string | undefined; description?: string | null | undefined }) =>
  db.run(sql('resources.touch')`
    update resources set
      name = coalesce(${changes.name ?? null}, name),
      description = case when ${changes.description !== undefined} then ${changes.description ?? null} else description end,
      updated_at = now(), version = version + 1
    where id = ${id}`);

export const makePublic = (db: Queryable, id: string) =>
  db.run(sql('resources.makePublic')`
    update resources set visibility = 'public', updated_at = now(), version = version + 1 where id = ${id} and visibility = 'private'`);

/** Removes the resource. The row in the table of its type, its grants and its links are removed with it. */
export const deleteResource = (db: Queryable, type: string, id: string) =>
  db.run(sql('resources.delete')`delete from resources where id = ${id} and type = ${type}`);

/** Counts the protocols, macros or workbooks of a list, up to `most`. */
export const countLibrary = (db: Queryable, type: LibraryType, filter: ListFilter & { language?: string | undefined }, most: number) =>
  db.count(sql('resources.countLibrary')`
    select count(*) as count
    from listed_ids(${filter.userId}, ${type}, ${filter.scope === 'related'}, ${filter.search ?? null}, ${filter.language ?? null}, ${most})`);
