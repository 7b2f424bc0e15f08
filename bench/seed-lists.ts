import type pg from 'pg';

/** People per organization, experiments per organization, grants per experiment: the same at every size, so that only the tables grow. */
const MEMBERS = 10;
const EXPERIMENTS = 200;
const GRANTS = 2;

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

export interface Size {
  experiments: number;
  organizations: number;
  users: number;
}

const sizeOf = (experiments: number): Size => {
  const organizations = Math.ceil(experiments / EXPERIMENTS);
  return { experiments, organizations, users: organizations * MEMBERS };
};

/** The n-th user's id. */
export const userId = (n: number): string => `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

/** Makes the service grow from one size to another: organizations of ten people and two hundred experiments, two grants for each of these, a fortieth public. */
export async function growLists(client: pg.Client, from: number, to: number): Promise<Size> {
  const [had, size] = [from === 0 ? { experiments: 0, organizations: 0, users: 0 } : sizeOf(from), sizeOf(to)];
  await client.query(`create or replace function pg_temp.uid(kind integer, n bigint) returns uuid language sql immutable
    as $$ select ('00000000-0000-7000-800' || kind || '-' || lpad(to_hex(n), 12, '0'))::uuid $$`);
  await client.query(`insert into users (id, email, name) select pg_temp.uid(0, n), 'lists' || n || '@example.org', 'Lists ' || n
    from generate_series(${had.users + 1}, ${size.users}) n`);
  await client.query(
    `insert into profiles (user_id, first_name, last_name) select pg_temp.uid(0, n), ($1::text[])[1 + n % ${NAMES.length}], 'Grower ' || n
     from generate_series(${had.users + 1}, ${size.users}) n`,
    [NAMES],
  );
  await client.query(`insert into organizations (id, name, slug) select pg_temp.uid(1, n), 'Lab ' || n, 'lists-' || n
    from generate_series(${had.organizations + 1}, ${size.organizations}) n`);
  await client.query(`insert into organization_members (id, organization_id, user_id, role)
    select gen_random_uuid(), pg_temp.uid(1, 1 + (n - 1) / ${MEMBERS}), pg_temp.uid(0, n), case when n % ${MEMBERS} = 1 then 'owner' else 'member' end
    from generate_series(${had.users + 1}, ${size.users}) n`);
  const chunk = 100_000;
  for (let at = had.experiments; at < size.experiments; at += chunk) {
    const end = Math.min(at + chunk, size.experiments);
    await client.query(`insert into resources (id, type, organization_id, visibility, name, created_by, updated_at)
      select pg_temp.uid(2, n), 'experiment', pg_temp.uid(1, 1 + (n - 1) / ${EXPERIMENTS}), case when n % 40 = 0 then 'public' else 'private' end,
        'Experiment ' || n, pg_temp.uid(0, ((n - 1) / ${EXPERIMENTS}) * ${MEMBERS} + 1 + n % ${MEMBERS}), now() - make_interval(secs => n)
      from generate_series(${at + 1}, ${end}) n`);
    await client.query(`insert into experiments (id) select pg_temp.uid(2, n) from generate_series(${at + 1}, ${end}) n`);
    await client.query(`insert into grants (id, resource_id, resource_type, user_id, role)
      select gen_random_uuid(), pg_temp.uid(2, n), 'experiment', pg_temp.uid(0, 1 + (n * 7919 + g * 104729) % ${size.users}),
        case when n % 5 = 0 then 'admin' else 'viewer' end
      from generate_series(${at + 1}, ${end}) n cross join generate_series(1, ${GRANTS}) g
      on conflict do nothing`);
  }
  await client.query('vacuum analyze');
  return size;
}
