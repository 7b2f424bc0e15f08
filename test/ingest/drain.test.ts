import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { drainMessages, MOST_TRIES, type Draining } from '../../src/ingest/messages/drain.ts';
import { listPending, storeMessages, type InboxMessage, type ReadMessage } from '../../src/ingest/messages/store.ts';
import { readPayload } from '../../src/ingest/messages/decode/payload.ts';
import { findTable } from '../../src/lakehouse/tables/manifest.queries.ts';
import { seedRandomTests } from '../support/random.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(seedRandomTests);
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const AT = '2026-05-01T10:00:00.250Z';
const keep = (experimentId: string, messages: readonly object[]) =>
  storeMessages(
    lake.db,
    messages.map((message) => ({
      experimentId,
      clientId: 'multispeq_1',
      body: Buffer.from(JSON.stringify({ timestamp: AT, ...message })),
    })),
  );
const take = (message: InboxMessage): ReadMessage => ({
  id: message.id,
  arrival: message,
  decoded: readPayload(message.body ?? Buffer.alloc(0)),
});
const read: Draining['read'] = (pending) => Promise.resolve(pending.map(take));

/** Of every row its id and the sample's number. */
async function rowsOf(experimentId: string): Promise<{ id: string; n: number }[]> {
  const table = await findTable(lake.db, experimentId, 'raw_data');
  const rows = table ? await lake.rows(table.id) : [];
  return rows.map((row) => ({ id: String(row['id']), n: (JSON.parse(String(row['data'])) as { n: number }).n }));
}
const states = (experimentId: string) =>
  lake.db.rows<{ status: string; count: number; stored: number; there: number }>(
    sql('test')`select status, count(*)::integer as count, sum(stored)::integer as stored, sum(already_there)::integer as there
      from messages where experiment_id = ${experimentId} group by 1 order by 1`,
  );

const triesOf = async (experimentId: string) =>
  (
    await lake.db.rows<{ tries: number }>(sql('test')`select tries from messages where experiment_id = ${experimentId} order by ordinal`)
  ).map(({ tries }) => tries);
const rangesOf = (experimentId: string) =>
  lake.db.rows(sql('test')`select first_ordinal, last_ordinal from message_tries where experiment_id = ${experimentId}`);

test('bytes of every kind come out of the inbox as they went in', async () => {
  const experimentId = randomUUID();
  const kinds = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ unit: 'binary', maxLength: 100 }).map((text) => Buffer.from(text)),
    fc.json().map((text) => Buffer.from(text)),
    fc.constantFrom('', '\\', '\\000', '\\\\', '{"a":"\\""}', '\u0000', '{}\n', 'é', '\u007f').map((text) => Buffer.from(text)),
  );
  const bodies = fc.sample(kinds, 300).map((each) => Buffer.from(each));
  await storeMessages(
    lake.db,
    bodies.map((body, n) => ({ experimentId, clientId: `sender_${n}`, body })),
  );
  const listed = await listPending(lake.db, experimentId, { messages: 1_000, bytes: 1_000_000 });
  expect(new Map(listed.map(({ clientId, body }) => [clientId, body?.toString('hex')]))).toEqual(
    new Map(bodies.map((body, n) => [`sender_${n}`, body.toString('hex')])),
  );
});

