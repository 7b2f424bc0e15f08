import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { SharedType } from '../sharing/sharing.model.ts';

export const lockAccountToClose = (db: Queryable, userId: string) =>
  db.one<{ id: string; email: string | null; version: number }>(sql('people.lockAccount')`
    select id, email, (extract(epoch from updated_at) * 1000000)::bigint as version from users where id = ${userId} and deleted_at is null for update`);

/**
 * Locks, in the order of all such locks, the staff of every organization that the person is in, or that has a resource which the person answers for by a
 * grant: that of a workspace may be closing their account too, and each of the two would count on the other.
 */
export const lockStaffAround = (db: Queryable, userId: string) =>
  db.run(sql('people.lockStaff')`
    select from organization_members
    where (is_admin or user_id = ${userId})
      and organization_id in (
        select organization_id from organization_members where user_id = ${userId}
        union select r.organization_id from grants g join resources r on r.id = g.resource_id where g.user_id = ${userId} and g.confers_all)
    order by organization_id, user_id for update`);

/** Locks the resources that the person answers for by a grant, and those that block the deletion of the account. */
export const lockAnsweredFor = (db: Queryable, userId: string) =>
  db.run(sql('people.lockResources')`
    select from resources
    where id in (select resource_id from grants where user_id = ${userId} and confers_all union select resource_id from deletion_blockers(${userId}))
    order by id for update`);

/** Lists private resources that block the deletion and that nobody but this person can reach. */
export const listUnreachable = (db: Queryable, userId: string) =>
  db.rows<{ type: SharedType; id: string; organizationId: string }>(sql('people.listUnreachable')`
    select r.type, r.id, r.organization_id as "organizationId"
    from deletion_blockers(${userId}) b join resources r on r.id = b.resource_id
    where r.visibility = 'private' and not coalesce(r.public_from <= now(), false)
      and not exists (select from granted_resources g where g.resource_id = r.id and g.user_id <> ${userId})
      and not exists (select from organization_staff s where s.organization_id = r.organization_id and s.is_member and s.user_id <> ${userId})
    order by r.id`);

/** Deletes all by which the person could act: keys, sessions, passkeys, provider accounts, grants and memberships. */
export const deleteMeans = (db: Queryable, userId: string) =>
  db.run(sql('people.deleteMeans')`
    with keys as (delete from api_keys where user_id = ${userId}),
      ended as (delete from sessions where user_id = ${userId}),
      unlinked as (delete from provider_accounts where user_id = ${userId}),
      forgotten as (delete from known_browsers where user_id = ${userId}),
      handed_in as (delete from passkeys where user_id = ${userId}),
      revoked as (delete from grants where user_id = ${userId}),
      own_answers as (delete from idempotency_keys where caller_id = ${userId}),
      asked_over as (delete from project_transfer_requests where user_id = ${userId})
    delete from organization_members where user_id = ${userId}`);

/**
 * Removes the person from requests and invitations. Cancels their pending requests and erases the messages of all their requests. Deletes invitations and
 * sign-in codes for the address. Ends the pending invitations that the person made.
 */
export const eraseRequests = (db: Queryable, userId: string, email: string | null) =>
  db.run(sql('people.eraseRequests')`
    with organization_requests as (
      update organization_join_requests set message = null, updated_at = now(),
        status = case when status = 'pending' then 'cancelled' else status end,
        decided_by = case when status = 'pending' then user_id else decided_by end,
        decided_at = coalesce(decided_at, now())
      where user_id = ${userId}
    ), experiment_requests as (
      update experiment_join_requests set message = null, updated_at = now(),
        status = case when status = 'pending' then 'cancelled' else status end,
        decided_by = case when status = 'pending' then user_id else decided_by end,
        decided_at = coalesce(decided_at, now())
      where user_id = ${userId}
    ), invited as (delete from organization_invitations where email = ${email}),
      offered as (delete from invitations where email = ${email}),
      codes as (delete from sign_in_codes where address = ${email}),
      inviting as (update organization_invitations set status = 'canceled' where inviter_id = ${userId} and status = 'pending' and email is distinct from ${email})
    update invitations set status = 'revoked', updated_at = now() where invited_by = ${userId} and status = 'pending' and email is distinct from ${email}`);

/** Erases the address from answers that are kept for others' repeated calls. A value that is the address becomes null; within a text the address is cut out. */
export const eraseFromKeptAnswers = (db: Queryable, email: string) => {
  const literal = email.replace(/[^a-z0-9]/g, '\\$&');
  return db.run(sql('people.eraseFromKeptAnswers')`
    update idempotency_keys
    set body = regexp_replace(replace(body, to_json(${email}::text)::text, 'null'), ${`(?<![\\w.+-])${literal}(?![\\w-]|\\.\\w)`}, '', 'gi')
    where position(${email} in lower(body)) > 0`);
};

/** Closes an account. What is left is an id, and authorship by "Deleted User". */
export const closeAccount = (db: Queryable, userId: string) =>
  db.run(sql('people.closeAccount')`
    with profile as (delete from profiles where user_id = ${userId}),
      workspace as (
        update organizations set name = 'Deleted User''s workspace', logo = null, description = null, website = null, location = null, metadata = null,
          updated_at = now()
        where personal_user_id = ${userId}
      ),
      changed as (insert into identity_changes (user_id) values (${userId}) on conflict (user_id) do update set changed_at = now(), refreshed_at = null)
    update users set email = null, email_verified = false, image = null, name = 'Deleted User', registered = false, deleted_at = now(), updated_at = now()
    where id = ${userId}`);
