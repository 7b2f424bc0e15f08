import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { insertExport } from '../../src/api/exports/exports.queries.ts';
import { writeExport } from '../../src/api/exports/writing.service.ts';
import { errors } from '../../src/errors.ts';
import { isAround } from '../../src/ingest/around.ts';
import { refuseCompletion } from '../support/commits.ts';
import { startTestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

test('a query that takes too long says something of what is read, and a database that does nothing', () => {
  expect([errors.databaseTimeout(), errors.databaseUnavailable(), errors.storageFull(), errors.objectsUnavailable()].every(isAround)).toBe(
    true,
  );
  expect(isAround(errors.warehouseTimeout())).toBe(false);
});

test('an export fails in the end, but not because the database is away or its process ends', async () => {
  const site = await startTestServer();
  try {
    const owner = site.as(site.cast.owner);
    const context = await site.context();
    const { body: experiment } = await owner('POST', '/api/v1/experiments', { body: { name: 'Exports' } });
    const tableIdentifier = await uploadTable(owner, experiment.id, 'plain', 'n,x\n1,a\n');
    const make = async () => {
      const id = randomUUID();
      const about = { experimentId: experiment.id as string, tableIdentifier, tableName: tableIdentifier, createdBy: site.cast.owner.id };
      const how = { tableVersion: 1, format: 'csv' as const, query: {}, raw: false, names: 'real' as const };
      // no job of the server's own knows of it
      await site.db.transaction((tx) => insertExport(tx, { id, ...about, ...how }));
      const shown = async () => (await owner('GET', `/api/v1/experiments/${experiment.id}/data/exports/${id}/status`)).body as object;
      return { id, shown, run: (signal = AbortSignal.timeout(30_000)) => writeExport(context, id, signal) };
    };
    const plain = await make();
    await plain.run();
    expect(await plain.shown()).toMatchObject({ status: 'completed' });

    const wrong = await make();
    await refuseCompletion(site.database, wrong.id, 'XX000');
    for (let tries = 1; tries < 5; tries += 1) await expect(wrong.run()).rejects.toThrow();
    await wrong.run();
    expect(await wrong.shown()).toMatchObject({ status: 'failed', errorMessage: expect.stringContaining('several attempts') });

    const away = await make();
    const back = await refuseCompletion(site.database, away.id, '53300');
    for (let tries = 1; tries <= 7; tries += 1) await expect(away.run()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(await away.shown()).toMatchObject({ status: 'queued' });
    await back();
    for (let tries = 1; tries <= 7; tries += 1) await expect(away.run(AbortSignal.abort())).rejects.toThrow();
    await away.run();
    expect(await away.shown()).toMatchObject({ status: 'completed' });
  } finally {
    await site.stop();
  }
});
