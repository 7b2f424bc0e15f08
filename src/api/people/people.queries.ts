import type { Queryable } from '../../database/database.ts';
import { fragment, sql, type Fragment } from '../../database/sql.ts';
import type { BlockingOrganization, BlockingResource, FoundUser, PersonShown, UserAccount, UserProfile } from './people.model.ts';

interface Search {
  viewerId: string;
  query: string;
  limit: number;
  offset: number;
}

const named = fragment`(p.first_name || ' ' || p.last_name)`;

/** Selects the active people of the caller's organizations, and the caller, by first name. */
const colleagues = ({ viewerId, limit, offset }: Search) => fragment`
  with found as materialized (
    select p.*, u.email, 0 as score
    from (
      select theirs.user_id
      from organization_members mine join organization_members theirs on theirs.organization_id = mine.organization_id
      where mine.user_id = ${viewerId}
      union
      select ${viewerId}::uuid
    ) c
    join profiles p on p.user_id = c.user_id
    join users u on u.id = c.user_id
    where p.activated and u.deleted_at is null
    order by p.first_name, p.user_id
    limit ${limit} offset ${offset}
  )`;

/**
 * Selects active people by name, best match first. Names with the query at the beginning of a word come before names with the query inside a word; of each, the
 * shortest name comes first. Misspellings come by their similarity, where too few names are spelled like the query. A part of an address finds only people
 * whose address the caller may see; a whole address finds anybody, and nobody by a name that is like it.
 */
const matches = ({ viewerId, query, limit, offset }: Search) => {
  const literal = query.replace(/[\\%_]/g, '\\$&');
  const pattern = `%${literal}%`;
  const most = limit + offset;
  // thousands have a common name, and their similarities cost twice as much as the rest of the search
  const spelledScore = fragment`case when ' ' || lower(${named}) like lower(${`% ${literal}%`}) then 2 else 1 end + 1 / length(${named})::float8`;
  const score = fragment`case when ${named} ilike ${pattern} then ${spelledScore} else similarity(${named}, ${query}) end`;
  return fragment`
    with spelled as materialized (
      select p.user_id, p.first_name, ${spelledScore} as score from profiles p where p.activated and ${named} ilike ${pattern}
      order by score desc, p.first_name, p.user_id limit ${most}
    ), alike as (
      select p.user_id, p.first_name, ${score} as score from profiles p
      where p.activated and position('@' in ${query}) = 0 and ${named} % ${query} and (select count(*) from spelled) < ${most}
    ), addressed as (
      select p.user_id, p.first_name, ${score} as score
      from (
        select id from users where email = canonical_email(${query})
        union
        select theirs.user_id
        from organization_members mine join organization_members theirs on theirs.organization_id = mine.organization_id join users on users.id = theirs.user_id
        where mine.user_id = ${viewerId} and users.email ilike ${pattern}
      ) a join profiles p on p.user_id = a.id and p.activated
    ), best as (
      select user_id, first_name, score from spelled union select user_id, first_name, score from alike union select user_id, first_name, score from addressed
      order by score desc, first_name, user_id
    ), found as materialized (
      select p.*, u.email, best.score
      from best join users u on u.id = best.user_id and u.deleted_at is null join profiles p on p.user_id = best.user_id
      order by best.score desc, best.first_name, best.user_id
      limit ${limit} offset ${offset}
    )`;
};

/**
 * Builds the beginning of a statement that searches people: the tables `found` (people with their `score`; all colleagues for an empty query) and `shown`
 * (those of them whose `email` the viewer may see). An address is shown only to viewers who know the person, or who searched for the whole address. Who knows
 * whom is asked once for all of them. Rows are ordered by `score` descending, `first_name` and `user_id`.
 */
export const buildSearch = (asked: Search): Fragment => fragment`${asked.query === '' ? colleagues(asked) : matches(asked)}
  , known as materialized (select acquainted(${asked.viewerId}, array(select user_id from found)) as user_id)
  , shown as (
    select user_id, email from found where email = canonical_email(${asked.query}) or user_id in (select user_id from known)
  )`;

/** Finds active people by name or address; the caller's colleagues for an empty query. */
export const searchPeople = (db: Queryable, asked: Search) =>
  db.rows<FoundUser>(sql('people.search')`${buildSearch(asked)}
    select f.user_id as "userId", f.first_name as "firstName", f.last_name as "lastName", f.bio, f.activated, f.avatar_url as "avatarUrl", s.email
    from found f left join shown s on s.user_id = f.user_id
    order by f.score desc, f.first_name, f.user_id`);

export const findAccount = (db: Queryable, id: string, viewerId: string) =>
  db.one<UserAccount>(sql('people.findAccount')`
    select u.id, case when u.deleted_at is not null or p.is_active or p.user_id = ${viewerId} then u.name else 'Unknown User' end as name,
      case when u.id = ${viewerId} or (p.is_active and knows(${viewerId}, u.id)) then u.email end as email,
      u.email_verified as "emailVerified", case when p.is_active or u.id = ${viewerId} then u.image end as image, u.created_at as "createdAt", u.registered
    from users u join people p on p.user_id = u.id
    where u.id = ${id}`);

/** Finds a profile. Answers no row for an account that does not exist or has no profile. A closed account reads as Deleted User. */
export const findProfile = (db: Queryable, id: string) =>
  db.one<UserProfile>(sql('people.findProfile')`
    select p.first_name as "firstName", p.last_name as "lastName", case when p.is_active then own.bio end as bio, p.is_active as activated,
      p.avatar_url as "avatarUrl"
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
  db.one<{ isNew: boolean }>(sql('people.saveProfile')`
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
    select is_new as "isNew" from saved`);

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
