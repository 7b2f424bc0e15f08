import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const SCALE = Number(process.env['SOAK'] ?? 0.05);
const RESOURCES = Math.round(200_000 * SCALE);
const PEOPLE = Math.max(20, Math.round(1_000 * SCALE));
const ORGANIZATIONS = Math.max(10, Math.round(400 * SCALE));

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
  const { db } = site;
  await db.run(
    sql(
      'soak',
    )`insert into users (id, email, email_verified) select gen_random_uuid(), 'p' || n || '@soak.example', true from generate_series(1, ${PEOPLE}) n`,
  );
  await db.run(sql('soak')`
    insert into profiles (user_id, first_name, last_name)
    select id, (array['Ana', 'Bram', 'Chen', 'Dalia', 'Emeka'])[1 + n % 5], 'Surname' || n
    from (select id, row_number() over (order by email) as n from users where email like '%@soak.example') people`);
  await db.run(
    sql(
      'soak',
    )`insert into organizations (id, name, slug) select gen_random_uuid(), 'Soak ' || n, 'soak-' || n from generate_series(1, ${ORGANIZATIONS}) n`,
  );
  // the owner of Leaf Lab is a member of a tenth of them
  await db.run(sql('soak')`
    insert into organization_members (id, organization_id, user_id, role)
    select gen_random_uuid(), id, ${site.cast.owner.id}, 'member' from organizations where slug like 'soak-%0'`);
  const batch = 10_000;
  for (let from = 1; from <= RESOURCES; from += batch)
    await db.run(sql('soak')`
      with people as (select array_agg(id order by email) as ids from users where email like '%@soak.example'),
      homes as (select array_agg(id order by slug) as ids from organizations where slug like 'soak-%'),
      words as (select array['leaf', 'maize', 'drought', 'chlorophyll', 'canopy', 'photosynthesis', 'nitrogen', 'wheat', 'stress', 'fluorescence', 'root',
        'stomata', 'humidity', 'greenhouse', 'barley', 'salinity', 'tomato', 'phosphorus', 'carbon', 'soil'] as of),
      made as (
        insert into resources (id, type, organization_id, visibility, name, description, created_by, created_at, updated_at)
        select gen_random_uuid(), (array['experiment', 'protocol', 'macro', 'workbook'])[1 + n % 4], homes.ids[1 + (n * 7) % array_length(homes.ids, 1)],
          case when n % 5 = 0 then 'public' else 'private' end,
          words.of[1 + n % 20] || ' ' || words.of[1 + (n / 20) % 20] || ' trial ' || n,
          'About ' || words.of[1 + (n * 3) % 20] || ' and ' || words.of[1 + (n * 11) % 20] || ' in block ' || n % 977,
          people.ids[1 + n % array_length(people.ids, 1)], now() - n * interval '1 minute', now() - n * interval '1 minute'
        from generate_series(${from}::integer, ${Math.min(RESOURCES, from + batch - 1)}::integer) n, people, homes, words
        returning id, type)
      , e as (insert into experiments (id) select id from made where type = 'experiment')
      , p as (insert into protocols (id, family) select id, 'multispeq' from made where type = 'protocol')
      , m as (insert into macros (id, language) select id, 'python' from made where type = 'macro')
      insert into workbooks (id) select id from made where type = 'workbook'`);
  await site.database.db.run(sql('soak')`select 1`);
}, 900_000);
afterAll(() => site.stop());

const QUERIES = [
  'leaf',
  'maize drought',
  'chloro',
  'photosynthesis nitrogen',
  'trial 1234',
  'trial',
  'droght',
  'flourescence',
  'stomata hum',
  'python',
  'multispeq',
  'chen',
  'surname12',
  'block 42',
  'zebra',
  'tomato soil trial',
  'ough',
  'le',
  'a',
  'wheat stres',
];

test(`a search over ${RESOURCES} resources`, { timeout: 600_000 }, async () => {
  const report: string[] = [];
  for (const name of ['owner', 'stranger'] as const) {
    const call = site.as(site.cast[name]);
    const times: number[] = [];
    for (const query of QUERIES) {
      await call('GET', '/api/v1/search', { query: { query } });
      const own: number[] = [];
      for (let run = 0; run < 5; run += 1) {
        const start = performance.now();
        const { status, body } = await call('GET', '/api/v1/search', { query: { query } });
        own.push(performance.now() - start);
        expect(status).toBe(200);
        if (query === 'zebra') expect(body.results).toEqual([]);
        if (['leaf', 'droght', 'trial'].includes(query)) expect(body.results.length).toBe(20);
      }
      times.push(...own);
      report.push(`${name} '${query}' ${Math.round(own.sort((a, b) => a - b)[2] ?? 0)} ms`);
    }
    times.sort((a, b) => a - b);
    report.push(
      `${name}: p50 ${Math.round(times[times.length >> 1] ?? 0)} ms, p95 ${Math.round(times[Math.floor(times.length * 0.95)] ?? 0)} ms`,
    );
  }
  console.log(report.join('\n'));
});
