import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { NewLocation } from './experiments.model.ts';

/** Which of these people can be given something. */
export const listActivePeople = (db: Queryable, userIds: readonly string[]) =>
  db.rows<{ userId: string }>(
    sql('experiments.listActivePeople')`select user_id as "userId" from people where user_id = any (${userIds}::uuid[]) and is_active`,
  );

export const insertLocations = (db: Queryable, experimentId: string, locations: readonly NewLocation[]) =>
  db.run(sql('experiments.insertLocations')`
    insert into locations (id, experiment_id, name, latitude, longitude, country, region, municipality, postal_code, address_label)
    select gen_random_uuid(), ${experimentId}, l.name, l.latitude, l.longitude, l.country, l.region, l.municipality, l."postalCode", l."addressLabel"
    from json_to_recordset(${JSON.stringify(locations)}::json)
      as l (name text, latitude numeric, longitude numeric, country text, region text, municipality text, "postalCode" text, "addressLabel" text)`);

export const deleteLocations = (db: Queryable, experimentId: string) =>
  db.run(sql('experiments.deleteLocations')`delete from locations where experiment_id = ${experimentId}`);
