import type pg from 'pg';

const USERS = 50_000;
const ORGANIZATIONS = 5_000;
const RESOURCES = 200_000;
const GRANTS = 250_000;

/** 50,000 people in 5,000 organizations with 200,000 experiments and 250,000 grants, a fortieth of them public. Answers ids to ask about. */
export async function seedAccess(client: pg.Client): Promise<{ users: string[]; experiments: string[] }> {
  // Search documents and foreign keys are not what is measured: with their triggers the grants alone take over a quarter of an hour.
  await client.query('set session_replication_role = replica');
  await client.query(`create temporary table ids as
    select n, gen_random_uuid() as user_id, gen_random_uuid() as organization_id, gen_random_uuid() as resource_id from generate_series(1, ${RESOURCES}) n`);
  await client.query('create index on ids (n)');
  await client.query('analyze ids');
  await client.query(
    `insert into users (id, email, name) select user_id, 'bench' || n || '@example.org', 'Bench ' || n from ids where n <= ${USERS}`,
  );
  await client.query(`insert into profiles (user_id, first_name, last_name) select user_id, 'Bench', n::text from ids where n <= ${USERS}`);
  await client.query(
    `insert into organizations (id, name, slug) select organization_id, 'Lab ' || n, 'lab-' || n from ids where n <= ${ORGANIZATIONS}`,
  );
  await client.query(`insert into organization_members (id, organization_id, user_id, role)
    select gen_random_uuid(), o.organization_id, u.user_id, case when u.n <= ${ORGANIZATIONS} then 'owner' else 'member' end
    from ids u join ids o on o.n = 1 + (u.n - 1) % ${ORGANIZATIONS} where u.n <= ${USERS}`);
  await client.query(`insert into resources (id, type, organization_id, visibility, name, created_by, updated_at)
    select r.resource_id, 'experiment', o.organization_id, case when r.n % 40 = 0 then 'public' else 'private' end, 'Experiment ' || r.n, u.user_id,
      now() - make_interval(secs => r.n)
    from ids r join ids o on o.n = 1 + (r.n - 1) % ${ORGANIZATIONS} join ids u on u.n = 1 + (r.n - 1) % ${USERS}`);
  await client.query('insert into experiments (id) select id from resources');
  await client.query(`insert into grants (id, resource_id, resource_type, user_id, role)
    select gen_random_uuid(), r.resource_id, 'experiment', u.user_id, case when g % 5 = 0 then 'admin' else 'viewer' end
    from generate_series(1, ${GRANTS}) g
    join ids r on r.n = 1 + (g * 7) % ${RESOURCES} join ids u on u.n = 1 + (g * 13) % ${USERS}
    on conflict do nothing`);
  await client.query('set session_replication_role = origin');
  await client.query('vacuum analyze');
  const some = async (sql: string) => (await client.query<{ id: string }>(sql)).rows.map(({ id }) => id);
  return {
    users: await some(`select user_id as id from ids where n <= ${USERS} order by n limit 5000`),
    experiments: await some('select resource_id as id from ids order by n % 97, n limit 5000'),
  };
}
