import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { PersonShown } from '../directory/directory.model.ts';
import type { BlockingOrganization, BlockingResource, UserAccount, UserProfile } from './people.model.ts';

export const findAccount = (db: Queryable, id: string, viewerId: string) =>
  db.one<UserAccount & { version: number }>(sql('people.findAccount')`
    select u.id, case when u.deleted_at is not null or p.is_active or p.user_id = ${viewerId} then u.name else 'Unknown User' end as name,
      case when u.id = ${viewerId} or (p.is_active and knows(${viewerId}, u.id)) then u.email end as email,
      u.email_verified as "emailVerified", case when p.is_active or u.id = ${viewerId} then u.image end as image, u.created_at as "createdAt", u.registered,
      (extract(epoch from u.updated_at) * 1000000)::bigint as version
    from users u join people p on p.user_id = u.id
    where u.id = ${id}`);

/** Finds a profile. Answers no row for an account that does not exist or has no profile. A closed account reads as Deleted User. */
export const findProfile = (db: Queryable, id: string) =>
  db.one<UserProfile & { version: number }>(sql('people.findProfile')`
    select p.first_name as "firstName", p.last_name as "lastName", case when p.is_active then own.bio end as bio, p.is_active as activated,
      p.avatar_url as "avatarUrl", (extract(epoch from coalesce(own.updated_at, u.updated_at)) * 1000000)::bigint as version
    from people p join users u on u.id = p.user_id left join profiles own on own.user_id = p.user_id
    where p.user_id = ${id} and (own.user_id is not null or u.deleted_at is not null)`);

export const listPeople = (db: Queryable, ids: readonly string[]) =>
  db.rows<PersonShown>(sql('people.list')`
    select p.user_id as "userId", p.first_name as "firstName", p.last_name as "lastName", p.avatar_url as "avatarUrl"
    from unnest(${ids}::uuid[]) with ordinality as asked (id, position) join people p on p.user_id = asked.id
    order by asked.position`);

export interface ProfileRow {
  userId: string;
  firstName: string;
  lastName: string;
  bio: string | null | undefined;
  activated: boolean | undefined;
  avatarUrl: string | null | undefined;
}

/** Writes a profile. Absent fields keep their value. The first profile names the account and its personal workspace. */
export const saveProfile = (db: Queryable, profile: ProfileRow) =>
  db.run(sql('people.saveProfile')`
    with saved as (
      insert into profiles (user_id, first_name, last_name, bio, activated, avatar_url)
      values (${profile.userId}, ${profile.firstName}, ${profile.lastName}, ${profile.bio ?? null}, ${profile.activated ?? true}, ${profile.avatarUrl ?? null})
      on conflict (user_id) do update set
        first_name = excluded.first_name, last_name = excluded.last_name,
        bio = case when ${profile.bio !== undefined} then excluded.bio else profiles.bio end,
        activated = case when ${profile.activated !== undefined} then excluded.activated else profiles.activated end,
        avatar_url = case when ${profile.avatarUrl !== undefined} then excluded.avatar_url else profiles.avatar_url end,
        updated_at = now()
      returning user_id, xmax = 0 as is_new
    ), renamed as (
      update organizations o set name = ${`${profile.firstName} ${profile.lastName}'s workspace`}, updated_at = now()
      from saved where saved.is_new and o.personal_user_id = saved.user_id
    ), registered as (
      update users u set registered = true, name = case when saved.is_new then ${`${profile.firstName} ${profile.lastName}`} else u.name end, updated_at = now()
      from saved where u.id = saved.user_id
    ), changed as (
      insert into identity_changes (user_id) select user_id from saved on conflict (user_id) do update set changed_at = now(), refreshed_at = null
    )
    select from saved`);

export const listBlockingOrganizations = (db: Queryable, userId: string) =>
  db.rows<BlockingOrganization>(sql('people.listBlockingOrganizations')`
    select o.id, o.name, o.slug
    from organization_members m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and m.is_owner and o.personal_user_id is null
      and not exists (select from organization_staff s where s.organization_id = o.id and s.is_owner and s.user_id <> ${userId})
    order by o.name, o.id`);

export const listBlockingResources = (db: Queryable, userId: string) =>
  db.rows<BlockingResource>(sql('people.listBlockingResources')`
    select r.type as "resourceType", r.id, r.name, e.status, coalesce((
        select json_agg(json_build_object('userId', p.user_id, 'firstName', p.first_name, 'lastName', p.last_name, 'avatarUrl', p.avatar_url)
          order by p.first_name, p.user_id)
        from grants g join people p on p.user_id = g.user_id and p.is_active
        where g.resource_id = r.id and g.user_id <> ${userId}), '[]') as candidates
    from deletion_blockers(${userId}) b join resources r on r.id = b.resource_id left join experiments e on e.id = r.id
    order by r.type, r.name, r.id`);
