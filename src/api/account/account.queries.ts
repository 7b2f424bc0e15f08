import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { AccountUser } from './account.model.ts';

export const insertUser = (db: Queryable, user: { id: string; email: string | null; name: string; verified: boolean }) =>
  db.run(sql('account.insertUser')`
    insert into users (id, email, name, email_verified) values (${user.id}, canonical_email(${user.email}), ${user.name}, ${user.verified})
    on conflict (email) do nothing`);

export const insertPersonalOrganization = (db: Queryable, organization: { id: string; userId: string; name: string }) =>
  db.run(sql('account.insertPersonalOrganization')`
    insert into organizations (id, name, slug, personal_user_id)
    values (${organization.id}, ${organization.name}, 'personal-' || ${organization.userId}::uuid, ${organization.userId})`);

export const insertMember = (db: Queryable, member: { id: string; organizationId: string; userId: string; role: string }) =>
  db.run(sql('account.insertMember')`
    insert into organization_members (id, organization_id, user_id, role) values (${member.id}, ${member.organizationId}, ${member.userId}, ${member.role})`);

export const upsertProfile = (db: Queryable, profile: { userId: string; firstName: string; lastName: string }) =>
  db.run(sql('account.upsertProfile')`
    with named as (update users set registered = true, updated_at = now() where id = ${profile.userId} returning id)
    insert into profiles (user_id, first_name, last_name) select id, ${profile.firstName}, ${profile.lastName} from named
    on conflict (user_id) do update set first_name = excluded.first_name, last_name = excluded.last_name, updated_at = now()`);

export const findUserByEmail = (db: Queryable, email: string) =>
  db.value<string>(sql('account.findUserByEmail')`select id from users where email = canonical_email(${email})`);

export const findAccountUser = (db: Queryable, userId: string) =>
  db.one<AccountUser>(sql('account.findAccountUser')`
    select id, name, email, email_verified as "emailVerified", image, registered, created_at as "createdAt", updated_at as "updatedAt"
    from users where id = ${userId} and deleted_at is null`);

/** Finds the account of an address for a sign-in, and locks it against a sign-in that runs at the same time. */
export const lockUserByEmail = (db: Queryable, email: string) =>
  db.one<{ id: string; emailVerified: boolean }>(sql('account.lockUserByEmail')`
    select id, email_verified as "emailVerified" from users where email = canonical_email(${email}) and deleted_at is null for update`);

export const markVerified = (db: Queryable, userId: string) =>
  db.run(sql('account.markVerified')`
    update users set email_verified = true, updated_at = now() where id = ${userId} and not email_verified`);

export const updateUserRow = (db: Queryable, userId: string, change: { name: string | null; image: string | null; clearImage: boolean }) =>
  db.run(sql('account.updateUser')`
    update users set name = coalesce(${change.name}, name), image = case when ${change.clearImage} then null else coalesce(${change.image}, image) end,
      updated_at = now()
    where id = ${userId} and deleted_at is null`);

/** Activates a profile that was deactivated. The lake is to show its name again. */
export const reactivateProfile = (db: Queryable, userId: string) =>
  db.run(sql('account.reactivateProfile')`
    with back as (update profiles set activated = true, updated_at = now() where user_id = ${userId} and not activated returning user_id)
    insert into identity_changes (user_id) select user_id from back on conflict (user_id) do update set changed_at = now(), refreshed_at = null`);

/** Locks an account before one of its ways to sign in is removed. Without the lock, two removals at once could leave none. */
export const lockAccount = (db: Queryable, userId: string) =>
  db.one(sql('account.lockAccount')`select 1 from users where id = ${userId} for update`);

/** Counts the ways in which a person can sign in: a proven address, providers, passkeys. */
export const countWaysIn = (db: Queryable, userId: string) =>
  db.count(sql('account.countWaysIn')`
    select ((select count(*) from provider_accounts where user_id = u.id) + (select count(*) from passkeys where user_id = u.id)
      + u.email_verified::integer)::integer as count
    from users u where u.id = ${userId}`);
