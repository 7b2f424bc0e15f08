import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { FoundUser } from './directory.model.ts';

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
 * Finds active people by name or address, best match first; the caller's colleagues for an empty query. An address is shown only to viewers who know the person,
 * or who searched for the whole address. Who knows whom is asked once for all of them.
 */
export const searchPeople = (db: Queryable, asked: Search) =>
  db.rows<FoundUser>(sql('people.search')`${asked.query === '' ? colleagues(asked) : matches(asked)}
    , known as materialized (select acquainted(${asked.viewerId}, array(select user_id from found)) as user_id)
    select f.user_id as "userId", f.first_name as "firstName", f.last_name as "lastName", f.bio, f.activated, f.avatar_url as "avatarUrl",
      case when f.email = canonical_email(${asked.query}) or f.user_id in (select user_id from known) then f.email end as email
    from found f order by f.score desc, f.first_name, f.user_id`);
