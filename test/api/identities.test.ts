/** Nobody of the cast leaves an anonymised experiment, by any read of any shape, in any format: whoever asks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC } from 'apache-arrow';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { grant, makePerson, type Person } from '../support/cast.ts';
import { findTraces, type Leak, type Trace } from '../support/identities.ts';
import { startTestServer, type Answer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

const soak = Number(process.env.SOAK ?? 0);
const READS = soak > 0 ? 1_500 * soak : 60;
const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);
console.log(`identities: FC_SEED=${seed}`);

const TYPES = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const;
type Format = keyof typeof TYPES;
const FORMATS = Object.keys(TYPES) as Format[];

/** People whose traces are in both experiments: two who contribute still, one who did, and the owner of a device. */
let people: { contributor: Person; former: Person; keeper: Person };
let traces: Trace[];
let site: TestServer;
interface Field {
  id: string;
  tables: string[];
  rowId: string;
}
let open: Field;
let closed: Field;

const PICTURE = 'https://pictures.example.org/portrait-';

async function named(name: string, first: string, last: string): Promise<Person> {
  const person = await makePerson(site.db, name);
  const profile = { firstName: first, lastName: last, avatarUrl: `${PICTURE}${name}.png` };
  expect((await site.as(person)('POST', '/api/v1/users/profile', { body: profile })).status).toBe(201);
  const facts = [
    ['id', person.id],
    ['name', first],
    ['name', last],
    ['address', `${name}@example.com`],
    ['picture', `portrait-${name}`],
  ] as const;
  traces.push(...facts.map(([what, text]) => ({ person: name, what, text })));
  return person;
}

/** An experiment to which all of them have given rows, measurements and annotations. */
async function field(anonymizeContributors: boolean): Promise<Field> {
  const owner = site.as(site.cast.owner);
  const body = { name: 'Field of many', organizationId: site.cast.leafLab, anonymizeContributors };
  const { id } = (await owner('POST', '/api/v1/experiments', { body })).body as { id: string };
  const { db } = site;
  const all = [people.contributor, people.former, people.keeper];
  for (const person of all) await grant(db, { id, type: 'experiment' }, { user: person.id }, 'admin');
  const table = await uploadTable(site.as(people.contributor), id, 'leaves', 'plot,spad\n1,41.5\n2,38\n3,35.25\n');
  await uploadTable(site.as(people.former), id, 'stems', 'plot,height\n1,12\n2,14\n');
  const device = (
    await site.as(people.keeper)('POST', '/api/v1/devices', { body: { serialNumber: `AMB-${id.slice(-6)}`, deviceType: 'ambyte' } })
  ).body as { thingName: string };
  const message = (minute: number, sender: { userId?: string; clientId?: string }) => ({
    experimentId: id,
    ...sender,
    body: Buffer.from(JSON.stringify({ timestamp: `2026-05-01T10:0${minute}:00Z`, sample: { phi2: minute / 10 }, device_name: 'green' })),
  });
  await storeMessages(db, [
    message(1, { userId: people.contributor.id }),
    message(2, { userId: people.former.id }),
    message(3, { clientId: device.thingName }),
  ]);
  const read = async (query: object) => (await owner('GET', `/api/v1/experiments/${id}/data`, { query: { ...query } })).body[0];
  for (let tries = 0; (await read({ tableName: 'raw_data' })).totalRows !== 3; tries += 1) {
    if (tries > 300) throw new Error('the measurements did not arrive');
    await sleep(50);
  }
  const [row] = (await read({ tableName: table, orderBy: 'plot' })).data.rows as { id: string }[];
  for (const person of all) {
    const annotation = { type: 'comment', content: { type: 'comment', text: 'a look at it' } };
    const made = await site.as(person)('POST', `/api/v1/experiments/${id}/data/annotations`, {
      body: { tableName: table, rowId: row!.id, annotation },
    });
    expect(made.status, made.text).toBe(201);
  }
  // who gave a table needs no more than to contribute from here on
  await db.run(sql('test')`update grants set role = 'viewer' where resource_id = ${id} and user_id = ${people.contributor.id}`);
  return { id, tables: [table, 'stems', 'raw_data', 'device'], rowId: row!.id };
}

