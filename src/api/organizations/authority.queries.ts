import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ManagedMemberWithUser, ManagedOrganization, OrganizationChanges } from './authority.model.ts';

const columns = fragment`
  o.id, o.name, o.slug, o.logo, o.metadata, o.type, o.description, o.website, o.location, o.visibility, o.created_at as "createdAt"`;

export type StoredOrganization = ManagedOrganization & { metadata: Record<string, unknown> | null };

export const findWithMetadata = (db: Queryable, id: string) =>
  db.one<StoredOrganization>(sql('organizations.findWithMetadata')`select ${columns} from organizations o where o.id = ${id}`);

export const listWithMetadata = (db: Queryable, userId: string) =>
  db.rows<StoredOrganization>(sql('organizations.listWithMetadata')`
    select ${columns} from organization_members m join organizations o on o.id = m.organization_id where m.user_id = ${userId} order by o.created_at, o.id`);

export const findIdBySlug = (db: Queryable, slug: string) =>
  db.value<string>(sql('organizations.findIdBySlug')`select id from organizations where slug = ${slug}`);

/** Inserts an organization. Answers 0 when the slug is taken. */
export const insertOrganization = (db: Queryable, id: string, row: OrganizationChanges & { name: string; slug: string }) =>
  db.run(sql('organizations.insert')`
    insert into organizations (id, name, slug, logo, metadata, type, description, website, location, visibility)
    values (${id}, ${row.name}, ${row.slug}, ${row.logo ?? null}, ${row.metadata === undefined ? null : JSON.stringify(row.metadata)}, ${row.type ?? null},
      ${row.description ?? null}, ${row.website ?? null}, ${row.location ?? null}, ${row.visibility ?? 'private'})
    on conflict (slug) do nothing`);

const given = (value: unknown) => value !== undefined;

export const updateOrganization = (db: Queryable, id: string, change: OrganizationChanges) =>
  db.run(sql('organizations.update')`
    update organizations set
      name = coalesce(${change.name ?? null}, name), slug = coalesce(${change.slug ?? null}, slug),
      logo = case when ${given(change.logo)} then ${change.logo ?? null} else logo end,
      metadata = case when ${given(change.metadata)} then ${JSON.stringify(change.metadata ?? null)}::jsonb else metadata end,
      type = case when ${given(change.type)} then ${change.type ?? null} else type end,
      description = case when ${given(change.description)} then ${change.description ?? null} else description end,
      website = case when ${given(change.website)} then ${change.website ?? null} else website end,
      location = case when ${given(change.location)} then ${change.location ?? null} else location end,
      visibility = coalesce(${change.visibility ?? null}, visibility), updated_at = now()
    where id = ${id}`);

export const lockToDelete = (db: Queryable, id: string) =>
  db.run(sql('organizations.lockToDelete')`select from organizations where id = ${id} for update`);

/** Deletes an organization with its members, teams, invitations, requests, and every grant that names it or a team of it. */
export const deleteOrganization = (db: Queryable, id: string) =>
  db.run(sql('organizations.delete')`delete from organizations where id = ${id}`);

export const listMembersWithUsers = (db: Queryable, organizationId: string) =>
  db.rows<ManagedMemberWithUser>(sql('organizations.listMembersWithUsers')`
    select m.id, m.organization_id as "organizationId", m.user_id as "userId", m.role, m.created_at as "createdAt",
      json_build_object('id', p.user_id, 'name', p.first_name || ' ' || p.last_name, 'email', p.email, 'image', p.avatar_url) as "user"
    from organization_members m join people p on p.user_id = m.user_id
    where m.organization_id = ${organizationId}
    order by m.created_at, m.id`);

export const findMemberByEmail = (db: Queryable, organizationId: string, email: string) =>
  db.value<string>(sql('organizations.findMemberByEmail')`
    select m.user_id from organization_members m join users u on u.id = m.user_id
    where m.organization_id = ${organizationId} and u.email = canonical_email(${email})`);

export const findUserAddress = (db: Queryable, userId: string) =>
  db.one<{ email: string | null; emailVerified: boolean; isActive: boolean }>(sql('organizations.findUserAddress')`
    select u.email, u.email_verified as "emailVerified", p.is_active as "isActive" from users u join people p on p.user_id = u.id where u.id = ${userId}`);
