import { randomUUIDv7 } from 'node:crypto';
import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { Location, NewLocation } from './experiments.model.ts';

// texts that are not given are absent, not null
const location = fragment`json_strip_nulls(json_build_object('id', l.id, 'name', l.name, 'latitude', l.latitude::float8, 'longitude', l.longitude::float8,
  'country', l.country, 'region', l.region, 'municipality', l.municipality, 'postalCode', l.postal_code, 'addressLabel', l.address_label,
  'createdAt', to_char(l.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'updatedAt', to_char(l.updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))) as location`;

/** Lists locations in the order in which they were added. */
export const listLocations = (db: Queryable, experimentId: string, page: Slice): Promise<Location[]> =>
  db.values<Location>(sql('experiments.listLocations')`
      select ${location} from locations l where l.experiment_id = ${experimentId} order by l.ordinal limit ${page.limit} offset ${page.offset}`);

export const countLocations = (db: Queryable, experimentId: string) =>
  db.count(sql('experiments.countLocations')`select count(*) as count from locations where experiment_id = ${experimentId}`);

/** Adds locations, and answers them in the order given. */
export const insertLocations = (db: Queryable, experimentId: string, locations: readonly NewLocation[]): Promise<Location[]> =>
  db.values<Location>(sql('experiments.insertLocations')`
      with added as (
        insert into locations (id, experiment_id, name, latitude, longitude, country, region, municipality, postal_code, address_label)
        select g.id, ${experimentId}, g.name, g.latitude, g.longitude, g.country, g.region, g.municipality, g."postalCode", g."addressLabel"
        from rows from (json_to_recordset(${JSON.stringify(locations.map((location) => ({ ...location, id: randomUUIDv7() })))}::json)
          as (id uuid, name text, latitude numeric, longitude numeric, country text, region text, municipality text, "postalCode" text, "addressLabel" text)) with ordinality
          as g (id, name, latitude, longitude, country, region, municipality, "postalCode", "addressLabel", position)
        order by g.position
        returning *
      )
      select ${location} from added l order by l.ordinal`);

export const deleteLocations = (db: Queryable, experimentId: string) =>
  db.run(sql('experiments.deleteLocations')`delete from locations where experiment_id = ${experimentId}`);

/** Raises the version of an experiment, because the experiment's own answer shows its locations. */
export const touchExperiment = (db: Queryable, experimentId: string) =>
  db.run(sql('experiments.touch')`update resources set version = version + 1, updated_at = now() where id = ${experimentId}`);
