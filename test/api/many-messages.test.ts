import { expect, test } from 'vitest';
import { makeIngestion } from '../../src/api/messages/messages.job.ts';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { startTestServer } from '../support/server.ts';

const MANY = 40_000;
const AT_ONCE = 1_000;

test('an experiment for which very many messages wait gives way to the others', async () => {
  const site = await startTestServer({ MACRO_LANGUAGES: 'none', WORKER: 'off' });
  try {
    const owner = site.as(site.cast.owner);
    const make = async (name: string) => String((await owner('POST', '/api/v1/experiments', { body: { name } })).body.id);
    const [many, few] = [await make('Many'), await make('Few')];
    const send = (experimentId: string, from: number, count: number) => {
      const bodies = Array.from({ length: count }, (_, at) => {
        const timestamp = new Date(Date.UTC(2026, 4, 1) + (from + at) * 1_000).toISOString();
        return Buffer.from(JSON.stringify({ timestamp, device_id: 'd', sample: { n: from + at } }));
      });
      return storeMessages(
        site.db,
        bodies.map((body) => ({ experimentId, userId: site.cast.owner.id, body })),
      );
    };
    for (let from = 0; from < MANY; from += AT_ONCE) await send(many, from, AT_ONCE);
    await send(few, 0, 1);
    const waiting = async (experimentId: string) =>
      (await site.db.one<{ count: number }>(sql('test')`
        select count(*)::integer as count from messages where experiment_id = ${experimentId} and status = 'pending'`))!.count;

    const ingest = makeIngestion(await site.context(), () => undefined, 1)(AbortSignal.timeout(90_000));
    await expect.poll(() => waiting(few), { timeout: 60_000, interval: 20 }).toBe(0);
    expect(await waiting(many)).toBeGreaterThan(0);
    await ingest;
    expect(await waiting(many)).toBe(0);
  } finally {
    await site.stop();
  }
});
