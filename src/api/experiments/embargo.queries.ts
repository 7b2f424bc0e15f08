import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

/** Makes experiments public that everybody can already read because their embargo has passed. The embargo stays on record. */
export const publishPassedEmbargoes = (db: Queryable, most: number) =>
  db.values<string>(sql('experiments.publishPassedEmbargoes')`
    update resources set visibility = 'public', updated_at = now(), version = version + 1
    where id in (
      select id from resources where type = 'experiment' and visibility = 'private' and public_from is not null and public_from <= now()
      order by public_from limit ${most} for update skip locked
    )
    returning id`);
