import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

/** Everyone whose rows an experiment may hold: uploaders, annotators and senders of measurements so far, with the name that is shown and the secret of the pseudonyms. */
export const listContributors = (db: Queryable, experimentId: string) =>
  db.rows<{ userId: string; name: string; avatar: string | null; secret: Buffer }>(sql('data.listContributors')`
    select p.user_id as "userId", p.first_name || ' ' || p.last_name as name, p.avatar_url as avatar, e.pseudonym_secret as secret
    from experiments e
    join (
      select experiment_id, created_by as user_id from uploads where created_by is not null
      union select experiment_id, user_id from annotators
      union select experiment_id, user_id from contributors
    ) u on u.experiment_id = e.id
    join people p on p.user_id = u.user_id
    where e.id = ${experimentId}
    order by p.user_id`);
