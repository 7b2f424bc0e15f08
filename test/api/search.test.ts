import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const post = async (path: string, body: object, who = site.cast.owner) => (await site.as(who)('POST', `/api/v1/${path}`, { body })).body;
const find = async (query: string, who = site.cast.owner, limit = 20) =>
  (await site.as(who)('GET', '/api/v1/search', { query: { query, limit } })).body.results as { type: string; id: string; title: string }[];
const titles = async (query: string, who = site.cast.owner) => (await find(query, who)).map(({ title }) => title);

describe('GET /api/v1/search', () => {
  test('finds by words, prefixes, stems, accents, parts of names and misspelt names; exact names first', async () => {
    await post('experiments', { name: 'Drought response of maize', description: 'Chlorophyll fluorescence under stress' });
    await post('protocols', { name: 'Drought', code: 1, family: 'ambit' });
    await post('macros', { name: 'Décomposition of litter', code: '1', language: 'python' });
    expect(await find('drought')).toEqual([
      { type: 'protocol', id: expect.any(String), title: 'Drought', subtitle: null, meta: 'ambit' },
      {
        type: 'experiment',
        id: expect.any(String),
        title: 'Drought response of maize',
        subtitle: 'Chlorophyll fluorescence under stress',
        meta: null,
      },
    ]);
    expect(await titles('respo maiz')).toEqual(['Drought response of maize']);
    expect(await titles('responses')).toEqual(['Drought response of maize']);
    expect(await titles('fluorescen')).toEqual(['Drought response of maize']);
    expect(await titles('decomposition')).toEqual(['Décomposition of litter']);
    expect(await titles('rought resp')).toEqual(['Drought response of maize']);
    expect(await titles('droght')).toContain('Drought');
    expect(await titles('drought zebra')).toEqual([]);
    expect(await titles('python')).toEqual(['Décomposition of litter']);
    expect(await titles('ambit')).toEqual(['Drought']);
    for (const odd of ['%', "'", '&|!:*', '\\', '()', 'the', 'a', '<->', '😀']) expect(Array.isArray(await find(odd))).toBe(true);
    const call = site.as(site.cast.owner);
    const refused: Record<string, string | number>[] = [
      { query: ' ' },
      { query: 'x'.repeat(201) },
      { query: 'x', limit: 33 },
      { query: 'x', limit: 0 },
      {},
    ];
    for (const query of refused) expect((await call('GET', '/api/v1/search', { query })).status).toBe(400);
    expect((await site.as(null)('GET', '/api/v1/search', { query: { query: 'x' } })).status).toBe(401);
  });

  test('a misspelt word is taken for the words of names as they are now, also of names with other words and with accents', async () => {
    const misspelt = async () => [await titles('xylantropic'), await titles('triaal xylantropik'), await titles('zélkowa')];
    const [one, other] = [
      await post('experiments', { name: 'Xylanthropic trial of Zelkova' }),
      await post('protocols', { name: 'Xylanthropic', code: 1, family: 'ambit' }),
    ] as { id: string }[];
    expect(await misspelt()).toEqual([
      ['Xylanthropic', 'Xylanthropic trial of Zelkova'],
      ['Xylanthropic trial of Zelkova'],
      ['Xylanthropic trial of Zelkova'],
    ]);
    const words = async () =>
      (
        await site.db.rows<{ word: string }>(
          sql('test')`select word from name_words where word in ('xylanthropic', 'zelkova') order by word`,
        )
      ).map(({ word }) => word);
    expect(await words()).toEqual(['xylanthropic', 'zelkova']);
    await site.as(site.cast.owner)('PATCH', `/api/v1/experiments/${one?.id}`, { body: { name: 'Renamed' } });
    expect(await words()).toEqual(['xylanthropic']);
    expect(await misspelt()).toEqual([['Xylanthropic'], [], []]);
    await site.as(site.cast.owner)('DELETE', `/api/v1/protocols/${other?.id}`);
    expect(await words()).toEqual([]);
    expect(await misspelt()).toEqual([[], [], []]);
  });

  test('finds by people and places, and keeps up with changes; archived experiments stay out', async () => {
    const shared = await post('experiments', {
      name: 'Plots',
      members: [{ userId: site.cast.teammate.id }],
      locations: [{ name: 'Wageningen campus', latitude: 52, longitude: 5, country: 'Netherlands' }],
    });
    expect(await titles('wagening')).toEqual(['Plots']);
    expect(await titles('teammate tester')).toEqual(['Plots']);
    expect(await titles('owner netherlands')).toEqual(['Plots']);
    const call = site.as(site.cast.owner);
    await call('PATCH', `/api/v1/experiments/${shared.id}`, { body: { anonymizeContributors: true, locations: [] } });
    expect(await titles('wagening')).toEqual([]);
    expect(await titles('teammate tester')).toEqual([]);
    await call('PATCH', `/api/v1/experiments/${shared.id}`, { body: { name: 'Terraces' } });
    expect(await titles('terrace')).toEqual(['Terraces']);
    expect((await call('GET', '/api/v1/experiments', { query: { search: 'terace' } })).body).toHaveLength(1);
    await call('PATCH', `/api/v1/experiments/${shared.id}`, { body: { status: 'archived' } });
    expect(await titles('terrace')).toEqual([]);
    expect((await call('GET', '/api/v1/experiments', { query: { search: 'terrace', status: 'archived' } })).body).toHaveLength(1);
    await call('DELETE', `/api/v1/experiments/${shared.id}`);
    expect((await call('GET', '/api/v1/experiments', { query: { search: 'terrace', status: 'archived' } })).body).toHaveLength(0);
  });

  test('finds workbooks by what they use, where the reader may read that too', async () => {
    const macro = await post('macros', { name: 'Quenching', code: '1', language: 'r' });
    const workbook = await post('workbooks', {
      name: 'Walk',
      cells: [{ id: 'm', type: 'macro', payload: { macroId: macro.id, language: 'r' } }],
      visibility: 'public',
    });
    await post('experiments', { name: 'Saltmarsh', workbookId: workbook.id });
    expect((await titles('quenching')).sort()).toEqual(['Quenching', 'Walk']);
    expect((await titles('saltmarsh')).sort()).toEqual(['Saltmarsh', 'Walk']);
    expect(await titles('walk', site.cast.stranger)).toEqual(['Walk']);
    expect(await titles('quenching', site.cast.stranger)).toEqual([]);
    expect(await titles('saltmarsh', site.cast.stranger)).toEqual([]);
  });
});

