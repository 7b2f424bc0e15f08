import type pg from 'pg';

/** People per organization and grants per experiment: the same at every size, as experiments per organization are, so that only the tables grow. */
const MEMBERS = 10;

const NAMES = [
  'Ada',
  'Bram',
  'Chidi',
  'Dewi',
  'Emre',
  'Fatou',
  'Goran',
  'Hana',
  'Ines',
  'Jun',
  'Kofi',
  'Lena',
  'Mehmet',
  'Noor',
  'Oluf',
  'Priya',
  'Quentin',
];

/** Experiments per organization, and of how many one is public. */
interface Mix {
  perOrganization: number;
  publicEvery: number;
}
const USUAL: Mix = { perOrganization: 200, publicEvery: 40 };

export interface Size {
  experiments: number;
  organizations: number;
  users: number;
}

const sizeOf = (experiments: number, { perOrganization }: Mix): Size => {
  const organizations = Math.ceil(experiments / perOrganization);
  return { experiments, organizations, users: organizations * MEMBERS };
};

/** The n-th user's id. */
export const userId = (n: number): string => `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

/** Accounts with their personal workspaces, in organizations of ten, one of whom owns it. */
async function growPeople(client: pg.Client, had: Size, size: Size): Promise<void> {
  const users = `generate_series(${had.users + 1}, ${size.users}) n`;
  await client.query(`insert into users (id, email, name, registered)
    select pg_temp.uid(0, n), 'lists' || n || '@example.org', 'Lists ' || n, true from ${users}`);
  await client.query(
    `insert into profiles (user_id, first_name, last_name)
     select pg_temp.uid(0, n), ($1::text[])[1 + n % ${NAMES.length}], 'Grower ' || n from ${users}`,
    [NAMES],
  );
  await client.query(`insert into organizations (id, name, slug, personal_user_id)
    select pg_temp.uid(3, n), 'Workspace ' || n, 'personal-' || pg_temp.uid(0, n), pg_temp.uid(0, n) from ${users}
    union all
    select pg_temp.uid(1, n), 'Lab ' || n, 'lists-' || n, null from generate_series(${had.organizations + 1}, ${size.organizations}) n`);
  await client.query(`insert into organization_members (id, organization_id, user_id, role)
    select gen_random_uuid(), pg_temp.uid(3, n), pg_temp.uid(0, n), 'owner' from ${users}
    union all
    select gen_random_uuid(), pg_temp.uid(1, 1 + (n - 1) / ${MEMBERS}), pg_temp.uid(0, n),
      case when n % ${MEMBERS} = 1 then 'owner' else 'member' end from ${users}`);
}

/**
 * Experiments after the `from`-th up to the `to`-th: each with two grants (full control for a creator who is no owner, else a viewer; a viewer
 * from another organization), some public, a twentieth archived. Who comes later is given later experiments only, so that what a person sees
 * stays the same while the tables grow.
 */
async function growExperiments(
  client: pg.Client,
  { had, size, mix }: { had: Size; size: Size; mix: Mix },
  [from, to]: readonly [number, number],
): Promise<void> {
  const came = size.users - had.users;
  // own: where the organization's people stand among those who came
  await client.query(`create temporary table coming as
    select n, pg_temp.uid(2, n) as id, pg_temp.uid(1, organization) as organization_id, pg_temp.uid(0, creator) as created_by, granted.*
    from generate_series(${from + 1}::bigint, ${to}) n
    cross join lateral (select 1 + (n - 1) / ${mix.perOrganization} as organization) of_it
    cross join lateral (select (organization - 1) * ${MEMBERS} - ${had.users} as own, (organization - 1) * ${MEMBERS} + 1 + n % ${MEMBERS} as creator) own
    cross join lateral (
      select case when creator % ${MEMBERS} = 1 then pg_temp.uid(0, ${had.users + 1} + (own + ${MEMBERS} + n * 7919 % ${came - MEMBERS}) % ${came})
          else pg_temp.uid(0, creator) end as first_id,
        pg_temp.uid(0, ${had.users + 1} + (own + ${MEMBERS} + (n * 7919 + 104729) % ${came - MEMBERS}) % ${came}) as second_id) granted`);
  await client.query('analyze coming');
  await client.query(`insert into resources (id, type, organization_id, visibility, name, created_by, created_at, updated_at, is_archived, search)
    select c.id, 'experiment', c.organization_id, case when n % ${mix.publicEvery} = 0 then 'public' else 'private' end, 'Experiment ' || n, c.created_by,
      now() - make_interval(secs => n), now() - make_interval(secs => n), n % 20 = 7,
      setweight(searchable('Experiment ' || n), 'A') || setweight(to_tsvector('words', names), 'D')
    from coming c
    cross join lateral (
      select string_agg(concat_ws(' ', p.first_name, p.last_name), ' ' order by p.user_id) as names
      from profiles p where p.user_id in (c.created_by, c.first_id, c.second_id)) people`);
  await client.query("insert into experiments (id, status) select id, case when n % 20 = 7 then 'archived' else 'active' end from coming");
  await client.query(`insert into grants (id, resource_id, resource_type, user_id, role, created_by)
    select gen_random_uuid(), c.id, 'experiment', g.user_id, case when g.user_id = c.created_by then 'admin' else 'viewer' end, c.created_by
    from coming c cross join lateral (values (c.first_id), (c.second_id)) g (user_id)`);
  await client.query('drop table coming');
}

/** Of 300 experiments of a growth, how many are found by something else than the triggers would have them found by. */
async function countFalse(client: pg.Client, from: number, to: number): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`
    select count(*)::integer as count
    from generate_series(${from + 1}::bigint, ${to}, ${Math.ceil((to - from) / 300)}) n join resources r on r.id = pg_temp.uid(2, n)
    where r.search is distinct from resource_search(r.id)`);
  return rows[0]?.count ?? NaN;
}

/**
 * Makes the service grow from one size to another, as replication would: the rows that the service's own writes leave, creators' grants and
 * search documents among them, without a run of every trigger for every row.
 */
export async function growLists(client: pg.Client, from: number, to: number, mix = USUAL): Promise<Size> {
  const had = from === 0 ? { experiments: 0, organizations: 0, users: 0 } : sizeOf(from, mix);
  const size = sizeOf(to, mix);
  await client.query(`create or replace function pg_temp.uid(kind integer, n bigint) returns uuid language sql immutable
    as $$ select ('00000000-0000-7000-800' || kind || '-' || lpad(to_hex(n), 12, '0'))::uuid $$`);
  await client.query("set session_replication_role = replica; set gin_pending_list_limit = '64MB'; set maintenance_work_mem = '256MB'");
  await growPeople(client, had, size);
  await client.query('analyze profiles');
  const chunk = 100_000;
  for (let at = from; at < to; at += chunk) await growExperiments(client, { had, size, mix }, [at, Math.min(at + chunk, to)]);
  await client.query('set session_replication_role = origin');
  await client.query('vacuum analyze');
  // what the growth left to be written is not measured
  await client.query('checkpoint');
  const wrong = await countFalse(client, from, to);
  if (wrong > 0) throw new Error(`${wrong} of 300 search documents are not what the service would have written`);
  return size;
}
