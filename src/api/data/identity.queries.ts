import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';

/**
 * Lists everyone whom rows of an experiment may name, with the name that is shown and the secret of the pseudonyms. These are uploaders, annotators, senders of
 * measurements, and owners of the devices that have measured so far.
 */
export const listContributors = (db: Queryable, experimentId: string) =>
  db.rows<{ userId: string; name: string; avatar: string | null; secret: Buffer }>(sql('data.listContributors')`
    select p.user_id as "userId", p.first_name || ' ' || p.last_name as name, p.avatar_url as avatar, e.pseudonym_secret as secret
    from experiments e
    join (
      select experiment_id, created_by as user_id from uploads where created_by is not null
      union select experiment_id, user_id from annotators
      union select experiment_id, user_id from contributors
      union select m.experiment_id, r.created_by from measuring_devices m join devices d on d.thing_name = m.client_id join resources r on r.id = d.id
    ) u on u.experiment_id = e.id
    join people p on p.user_id = u.user_id
    where e.id = ${experimentId}
    order by p.user_id`);

/** The experiments whose identity dimension names a person. */
export const listExperimentsNaming = (db: Queryable, userId: string) =>
  db.values<string>(sql('data.listExperimentsNaming')`
    select experiment_id from uploads where created_by = ${userId}
    union select experiment_id from annotators where user_id = ${userId}
    union select experiment_id from contributors where user_id = ${userId}
    union select m.experiment_id from resources r join devices d on d.id = r.id join measuring_devices m on m.client_id = d.thing_name where r.created_by = ${userId}
    order by 1`);

/** A person whose shown name has changed since the lake last read it. */
export interface IdentityChange {
  userId: string;
  /** When the name changed, to the microsecond. This tells one change of a person from the next. */
  changedAt: string;
  /** When the lake began to show the new name; null while it shows the old one. */
  refreshedAt: Date | null;
  isClosed: boolean;
}

/** How many seconds a read may still open files after they were retired. */
const READ_SECONDS = 60;

/** A change is due while the lake does not show it. A closed account's change is due again once nobody can still read the old files. */
const due = (readSeconds: number) =>
  fragment`leased_until <= now() and (refreshed_at is null or refreshed_at <= now() - make_interval(secs => ${readSeconds}))`;

export const anyIdentityChangeDue = fragment`exists (select from identity_changes where ${due(READ_SECONDS)})`;

/** Claims the oldest change that is due. The claim lasts 60 seconds. */
export const claimIdentityChange = (db: Queryable, readSeconds = READ_SECONDS) =>
  db.one<IdentityChange>(sql('data.claimIdentityChange')`
    update identity_changes c set leased_until = now() + interval '60 seconds'
    from (
      select user_id from identity_changes
      where ${due(readSeconds)}
      order by changed_at limit 1 for update skip locked
    ) due, users u
    where c.user_id = due.user_id and u.id = c.user_id
    returning c.user_id as "userId", c.changed_at::text as "changedAt", c.refreshed_at as "refreshedAt", u.deleted_at is not null as "isClosed"`);

/** Forgets a change that has been carried out, unless the name has changed again since. */
export const endIdentityChange = (db: Queryable, { userId, changedAt }: IdentityChange) =>
  db.run(sql('data.endIdentityChange')`delete from identity_changes where user_id = ${userId} and changed_at = ${changedAt}::timestamptz`);

/**
 * Ends the lease, so that a change that came meanwhile is due at once. This is a second statement, after `endIdentityChange`. A single statement for both would
 * not see a change that is committed while the statement waits for the row, and that change would keep the old lease.
 */
export const releaseIdentityChange = (db: Queryable, { userId }: IdentityChange) =>
  db.run(sql('data.releaseIdentityChange')`update identity_changes set leased_until = '-infinity' where user_id = ${userId}`);

/** Notes that the lake shows the name as of this change, and ends the lease. */
export const markRefreshed = (db: Queryable, { userId, changedAt }: IdentityChange) =>
  db.run(sql('data.markRefreshed')`
    update identity_changes set leased_until = '-infinity', refreshed_at = case when changed_at = ${changedAt}::timestamptz then clock_timestamp() end
    where user_id = ${userId}`);
