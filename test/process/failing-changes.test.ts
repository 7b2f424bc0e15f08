import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { carryOut } from '../../src/api/tables/columns.service.ts';
import { insertColumnChange } from '../../src/api/tables/tables.queries.ts';
import { refuseCommits } from '../support/commits.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

test('a change of a column fails in the end, but not because the database is away or its process ends', async () => {
  const context = await site.context();
  const { body: experiment } = await owner('POST', '/api/v1/experiments', { body: { name: 'Changes' } });
  const make = async (name: string) => {
    const tableId = await uploadTable(owner, experiment.id, name, 'n,x\n1,a\n');
    // no job of the server's own knows of it
    const row = { id: randomUUID(), experimentId: experiment.id as string, uploadTableId: tableId, column: 'x', name: 'y', type: null };
    await site.db.transaction((tx) => insertColumnChange(tx, { ...row, reading: {}, createdBy: site.cast.owner.id }));
    const shown = async () =>
      (await owner('GET', `/api/v1/experiments/${experiment.id}/data/tables/${tableId}/column-changes/${row.id}`)).body as object;
    return { tableId, shown, run: (signal = AbortSignal.timeout(30_000)) => carryOut(context, row.id, signal) };
  };
  const plain = await make('plain');
  await plain.run();
  expect(await plain.shown()).toMatchObject({ status: 'completed' });

  const wrong = await make('wrong');
  const mend = await refuseCommits(site.database, wrong.tableId, 'XX000');
  for (let tries = 1; tries < 8; tries += 1) await expect(wrong.run()).rejects.toThrow();
  await wrong.run();
  expect(await wrong.shown()).toMatchObject({ status: 'failed', errorMessage: expect.stringContaining('could not be changed') });
  await mend();

  const away = await make('away');
  const back = await refuseCommits(site.database, away.tableId, '53300');
  for (let tries = 1; tries <= 10; tries += 1) await expect(away.run()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  expect(await away.shown()).toMatchObject({ status: 'running' });
  await back();
  // nor does the end of its process count
  for (let tries = 1; tries <= 10; tries += 1) await expect(away.run(AbortSignal.abort())).rejects.toThrow();
  await away.run();
  expect(await away.shown()).toMatchObject({ status: 'completed' });
});