beforeAll(async () => {
  traces = [];
  site = await startTestServer();
  people = {
    contributor: await named('contributor', 'Ysolde', 'Canaryfield'),
    former: await named('former', 'Aloysius', 'Wrenbrook'),
    keeper: await named('keeper', 'Perpetua', 'Finchdale'),
  };
  traces.push({ person: 'owner', what: 'address', text: 'owner@example.com' });
  open = await field(false);
  closed = await field(true);
  // who contributed and went away: of a public experiment they may read what everybody may
  for (const { id } of [open, closed]) {
    await site.db.run(sql('test')`delete from grants where resource_id = ${id} and user_id = ${people.former.id}`);
    const published = await site.as(site.cast.owner)('PATCH', `/api/v1/experiments/${id}/visibility`, { body: { visibility: 'public' } });
    expect(published.status, published.text).toBe(200);
  }
});
afterAll(() => site.stop());

/** Everything of an answer that a person can read: its headers, its bytes, and what a reader of its format makes of them. */
async function everything(answer: Answer): Promise<Buffer[]> {
  const head = Buffer.from([...answer.headers].map((pair) => pair.join(': ')).join('\n'));
  const parts = [head, answer.bytes];
  const text = (value: unknown) =>
    Buffer.from(JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? String(each) : each)) ?? '');
  const type = answer.headers.get('content-type') ?? '';
  if (answer.status === 200 && type === TYPES.arrow)
    parts.push(
      text(
        tableFromIPC(answer.bytes)
          .toArray()
          .map((row: { toJSON(): object }) => row.toJSON()),
      ),
    );
  if (answer.status === 200 && type === TYPES.parquet) {
    const { buffer, byteOffset, length } = answer.bytes;
    const file = (buffer as ArrayBuffer).slice(byteOffset, byteOffset + length);
    parts.push(text(await parquetReadObjects({ file, compressors })));
  }
  return parts;
}

const search = async (answer: Answer, wanted: readonly Trace[] = traces): Promise<Leak[]> =>
  (await everything(answer)).flatMap((part) => findTraces(part, wanted));

/** An answer without what a link of it repeats of the question: who asks for a name by itself is told nothing by it. */
const unrepeated = (answer: Answer, { query }: Shape): Answer => {
  const headers = new Headers(answer.headers);
  const ownWords = (_link: string, target: string) => {
    const url = new URL(target, site.server.baseUrl);
    for (const [name, value] of Object.entries(query)) if (url.searchParams.get(name) === value) url.searchParams.delete(name);
    return `<${url.href}>`;
  };
  headers.set('link', (headers.get('link') ?? '').replace(/<([^>]*)>/g, ownWords));
  return { ...answer, headers };
};

interface Shape {
  table: number;
  format: Format;
  query: Record<string, string>;
}

/** Columns that a table has, by its place among the tables of a field. */
const COLUMNS = [
  ['contributor', 'contributor.name', 'contributor.id', 'contributor.avatar', 'annotations', 'id'],
  ['contributor', 'contributor.name', 'contributor.id', 'contributor.avatar', 'annotations', 'id'],
  ['contributor', 'contributor.name', 'contributor.id', 'contributor.avatar', 'annotations', 'device', 'device.owner', 'id', 'data'],
  ['device', 'device.owner', 'client_id', 'id'],
];
const WHOLE = ['contributor', 'annotations', 'device', 'data'];
const NAMES = ['Ysolde Canaryfield', 'Aloysius Wrenbrook', 'nobody', 'Contributor-'];
const TEXT_OPERATORS = ['equals', 'not_equals', 'contains', 'starts_with', 'greater_than'];

