import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export const insertUser = (db: Queryable, user: { id: string; email: string; name: string; verified: boolean }) =>
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
  db.one<{ id: string }>(sql('account.findUserByEmail')`select id from users where email = canonical_email(${email})`);
