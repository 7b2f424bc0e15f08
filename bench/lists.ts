import pg from 'pg';
import { countExperiments, listExperiments } from '../src/api/experiments/experiments.queries.ts';
import { searchPeople } from '../src/api/directory/directory.queries.ts';
import { openDatabase, type Database, type Queryable } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import type { Query } from '../src/database/sql.ts';
import { against, quantile, type Measured } from './pairs.ts';
import { growLists, userId, type Size } from './seed-lists.ts';

const FEW = 10_000;
const SOME = 200_000;
const MANY = Number(process.env['LISTS'] ?? 1_000_000);
const PAGE = { limit: 100, offset: 0 };

const filterOf = (n: number, scope: 'related' | 'all') => ({
  userId: userId(n),
  scope,
  status: undefined,
  search: undefined,
  visibility: undefined,
  createdBy: undefined,
});

/** People of the first size: what they see does not change while others come. */
const somebody = (turn: number): number => 1 + ((turn * 37) % 500);

/** The statements that a function sends, without their answers. */
async function statementsOf(ask: (db: Queryable) => Promise<unknown>): Promise<Query[]> {
  const sent: Query[] = [];
  const note = (query: Query) => {
    sent.push(query);
    return Promise.resolve([]);
  };
  await ask({
    rows: note,
    one: async (query: Query) => (await note(query))[0],
    values: note,
    value: async (query: Query) => (await note(query))[0],
    count: async (query: Query) => (await note(query)).length,
    run: async (query: Query) => (await note(query)).length,
  });
  return sent;
}

/** Shared buffers that a page of a list and its count touch, on average over people. */
async function buffersPerPage(client: pg.Client, scope: 'related' | 'all'): Promise<number> {
  const people = 60;
  let blocks = 0;
  for (let turn = 0; turn < people; turn += 1) {
    const filter = filterOf(somebody(turn), scope);
    const statements = await statementsOf(async (db) => {
      await listExperiments(db, filter, PAGE);
      await countExperiments(db, filter, 10_001);
    });
    for (const { text, values } of statements) {
      const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
        `explain (analyze, buffers, format json) ${text}`,
        [...values],
      );
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {};
      blocks += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
    }
  }
  return blocks / people;
}

/** Of a service that has been asked each of these before: what is measured is not the reading of a freshly written table from disk. */
async function p95(times: number, ask: (turn: number) => Promise<unknown>): Promise<number> {
  for (let turn = 0; turn < times; turn += 1) await ask(turn);
  const taken: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const start = performance.now();
    await ask(turn);
    taken.push(performance.now() - start);
  }
  return quantile(taken, 0.95);
}

/** A page and its count, as the route asks for them. */
const page = (db: Database, scope: 'related' | 'all') => async (turn: number) => {
  const filter = filterOf(somebody(turn), scope);
  await Promise.all([listExperiments(db, filter, PAGE), countExperiments(db, filter, 10_001)]);
};

const TERMS = ['Lena', 'Priya Gr', 'grower 77', 'Olof', 'Mehmet Grower', 'quentn', 'zzz', 'lists42@example.org'];

const label = ({ experiments }: Size) => experiments.toLocaleString('en');

/** Lists of a service that grows from 10,000 to 1,000,000 experiments, with two grants each, and the search for people among 50,000. */
export async function benchLists(url: string, _dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 2 });
  try {
    const few = await growLists(client, 0, FEW);
    const before = await buffersPerPage(client, 'related');
    onMeasured(against(`scope=related page p95 at ${label(few)}, ms`, await p95(400, page(db, 'related')), 5));
    if (MANY > SOME) {
      const some = await growLists(client, FEW, SOME);
      onMeasured(against(`scope=all page p95 at ${label(some)}, ms`, await p95(200, page(db, 'all')), 25));
    }
    const many = await growLists(client, Math.min(SOME, MANY) === MANY ? FEW : SOME, MANY);
    const after = await buffersPerPage(client, 'related');
    onMeasured(against(`scope=related page p95 at ${label(many)}, ms`, await p95(400, page(db, 'related')), 5));
    onMeasured({
      name: `shared buffers per scope=related page, ${label(many)} against ${label(few)} (bound 1.3)`,
      ours: after,
      yardstick: before,
      ratio: after / before,
    });
    const search = (turn: number) =>
      searchPeople(db, { viewerId: userId(somebody(turn)), query: TERMS[turn % TERMS.length] ?? '', limit: 50, offset: 0 });
    onMeasured(against(`people search p95 over ${many.users.toLocaleString('en')} people, ms`, await p95(160, search), 20));
  } finally {
    await db.close();
    await client.end();
  }
}
