import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedOf, seeded } from '../support/crashes.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

const WORLDS = 8;
const PEOPLE = 14;

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await cloneDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // made-up worlds need not have come about by any route
  await client.query('set session_replication_role = replica');
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const id = (kind: number, at: number) => `00000000-0000-4000-8000-${String(kind * 1_000 + at).padStart(12, '0')}`;

async function makeWorld(pick: (below: number) => number): Promise<void> {
  await client.query('truncate users, organizations, organization_members, teams, team_members, resources, grants cascade');
  for (let at = 0; at < PEOPLE; at += 1)
    await client.query("insert into users (id, email) values ($1, $1::uuid || '@example.org')", [id(1, at)]);
  for (let at = 0; at < 4; at += 1)
    await client.query("insert into organizations (id, name, slug) values ($1, 'Lab', 'lab-' || $2::text)", [id(2, at), at]);
  for (let at = 0; at < 4 + pick(8); at += 1)
    await client.query(
      "insert into organization_members (id, organization_id, user_id, role) values (gen_random_uuid(), $1, $2, 'member') on conflict do nothing",
      [id(2, pick(4)), id(1, pick(PEOPLE))],
    );
  for (let at = 0; at < 3; at += 1)
    await client.query("insert into teams (id, organization_id, name) values ($1, $2, 'Team')", [id(3, at), id(2, pick(4))]);
  for (let at = 0; at < pick(6); at += 1)
    await client.query(
      'insert into team_members (id, team_id, organization_id, user_id) select gen_random_uuid(), id, organization_id, $2 from teams where id = $1 on conflict do nothing',
      [id(3, pick(3)), id(1, pick(PEOPLE))],
    );
  for (let at = 0; at < 5; at += 1)
    await client.query(
      "insert into resources (id, type, organization_id, visibility, name, created_by) values ($1, 'experiment', $2, 'private', 'E', $3)",
      [id(4, at), id(2, pick(4)), id(1, pick(PEOPLE))],
    );
  for (let at = 0; at < 4 + pick(8); at += 1) {
    const [column, grantee] = [
      ['user_id', id(1, pick(PEOPLE))],
      ['team_id', id(3, pick(3))],
      ['organization_id', id(2, pick(4))],
    ][pick(3)]!;
    await client.query(
      `insert into grants (id, resource_id, resource_type, ${column}, role) values (gen_random_uuid(), $1, 'experiment', $2, 'viewer') on conflict do nothing`,
      [id(4, pick(5)), grantee],
    );
  }
}

test('whom a person knows is the same, asked one by one and at once', async () => {
  const seed = seedOf('acquainted');
  const random = seeded(seed);
  const pick = (below: number) => Math.floor(random() * below);
  const counts = { known: 0, unknown: 0 };
  for (let world = 0; world < WORLDS; world += 1) {
    await makeWorld(pick);
    const people = Array.from({ length: PEOPLE }, (_, at) => id(1, at));
    for (const viewer of people) {
      const { rows: one } = await client.query<{ id: string }>(
        'select p::text as id from unnest($2::uuid[]) p where knows($1, p) order by 1',
        [viewer, people],
      );
      const { rows: all } = await client.query<{ id: string }>(
        'select distinct a::text as id from acquainted($1, $2::uuid[]) a order by 1',
        [viewer, people],
      );
      expect(all, `SEED=${seed}, world ${world}, ${viewer}`).toEqual(one);
      counts.known += one.length - 1;
      counts.unknown += PEOPLE - one.length;
    }
  }
  expect(counts.known).toBeGreaterThan(20);
  expect(counts.unknown).toBeGreaterThan(20);
});