const shapeOf = (table: number): fc.Arbitrary<Shape> => {
  const columns = COLUMNS[table] ?? [];
  const column = fc.constantFrom(...columns.filter((name) => !WHOLE.includes(name)));
  const filter = fc.oneof(
    fc.record({ column, operator: fc.constantFrom(...TEXT_OPERATORS), value: fc.constantFrom(...NAMES) }),
    fc.record({ column, operator: fc.constantFrom('is_null', 'is_not_null') }),
    fc.record({ column, operator: fc.constantFrom('in', 'not_in'), value: fc.subarray(NAMES, { minLength: 1 }) }),
  );
  const call = fc.record({ column, function: fc.constantFrom('count', 'min', 'max', 'first', 'last', 'count_distinct') });
  const aggregation = fc.record({
    groupBy: fc.uniqueArray(column, { maxLength: 2 }).map((names) => names.map((name) => ({ column: name }))),
    functions: fc.uniqueArray(call, { minLength: 1, maxLength: 2, selector: (each) => `${each.column} ${each.function}` }),
  });
  const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
  return fc
    .record({
      format: fc.constantFrom(...FORMATS),
      shown: maybe(fc.subarray(columns, { minLength: 1 })),
      orderBy: maybe(column),
      filters: fc.array(filter, { maxLength: 2 }),
      pageSize: maybe(fc.constantFrom(1, 2, 100)),
      aggregated: maybe(aggregation),
    })
    .map(({ format, shown, orderBy, filters, pageSize, aggregated }) => ({
      table,
      format,
      query: {
        ...(shown && !aggregated ? { columns: shown.join(',') } : {}),
        ...(orderBy && !aggregated ? { orderBy } : {}),
        ...(filters.length > 0 ? { filters: JSON.stringify(filters) } : {}),
        ...(pageSize ? { pageSize: String(pageSize) } : {}),
        ...(aggregated ? { aggregation: JSON.stringify(aggregated) } : {}),
      },
    }));
};
const shape = fc.nat({ max: 3 }).chain(shapeOf);
const WHO = ['contributor', 'manager', 'contributor', 'manager', 'former'] as const;

const callers = () => ({ contributor: people.contributor, manager: site.cast.owner, former: people.former });

const ask = (person: Person, { id, tables }: Field, { table, format, query }: Shape): Promise<Answer> =>
  site.as(person)('GET', `/api/v1/experiments/${id}/data`, {
    query: { tableName: tables[table] ?? '', ...query },
    headers: { accept: TYPES[format] },
  });

/** What else is said of an experiment's data, and to whom it may name the caller alone. */
async function beside(person: Person, { id, tables, rowId }: Field): Promise<Answer[]> {
  const get = (path: string, query: Record<string, string> = {}, accept = 'application/json') =>
    site.as(person)('GET', `/api/v1/experiments/${id}/${path}`, { query, headers: { accept } });
  const answers = [await get('tables')];
  for (const tableName of tables) {
    answers.push(await get('data', { tableName }, 'application/vnd.fieldlake.plan+json'));
    for (const each of ['contributor.name', 'contributor.id', 'contributor.avatar', 'device.owner'])
      answers.push(await get('data/distinct', { tableName, column: each }));
    answers.push(await get('data/exports', { tableName }));
    answers.push(await get('data', { tableName, columns: 'contributor.nme' }), await get('data', { tableName, orderBy: 'contributor' }));
  }
  answers.push(await get('data/uploads'), await get(`data/${tables[0] ?? ''}/rows/${rowId}/lineage`));
  return answers;
}

/** An export of a table in a format: its answer, its state and its file. */
async function exported(person: Person, { id }: Field, body: object): Promise<Answer[]> {
  const path = `/api/v1/experiments/${id}/data/exports`;
  const as = site.as(person);
  const made = await as('POST', path, { body });
  if (made.status !== 201) return [made];
  const exportId = String(made.body.exportId);
  for (let tries = 0; tries < 400; tries += 1) {
    const state = await as('GET', `${path}/${exportId}/status`);
    if (state.body.status === 'completed') return [made, state, await as('GET', `${path}/${exportId}`)];
    if (state.body.status === 'failed') throw new Error(state.text);
    await sleep(50);
  }
  throw new Error('the export did not end');
}

const ofOthers = (person: Person) => {
  const name = Object.entries(people).find(([, { id }]) => id === person.id)?.[0];
  return traces.filter((trace) => trace.person !== name);
};

