import type { Queryable } from '../../../database/database.ts';
import { sql } from '../../../database/sql.ts';
import type { FileFacts } from './cache.ts';
import type { LakePlace } from './lake-settings.ts';

/** What the manifest says of these files. Paths that it does not name are left out. */
export const findFiles = (db: Queryable, paths: readonly string[]) =>
  db.rows<FileFacts>(sql('lake.findFiles')`select path, byte_count as "byteCount", encode(sha256, 'hex') as sha256
    from lake_files where path = any (${paths}::text[])`);

/** Of these experiments, those that have tables. */
export const listLiving = (db: Queryable, experimentIds: readonly string[]) =>
  db.values<string>(sql('lake.listLiving')`select distinct experiment_id from lake_tables
    where experiment_id::text = any (${experimentIds}::text[])`);

/** Finds what is noted of the lake: its place, and its id once there is one. */
export const findNoted = (db: Queryable) =>
  db.one<{ place: LakePlace; id: string | null }>(sql('lake.findNoted')`select place, lake_id as id from lake_place`);

/** Notes the place of the lake if none is noted yet, and its id if the place that is noted has none. */
export const addPlace = (db: Queryable, place: LakePlace, id: string | null) =>
  db.run(sql('lake.notePlace')`insert into lake_place (place, lake_id) values (${place}, ${id})
    on conflict (is_only) do update set lake_id = excluded.lake_id where lake_place.lake_id is null and lake_place.place = excluded.place`);

/** Notes the place of the lake. Where that is another one, the id that is found there at the next start is noted then. */
export const setPlace = (db: Queryable, place: LakePlace) =>
  db.run(sql('lake.setPlace')`insert into lake_place (place) values (${place})
    on conflict (is_only) do update set place = excluded.place, lake_id = null, noted_at = now() where lake_place.place <> excluded.place`);