test('of what waits the oldest is listed, from a place on, as much as begins within so many bytes, and nothing of another experiment', async () => {
  const [experimentId, ...others] = Array.from({ length: 5 }, () => randomUUID()) as [string, ...string[]];
  for (let n = 0; n < 20; n += 1)
    for (const each of [experimentId, ...others])
      await storeMessages(lake.db, [
        { experimentId: each, clientId: n % 3 === 0 ? null : `sender_${n}`, body: Buffer.alloc(100, String(n)) },
      ]);
  const all = await listPending(lake.db, experimentId, { messages: 100, bytes: 10_000 });
  expect(all.map(({ clientId }) => clientId)).toEqual(Array.from({ length: 20 }, (_, n) => (n % 3 === 0 ? null : `sender_${n}`)));
  const arrived = await lake.db.rows<{ at: Date }>(
    sql('test')`select arrived_at as at from messages where experiment_id = ${experimentId} order by ordinal`,
  );
  expect(all.map(({ arrivedAt }) => arrivedAt)).toEqual(arrived.map(({ at }) => at));
  const listed = async (messages: number, bytes: number, after = 0) =>
    (await listPending(lake.db, experimentId, { messages, bytes, after })).map(({ ordinal }) => ordinal);
  const ordinals = all.map(({ ordinal }) => ordinal);
  expect(await listed(7, 10_000)).toEqual(ordinals.slice(0, 7));
  expect(await listed(7, 10_000, ordinals[15])).toEqual(ordinals.slice(16));
  for (const [bytes, count] of [
    [1, 1],
    [100, 1],
    [101, 2],
    [250, 3],
    [2_000, 20],
  ] as const)
    expect(await listed(100, bytes), String(bytes)).toEqual(ordinals.slice(0, count));
  expect(await listed(100, 10_000, ordinals[19])).toEqual([]);
});

test('a try is counted before it is made, of every message of the batch, and forgotten when none of them waits', async () => {
  const experimentId = randomUUID();
  await keep(
    experimentId,
    Array.from({ length: 10 }, (_, n) => ({ id: `m-${n}`, sample: { n } })),
  );
  const seen: number[][] = [];
  const failing: Draining['read'] = async () => {
    seen.push(await triesOf(experimentId));
    throw new Error('none can be read');
  };
  await expect(drainMessages(lake.deps, experimentId, { read: failing, most: 4 })).rejects.toThrow('none can be read');
  await expect(drainMessages(lake.deps, experimentId, { read: failing, most: 6 })).rejects.toThrow('none can be read');
  expect(seen).toEqual([
    [1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
    [2, 2, 2, 2, 1, 1, 0, 0, 0, 0],
  ]);
  expect(await rangesOf(experimentId)).toHaveLength(2);
  await drainMessages(lake.deps, experimentId, { read, most: 4 });
  expect(await states(experimentId)).toEqual([{ status: 'stored', count: 10, stored: 10, there: 0 }]);
  expect(await rangesOf(experimentId)).toEqual([]);
});

test('many batches, one written while the one before is committed, store every message once', async () => {
  const experimentId = randomUUID();
  // every tenth comes a second time, in another envelope, in one of the next batches
  await keep(
    experimentId,
    Array.from({ length: 200 }, (_, n) =>
      n % 10 === 9 ? { id: `m-${n - 9}`, again: n, sample: { n: n - 9 } } : { id: `m-${n}`, sample: { n } },
    ),
  );
  let reported = 0;
  await drainMessages(lake.deps, experimentId, { read, most: 12, onReports: (reports) => (reported += reports.length) });
  const rows = await rowsOf(experimentId);
  expect(rows.map(({ n }) => n).sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n).filter((n) => n % 10 !== 9));
  expect(reported).toBe(200);
  expect(await states(experimentId)).toEqual([{ status: 'stored', count: 200, stored: 180, there: 20 }]);
  const device = await findTable(lake.db, experimentId, 'device');
  expect((await lake.rows(device!.id)).map((row) => Number(row['total_measurements']))).toEqual([180]);
});