describe('the search', () => {
  test('finds everybody where names are shown, in every format', async () => {
    for (const format of FORMATS) {
      const found = new Set<string>();
      for (let table = 0; table < open.tables.length; table += 1)
        for (const leak of await search(await ask(site.cast.owner, open, { table, format, query: {} })))
          found.add(`${leak.person} ${leak.what}`);
      expect([...found].sort(), format).toEqual(
        [
          'contributor id',
          'contributor name',
          'contributor picture',
          'former id',
          'former name',
          'former picture',
          'keeper id',
          'keeper name',
        ].sort(),
      );
      const files = await exported(site.cast.owner, open, { tableName: open.tables[0], format });
      const inFile = new Set((await search(files.at(-1)!)).map(({ person }) => person));
      expect([...inFile].sort(), `${format} export`).toEqual(['contributor', 'former', 'keeper']);
    }
    const cursors = await ask(site.cast.owner, open, {
      table: 0,
      format: 'json',
      query: { orderBy: 'contributor.name', pageSize: '1', columns: 'plot' },
    });
    expect(await search(cursors)).toMatchObject([{ person: 'contributor', what: 'name' }, { what: 'name' }]);
    const said = new Set<string>();
    for (const answer of await beside(site.cast.owner, open)) for (const { person } of await search(answer)) said.add(person);
    expect([...said].sort()).toEqual(['contributor', 'former', 'keeper']);
  });

  test('finds traces in footers and wrapped text', () => {
    const [trace] = traces;
    const wrapped = Buffer.from(`x ${Buffer.from(JSON.stringify({ id: trace!.text })).toString('base64url')} y`);
    expect(findTraces(wrapped, traces)).toMatchObject([{ person: 'contributor', what: 'id' }]);
    expect(findTraces(Buffer.from(trace!.text.replaceAll('-', ''), 'hex'), traces)).toHaveLength(1);
    expect(findTraces(Buffer.from('nothing of anybody'), traces)).toEqual([]);
  });
});

describe('an anonymised experiment', () => {
  test('generated reads of every shape name nobody, to whoever asks', async () => {
    const statuses: Record<number, number> = {};
    let rows = 0;
    await fc.assert(
      fc.asyncProperty(shape, fc.constantFrom(...WHO), async (asked, who) => {
        const answer = await ask(callers()[who], closed, asked);
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        if (answer.status === 200) rows += answer.bytes.length;
        expect(await search(unrepeated(answer, asked))).toEqual([]);
      }),
      { seed, numRuns: READS },
    );
    console.log(
      `identities: ${READS} reads answered ${JSON.stringify(statuses)}, ${rows} bytes of rows searched for ${traces.length} traces`,
    );
    expect(statuses[200]).toBeGreaterThan(READS / 2);
    expect(statuses[500]).toBeUndefined();
  });

  test('every table in every format, with its cursors', async () => {
    for (const person of Object.values(callers()))
      for (const format of FORMATS)
        for (let table = 0; table < closed.tables.length; table += 1) {
          expect(await search(await ask(person, closed, { table, format, query: {} }))).toEqual([]);
          if (format !== 'json' || table > 2) continue;
          const paged = await ask(person, closed, { table, format, query: { orderBy: 'contributor.name', pageSize: '1' } });
          expect(await search(paged)).toEqual([]);
        }
  });

  test('a name or an id that somebody knows matches nothing', async () => {
    for (const [name, value] of [
      ['contributor.name', 'Ysolde Canaryfield'],
      ['contributor.id', people.contributor.id],
      ['device.owner', people.keeper.id],
    ] as const)
      for (const [place, matching] of [
        [open, 1],
        [closed, 0],
      ] as const) {
        const filters = JSON.stringify([{ column: name, operator: 'equals', value }]);
        const { body } = await ask(site.cast.owner, place, { table: 2, format: 'json', query: { filters } });
        expect([name, body[0].totalRows]).toEqual([name, matching]);
      }
  });

  test('exports in every format, their states and their files name nobody else', async () => {
    for (const person of [people.contributor, site.cast.owner])
      for (const format of FORMATS)
        for (const tableName of [closed.tables[0], 'raw_data']) {
          const answers = await exported(person, closed, { tableName, format });
          expect(answers.map(({ status }) => status)).toEqual([201, 200, 200]);
          for (const answer of answers) expect(await search(answer, ofOthers(person))).toEqual([]);
        }
    for (const answer of await exported(people.former, closed, { tableName: 'device', format: 'parquet' }))
      expect(await search(answer, ofOthers(people.former))).toEqual([]);
    const refused = await exported(people.contributor, closed, { tableName: 'device', format: 'csv', anonymizeContributors: false });
    expect([refused[0]?.status, await search(refused[0]!, ofOthers(people.contributor))]).toEqual([403, []]);
  });

  test('what is said beside the rows names nobody else', async () => {
    for (const person of Object.values(callers()))
      for (const answer of await beside(person, closed))
        expect(await search(answer, ofOthers(person)), answer.text.slice(0, 300)).toEqual([]);
  });
});