test('whether others use a word cannot be told by which misspelt names are found', async () => {
  const { owner, stranger } = site.cast;
  const make = (name: string, who = stranger) => post('protocols', { name, code: 1, family: 'ambit' }, who);
  await make('Quillworzt');
  for (let n = 0; n < 8; n += 1) await make(`Brackenfen${'abcdefgh'[n]}`);
  const seen = async () => [await titles('quillwort', stranger), (await titles('brackenfex', stranger)).sort()];
  const before = await seen();
  expect(before).toEqual([['Quillworzt'], Array.from('abcdefgh', (letter) => `Brackenfen${letter}`)]);
  await post('experiments', { name: 'Secret', description: 'Quillwort under ice' }, owner);
  await make('Brackenfex', owner);
  expect(await titles('quillwort')).toEqual(['Secret']);
  expect(await titles('brackenfex')).toContain('Brackenfex');
  expect(await seen()).toEqual(before);
});

test('no hit that the reader could not read, and none that they could is left out: search, lists and readable_resources agree with the access view', async () => {
  const seed = Number(process.env['FC_SEED'] ?? Date.now());
  const { db } = site;
  const people = ['owner', 'admin', 'member', 'teammate', 'viewer', 'stranger'] as const;
  const types = ['experiment', 'protocol', 'macro', 'workbook'] as const;
  const thing = fc.record({
    type: fc.constantFrom(...types),
    owner: fc.constantFrom(...people),
    inLab: fc.boolean(),
    visibility: fc.constantFrom('private', 'public'),
    grantee: fc.option(fc.constantFrom(...people, 'team' as const)),
    role: fc.constantFrom('viewer', 'admin', 'nonsense'),
  });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(thing, { minLength: 5, maxLength: 15 }), async (things) => {
      round += 1;
      const word = `zq${round}x`;
      const members = ['owner', 'admin', 'member'];
      for (const { type, owner, inLab, visibility, grantee, role } of things) {
        const more = { experiment: {}, protocol: { code: 1, family: 'ambit' }, macro: { code: '1', language: 'r' }, workbook: {} }[type];
        const home = inLab && members.includes(owner) ? { organizationId: site.cast.leafLab } : {};
        const { id } = await post(`${type}s`, { name: `${word} ${type}`, visibility, ...home, ...more }, site.cast[owner]);
        if (grantee !== null)
          await grant(db, { id, type }, grantee === 'team' ? { team: site.cast.fieldTeam } : { user: site.cast[grantee].id }, role).catch(
            () => 0,
          );
      }
      for (const name of people) {
        const person = site.cast[name];
        const readable = await db.rows<{ id: string }>(sql('test')`
          select distinct r.id from resources r join effective_access a on a.resource_id = r.id and a.user_id = ${person.id} and a.can_read
          where r.name like ${`${word} %`} order by 1`);
        const wanted = readable.map(({ id }) => id);
        const joined = await db.rows<{ id: string }>(sql('test')`
          select r.id from readable_resources(${person.id}, ${[...types]}::text[], false) r where r.name like ${`${word} %`} order by 1`);
        expect(joined.map(({ id }) => id)).toEqual(wanted);
        expect((await find(word, person, 32)).map(({ id }) => id).sort()).toEqual(wanted);
        const listed = [];
        for (const type of types) {
          const { body } = await site.as(person)('GET', `/api/v1/${type}s`, { query: { search: word } });
          listed.push(...body.map(({ id }: { id: string }) => id));
        }
        expect(listed.sort()).toEqual(wanted);
      }
    }),
    { seed, numRuns: process.env['SOAK'] === '1' ? 20 : 2 },
  );
});