test('batches of an experiment without tables agree on them: each is written once, and beside another who makes them nothing is lost', async () => {
  const [alone, contested] = [randomUUID(), randomUUID()];
  for (const each of [alone, contested])
    await keep(
      each,
      Array.from({ length: 60 }, (_, n) => ({ id: `m-${n}`, device_id: `d-${n % 2}`, sample: { n } })),
    );
  let written = 0;
  const session: typeof lake.deps.staging.session = (options) => {
    written += 1;
    return lake.deps.staging.session(options);
  };
  await drainMessages({ ...lake.deps, staging: { ...lake.deps.staging, session } }, alone, { read, most: 10 });
  expect(written).toBe(6);
  await Promise.all([1, 2].map(() => drainMessages(lake.deps, contested, { read, most: 10 })));
  for (const each of [alone, contested]) {
    expect((await rowsOf(each)).map(({ n }) => n).sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
    expect(await states(each)).toEqual([{ status: 'stored', count: 60, stored: 60, there: 0 }]);
    const device = await findTable(lake.db, each, 'device');
    expect((await lake.rows(device!.id)).map((row) => Number(row['total_measurements']))).toEqual([30, 30]);
  }
});

test('a message that fails every time is closed in on and set aside, and every other one is stored', async () => {
  const experimentId = randomUUID();
  await keep(
    experimentId,
    Array.from({ length: 100 }, (_, n) => ({ id: `m-${n}`, sample: { n } })),
  );
  const sizes: number[] = [];
  const failing: Draining['read'] = async (pending) => {
    sizes.push(pending.length);
    return pending.map((message) => {
      if (message.tries >= MOST_TRIES)
        return { id: message.id, arrival: message, decoded: [{ kind: 'refusal', index: null, reason: 'processing-failed' }] };
      if (message.body?.includes('"m-63"') === true) throw new Error('this one cannot be read');
      return take(message);
    });
  };
  let failures = 0;
  for (let done = false; !done && failures < 50;)
    done = await drainMessages(lake.deps, experimentId, { read: failing, most: 40 }).then(
      () => true,
      () => {
        failures += 1;
        return false;
      },
    );
  expect(failures).toBe(MOST_TRIES);
  // what came before its batch is stored by the first try, and what came after it in a batch as ever
  expect(sizes.filter((size) => size > 2)).toEqual([40, 40, 40, 18]);
  expect((await rowsOf(experimentId)).map(({ n }) => n).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 100 }, (_, n) => n).filter((n) => n !== 63),
  );
  expect(await states(experimentId)).toEqual([
    { status: 'quarantined', count: 1, stored: 0, there: 0 },
    { status: 'stored', count: 99, stored: 99, there: 0 },
  ]);
});

test('messages that are left out of a batch are asked for again, a few at a time, and nothing counts as their try', async () => {
  const experimentId = randomUUID();
  await keep(
    experimentId,
    Array.from({ length: 60 }, (_, n) => ({ id: `m-${n}`, sample: { n } })),
  );
  const asked: number[] = [];
  const tries = new Set<number>();
  const few: Draining['read'] = (pending) => {
    asked.push(pending.length);
    for (const message of pending) tries.add(message.tries);
    return Promise.resolve(pending.slice(0, 3).map(take));
  };
  await drainMessages(lake.deps, experimentId, { read: few, most: 40 });
  expect((await rowsOf(experimentId)).map(({ n }) => n).sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
  expect([...tries]).toEqual([0]);
  expect(asked.slice(0, 4)).toEqual([40, 6, 6, 6]);
  expect(await rangesOf(experimentId)).toEqual([]);
});

test('when its turn is over what was begun is stored, the rest is left, and nothing counts as its try', async () => {
  const experimentId = randomUUID();
  await keep(
    experimentId,
    Array.from({ length: 100 }, (_, n) => ({ id: `m-${n}`, sample: { n } })),
  );
  const turn = () => drainMessages(lake.deps, experimentId, { read, most: 40, turnMs: 0 });
  expect(await turn()).toBe(false);
  expect(await rowsOf(experimentId)).toHaveLength(40);
  expect(await rangesOf(experimentId)).toEqual([]);
  let turns = 1;
  for (; turns < 20 && !(await turn()); turns += 1);
  expect(turns).toBe(3);
  expect((await rowsOf(experimentId)).map(({ n }) => n).sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n));
});
