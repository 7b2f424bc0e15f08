import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { giveTurn, insertUpload, lockTurnsOf } from '../../src/api/uploads/uploads.queries.ts';
import { sql } from '../../src/database/sql.ts';
import { startUpload } from '../../src/ingest/uploads/uploads.queries.ts';
import { createTable } from '../../src/lakehouse/tables/manifest.ts';
import { seedRandomTests } from '../support/random.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
seedRandomTests();
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

const makeExperiment = async (call: Call): Promise<string> =>
  (await call('POST', '/api/v1/experiments', { body: { name: 'Turns' } })).body.id as string;

/** Wide enough that an upload takes longer to read than to send. */
const WIDE = Array.from({ length: 60 }, (_row, row) =>
  Array.from({ length: 200 }, (_cell, cell) => (row === 0 ? `c${cell}` : row * cell)).join(','),
).join('\n');

async function send(call: Call, experimentId: string, name: string): Promise<string> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: name })) form.append(field, value);
  form.append('files', new Blob([WIDE]), 'wide.csv');
  const sent = await call('POST', `/api/v1/experiments/${experimentId}/data/uploads`, { body: form });
  expect(sent.status, sent.text).toBe(201);
  return sent.body.uploadId as string;
}

test('one upload of somebody goes before the many that another has waiting', async () => {
  const [owner, stranger] = [site.as(site.cast.owner), site.as(site.cast.stranger)];
  const [many, one] = [await makeExperiment(owner), await makeExperiment(stranger)];
  await Promise.all(Array.from({ length: 16 }, (_upload, at) => send(owner, many, `wide_${at}`)));
  const uploadId = await send(stranger, one, 'mine');
  const read = () =>
    site.db.rows<{ id: string; isBehind: boolean }>(sql('test')`
      select id, completed_at > (select received_at from uploads where id = ${uploadId}) as "isBehind"
      from uploads where status = 'completed' order by completed_at`);
  await expect.poll(read, { timeout: 60_000 }).toHaveLength(17);
  const before = (await read()).filter(({ isBehind }) => isBehind).findIndex(({ id }) => id === uploadId);
  // those that were being read, and one that came at its time
  expect(before).toBeLessThan(6);
});

test('whoever has uploads waiting gets as many turns as anybody else', async () => {
  const people = [site.cast.owner, site.cast.stranger, site.cast.member];
  const experimentId = await makeExperiment(site.as(site.cast.owner));
  const { id: tableId } = await createTable(site.db, { experimentId, kind: 'upload', name: 'turns', createdBy: site.cast.owner.id });
  const moves = fc.array(fc.constantFrom('serve', 'serve', 'serve', 0, 0, 0, 1, 1, 2), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(moves, async (made) => {
      await site.db.run(sql('test')`delete from uploads`);
      let waiting: { id: string; person: number; turn: number }[] = [];
      /** How often each was served since the person last had nothing waiting, by that person. */
      const served = people.map(() => people.map(() => 0));
      for (const move of made) {
        if (move !== 'serve') {
          const id = randomUUID();
          const createdBy = people[Number(move)]!.id;
          await insertUpload(site.db, { id, experimentId, tableId, sourceKind: 'csv', createdBy, reading: {} });
          const given = await site.db.transaction(async (tx) => {
            await lockTurnsOf(tx, id);
            return giveTurn(tx, id);
          });
          if (!waiting.some(({ person }) => person === move)) served[Number(move)] = people.map(() => 0);
          waiting.push({ id, person: move as number, turn: given!.turn });
          continue;
        }
        const next = waiting.toSorted((a, b) => a.turn - b.turn)[0];
        if (!next) continue;
        await startUpload(site.db, next.id);
        for (const counts of served) counts[next.person]! += 1;
        waiting = waiting.filter(({ id }) => id !== next.id);
        for (const { person } of waiting)
          for (const count of served[person] ?? []) expect(count - served[person]![person]!).toBeLessThanOrEqual(2);
      }
    }),
    { numRuns: 40 },
  );
});