test('what narrows a search is not lost among more hits than are ranked', async () => {
  const { owner, member, stranger, leafLab } = site.cast;
  const fill = async (count: number, made: { name: string; visibility: string; by: string }) => {
    // in pieces, each of which is far from the limit of a statement
    for (let from = 1; from <= count; from += 200)
      await site.db.run(sql('test')`
        with made as (
          insert into resources (id, type, organization_id, visibility, name, created_by)
          select gen_random_uuid(), 'experiment', ${leafLab}, ${made.visibility}, ${made.name} || ' ' || n, ${made.by}
          from generate_series(${from}::integer, ${Math.min(count, from + 199)}::integer) n returning id)
        insert into experiments (id, status) select id, 'active' from made`);
  };
  const ask = async (query: Record<string, string>, person = owner) => {
    const answer = await site.as(person)('GET', '/api/v1/experiments', { query: { search: 'quillwort', pageSize: '100', ...query } });
    expect(answer.status, answer.text).toBe(200);
    return { total: Number(answer.headers.get('x-total-count')), names: answer.body.map(({ name }: { name: string }) => name) as string[] };
  };
  await fill(40, { name: 'Last of all, a quillwort', visibility: 'public', by: member.id });
  // these are better hits, and more than are ranked
  await fill(10_100, { name: 'Quillwort', visibility: 'private', by: owner.id });
  expect((await ask({})).names[0]).toMatch(/^Quillwort/);
  const open = await ask({ visibility: 'public' });
  expect(open.total).toBe(40);
  expect(open.names).toHaveLength(40);
  expect(open.names.every((name) => name.startsWith('Last of all'))).toBe(true);
  expect((await ask({ visibility: 'public' }, stranger)).total).toBe(40);
  expect((await ask({ createdBy: 'me' }, member)).total).toBe(40);
  expect((await ask({ createdBy: 'me', visibility: 'private' }, member)).total).toBe(0);
  expect((await ask({ createdBy: 'me', visibility: 'public' }, member)).total).toBe(40);
  expect((await ask({ visibility: 'private' }, stranger)).total).toBe(0);
});
