import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { countWaiting } from '../support/waiting.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

const experiment = async (name: string) =>
  (await owner('POST', '/api/v1/experiments', { body: { name, organizationId: site.cast.leafLab } })).body.id as string;
const send = (experimentId: string, clientId: string, ...payloads: unknown[]) =>
  storeMessages(
    site.db,
    payloads.map((payload) => ({
      experimentId,
      clientId,
      body: Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)),
    })),
  );
interface Listed {
  identifier: string;
  totalRows: number;
  setAside?: { reason: string; clientId: string | null; count: number; firstAt: string; lastAt: string }[];
}
const listed = async (id: string, as: Call = owner) =>
  ((await as('GET', `/api/v1/experiments/${id}/tables`)).body as Listed[]).find(({ identifier }) => identifier === 'raw_data')!;
const timed = (minute: number, more: object = {}) => ({ timestamp: `2026-05-01T10:0${minute}:00Z`, sample: { minute }, ...more });

test('an experiment tells what arrived and did not become rows: why, from which device, how many and when', async () => {
  const id = await experiment('Field');
  await send(id, 'multispeq_1', timed(1));
  await expect.poll(async () => (await listed(id)).totalRows).toBe(1);
  expect((await listed(id)).setAside).toBeUndefined();

  const began = Date.now();
  await send(id, 'multispeq_1', { sample: { n: 1 } }, [timed(2), { sample: { n: 2 } }, { sample: { n: 3 } }], timed(3));
  await send(id, 'ambyte_2', 'no JSON', timed(4, { sample: 'no JSON' }));
  await expect.poll(async () => (await listed(id)).totalRows).toBe(3);
  const moments = { firstAt: expect.any(String), lastAt: expect.any(String) };
  await expect
    .poll(async () => (await listed(id)).setAside)
    .toEqual([
      { reason: 'timestamp-missing', clientId: 'multispeq_1', count: 3, ...moments },
      { reason: 'json-invalid', clientId: 'ambyte_2', count: 1, ...moments },
      { reason: 'sample-invalid', clientId: 'ambyte_2', count: 1, ...moments },
    ]);
  const { firstAt, lastAt } = (await listed(id)).setAside![0]!;
  expect(Date.parse(firstAt)).toBeGreaterThanOrEqual(began - 1_000);
  expect(Date.parse(lastAt)).toBeLessThanOrEqual(Date.now() + 1_000);
});

test('a message that asks one question again and again is set aside, and the next one becomes a row', async () => {
  const id = await experiment('Repeated');
  const body = gzipSync(JSON.stringify(timed(1, { questions: Array.from({ length: 200_000 }, () => ({})) })));
  await storeMessages(site.db, [{ experimentId: id, clientId: 'multispeq_1', body }]);
  await send(id, 'multispeq_1', timed(2));
  await expect.poll(async () => (await listed(id)).totalRows, { timeout: 30_000 }).toBe(1);
  expect((await listed(id)).setAside).toMatchObject([{ reason: 'too-many-questions', clientId: 'multispeq_1', count: 1 }]);
});

test('what arrives for an archived experiment is told until the rows come', async () => {
  const id = await experiment('Closed');
  const become = async (status: string) =>
    expect((await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status } })).status).toBe(200);
  await become('archived');
  await send(id, 'multispeq_1', timed(1));
  await expect.poll(async () => (await listed(id)).setAside).toMatchObject([{ reason: 'archived', clientId: 'multispeq_1', count: 1 }]);
  await become('active');
  await expect.poll(async () => (await listed(id)).totalRows).toBe(1);
  await expect.poll(async () => (await listed(id)).setAside).toBeUndefined();
});

test('only who may read the measurements is told', async () => {
  const id = await experiment('Public');
  await send(id, 'multispeq_1', { sample: {} });
  await expect.poll(async () => (await listed(id)).setAside).toMatchObject([{ count: 1 }]);
  expect((await owner('PATCH', `/api/v1/experiments/${id}/visibility`, { body: { visibility: 'public' } })).status).toBe(200);
  const viewer = site.as(site.cast.viewer);
  expect(await listed(id, viewer)).toMatchObject({ canRead: false });
  expect((await listed(id, viewer)).setAside).toBeUndefined();
  await grant(site.db, { id, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
  expect((await listed(id, viewer)).setAside).toMatchObject([{ count: 1 }]);
});

test('a message that is being set aside while its experiment is made active again becomes a row', async () => {
  const id = await experiment('Archived for a moment');
  const become = async (status: string) => (await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status } })).status;
  expect(await become('archived')).toBe(200);
  let activated: Promise<number> | undefined;
  await site.db.transaction(async (tx) => {
    await site.db.transaction(async (other) => {
      // whoever turns messages into rows notes the try before it looks at the experiment, and waits for this
      await other.run(sql('test')`lock table message_tries in share mode`);
      await send(id, 'multispeq_1', timed(1));
      await expect.poll(() => countWaiting(site.db, 'table')).toBe(1);
      await tx.run(sql('test')`select from pending_messages where experiment_id = ${id} for update`);
    });
    // now the experiment was seen to be archived, and the message is about to be set aside
    await expect.poll(() => countWaiting(site.db, 'row')).toBe(1);
    let isAnswered = false;
    activated = become('active').finally(() => (isAnswered = true));
    await expect.poll(async () => isAnswered || (await countWaiting(site.db, 'row')) === 2).toBe(true);
  });
  expect(await activated).toBe(200);
  await expect.poll(async () => (await listed(id)).totalRows).toBe(1);
  expect((await listed(id)).setAside).toBeUndefined();
});
