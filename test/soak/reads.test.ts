import { readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { grant, makePerson, type Person } from '../support/cast.ts';
import { detailsOf } from '../support/operators.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

// one is the full size
const SCALE = Number(process.env['SOAK'] ?? 0.1);
const TABLE_ROWS = 100_001;
const PAGED = Math.round(50_000 * SCALE);
const ABORTED = Math.round(200 * SCALE);

const CALLERS = 2;
const PER_CALLER = 1;

let site: TestServer;
let path: string;
let people: Person[];

beforeAll(async () => {
  site = await startTestServer({ CALLER_STATEMENTS: String(PER_CALLER), ORGANIZATION_STATEMENTS: String(CALLERS * PER_CALLER) });
  const call = site.as(site.cast.owner);
  const { body } = await call('POST', '/api/v1/experiments', {
    body: { name: 'Long reads', organizationId: site.cast.leafLab, visibility: 'private' },
  });
  path = `/api/v1/experiments/${String(body.id)}/data`;
  const lines = Array.from(
    { length: TABLE_ROWS },
    (_, n) => `${n},${n % 7},${n % 3 === 0 ? '' : `g${n % 4}`},${(n * 7_919) % 1_000},row ${n} of the long table`,
  );
  await uploadTable(call, String(body.id), 'long', `n,tied,label,measure,note\n${lines.join('\n')}\n`);
  people = [site.cast.owner];
  for (let index = 1; index < CALLERS; index += 1) {
    const person = await makePerson(site.db, `reader${index}`);
    await grant(site.db, { id: String(body.id), type: 'experiment' }, { user: person.id }, 'admin');
    people.push(person);
  }
}, 300_000);
afterAll(() => site.stop());

const read = (query: Record<string, string | number>, person = site.cast.owner) =>
  site.as(person)('GET', path, { query: { tableName: 'long', ...query } });
const below = (n: number) => JSON.stringify([{ column: 'n', operator: 'less_than', value: n }]);

describe('how much goes out', () => {
  test.each([
    ['tied', 'ASC'],
    ['tied', 'DESC'],
    ['label', 'ASC'],
    ['uploaded_at', 'ASC'],
    ['uploaded_at', 'DESC'],
  ])(`${PAGED} rows with tied keys, paged by %s %s, come once each`, { timeout: 1_800_000 }, async (orderBy, orderDirection) => {
    // the default order is paged without a filter too, where whole files are skipped
    const filter = orderBy === 'uploaded_at' ? undefined : below(PAGED);
    const total = filter === undefined ? TABLE_ROWS : PAGED;
    const pages = Math.ceil(PAGED / 100);
    const seen: number[] = [];
    for (let page = 1; page <= pages; page += 1) {
      const { status, body } = await read({
        columns: 'n',
        orderBy,
        orderDirection,
        page,
        pageSize: 100,
        ...(filter === undefined ? {} : { filters: filter }),
      });
      expect(status).toBe(200);
      expect([body[0].totalRows, body[0].data.truncated]).toEqual([total, false]);
      seen.push(...body[0].data.rows.map(({ n }: { n: number }) => n));
    }
    expect(seen).toHaveLength(PAGED);
    expect(new Set(seen).size).toBe(PAGED);
  });

  test('the last rows of the default order are on the last page', async () => {
    const last = Math.ceil(TABLE_ROWS / 100);
    for (const orderDirection of ['ASC', 'DESC']) {
      const { body } = await read({ columns: 'n', orderDirection, page: last, pageSize: 100 });
      expect(body[0].data.rows).toEqual([{ n: TABLE_ROWS - 1 }]);
      expect((await read({ columns: 'n', orderDirection, page: last + 1, pageSize: 100 })).body[0].data.rows).toEqual([]);
    }
  });

  test('truncated is true from one row too many on, at any limit', { timeout: 600_000 }, async () => {
    for (const limit of [1, 999, 1_000, 1_001, 99_999, 100_000])
      for (const rows of [limit - 1, limit, limit + 1]) {
        const { body } = await read({ columns: 'n', filters: below(rows), limit });
        expect([body[0].data.rows.length, body[0].data.truncated, body[0].totalRows], `${rows} rows, limit ${limit}`).toEqual([
          Math.min(rows, limit),
          rows > limit,
          rows,
        ]);
      }
    const refused = await read({ columns: 'n', limit: 100_001 });
    expect(refused.status).toBe(400);
  });
});

/** Opens a read and leaves it after so long, without reading what comes. */
function abandon(query: Record<string, string>, accept: string, afterMs: number): Promise<void> {
  return new Promise((resolve) => {
    const search = new URLSearchParams({ tableName: 'long', ...query }).toString();
    const outgoing = request(`${site.server.baseUrl}${path}?${search}`, { headers: { 'x-api-key': site.cast.owner.apiKey, accept } });
    outgoing.once('response', (response) => response.pause());
    outgoing.once('error', () => undefined);
    outgoing.once('close', () => resolve());
    outgoing.end();
    setTimeout(() => outgoing.destroy(), afterMs);
  });
}

test(`${ABORTED} readers who leave free the engine within 500 ms`, { timeout: 600_000 }, async () => {
  const running = async () => (await detailsOf(site)).warehouse.running;
  const questions: { query: Record<string, string>; accept: string }[] = [
    { query: { limit: '100000' }, accept: 'application/json' },
    { query: {}, accept: 'text/csv' },
    { query: { orderBy: 'note', limit: '100000' }, accept: 'application/json' },
    {
      query: {
        aggregation: JSON.stringify({
          groupBy: [{ column: 'note' }],
          functions: [
            { column: 'measure', function: 'median' },
            { column: 'note', function: 'count_distinct' },
          ],
        }),
      },
      accept: 'application/json',
    },
  ];
  let caught = 0;
  const freed: number[] = [];
  for (let turn = 0; turn < ABORTED; turn += 1) {
    const { query, accept } = questions[turn % questions.length]!;
    await abandon(query, accept, 20 + ((turn * 13) % 120));
    const from = performance.now();
    if ((await running()) > 0) caught += 1;
    while ((await running()) > 0 && performance.now() - from < 5_000) await sleep(1);
    freed.push(performance.now() - from);
    expect(await running()).toBe(0);
  }
  freed.sort((a, b) => a - b);
  console.log(
    `${ABORTED} left, ${caught} of them while the engine ran; freed after at most ${freed.at(-1)?.toFixed(0)} ms, median ${freed[freed.length >> 1]?.toFixed(1)} ms`,
  );
  expect(caught).toBeGreaterThan(ABORTED / 4);
  expect(freed.at(-1)).toBeLessThan(500);
  expect((await detailsOf(site)).warehouse.waiting).toBe(0);
  const scratch = join(site.dataDir, 'tmp');
  const pipes = () =>
    readdirSync(scratch, { recursive: true })
      .map(String)
      // those below a folder of that name wait for their use
      .filter((name) => (name.endsWith('.pipe') && !name.includes('/pipes/')) || name.endsWith('.parquet'));
  for (let tries = 0; tries < 100 && pipes().length > 0; tries += 1) await sleep(20);
  expect(pipes()).toEqual([]);
  expect((await read({ columns: 'n', pageSize: 1 })).status).toBe(200);
});

interface Outcome {
  status: number;
  retryAfter: string | null;
  /** Milliseconds until the last byte. */
  total: number;
  /** Milliseconds from the start of the work until the last byte: without waiting for a share. */
  running: number;
}

const quantile = (values: readonly number[], share: number) => [...values].sort((a, b) => a - b)[Math.floor(share * values.length)] ?? NaN;

test(
  'at ten times the capacity some is accepted, the rest is told when to come back, and the next answer comes at once',
  { timeout: 600_000 },
  async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });
    // each asks what nobody has asked before, so that no answer is one that was kept
    let asked = 0;
    const search = () =>
      new URLSearchParams({
        tableName: 'long',
        filters: below(TABLE_ROWS - (asked += 1)),
        orderBy: 'measure',
        pageSize: '100',
      }).toString();
    const ask = (person: Person) =>
      new Promise<Outcome>((resolve, reject) => {
        const start = performance.now();
        const outgoing = request(
          `${site.server.baseUrl}${path}?${search()}`,
          { agent, headers: { 'x-api-key': person.apiKey } },
          (response) => {
            response.resume();
            response.once('end', () => {
              const total = performance.now() - start;
              const waited = Number(/wait;dur=([\d.]+)/.exec(String(response.headers['server-timing'] ?? ''))?.[1] ?? 0);
              resolve({
                status: response.statusCode ?? 0,
                retryAfter: response.headers['retry-after'] ?? null,
                total,
                running: total - waited,
              });
            });
          },
        );
        outgoing.once('error', reject);
        outgoing.end();
      });
    // at capacity: as many at once as may run or wait
    const held = (times: number) => people.flatMap((person) => Array.from({ length: times * (PER_CALLER + 32) }, () => ask(person)));
    const usual: number[] = [];
    for (let round = 0; round < Math.max(1, Math.round(3 * SCALE)); round += 1) {
      const answers = await Promise.all(held(1));
      usual.push(...answers.filter(({ status }) => status === 200).map(({ total }) => total));
    }
    const outcomes: Outcome[] = [];
    for (let round = 0; round < Math.max(1, Math.round(3 * SCALE)); round += 1) outcomes.push(...(await Promise.all(held(10))));
    const end = performance.now();
    const first = await ask(people[0]!);
    const recovered = performance.now() - end;
    const accepted = outcomes.filter(({ status }) => status === 200);
    const refused = outcomes.filter(({ status }) => status !== 200);
    console.log(
      `at capacity p95 ${quantile(usual, 0.95).toFixed(0)} ms; at ten times: ${accepted.length} accepted, running p95 ${quantile(
        accepted.map(({ running }) => running),
        0.95,
      ).toFixed(0)} ms, ` +
        `with their wait p95 ${quantile(
          accepted.map(({ total }) => total),
          0.95,
        ).toFixed(0)} ms; ${refused.length} refused after p95 ${quantile(
          refused.map(({ total }) => total),
          0.95,
        ).toFixed(0)} ms; the next answer ${recovered.toFixed(0)} ms later`,
    );
    expect(accepted.length).toBeGreaterThan(0);
    expect(
      quantile(
        accepted.map(({ total }) => total),
        0.95,
      ),
    ).toBeLessThan(2 * quantile(usual, 0.95));
    expect(refused.length).toBeGreaterThan(accepted.length);
    for (const { status, retryAfter } of refused) {
      expect([429, 503]).toContain(status);
      expect(Number(retryAfter)).toBeGreaterThan(0);
    }
    expect(first.status).toBe(200);
    expect(recovered).toBeLessThan(5_000);
    agent.destroy();
  },
);
