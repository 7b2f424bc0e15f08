import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { refuseCommits } from '../support/commits.ts';
import { dataFilesOf } from '../support/lake-files.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer({ MACRO_LANGUAGES: 'javascript' });
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

const minute = (n: number) => new Date(Date.UTC(2026, 4, 1, 10) + n * 60_000).toISOString();

/** An experiment with a macro that gives `x` of a measurement, and a table of it in which 0 and 1 are. */
async function begin() {
  const { body: experiment } = await owner('POST', '/api/v1/experiments', { body: { name: 'Failing' } });
  const { body: macro } = await owner('POST', '/api/v1/macros', {
    body: { name: 'X', language: 'javascript', code: 'return { x: json.x };' },
  });
  const experimentId = experiment.id as string;
  const macroId = macro.id as string;
  const send = (values: Record<number, number>) =>
    storeMessages(
      site.db,
      Object.entries(values).map(([at, x]) => {
        const message = { timestamp: minute(Number(at)), device_id: 'd', sample: { x }, macros: [{ id: macroId }] };
        return { experimentId, userId: site.cast.owner.id, body: Buffer.from(JSON.stringify(message)) };
      }),
    );
  const rows = async () =>
    (
      await owner('GET', `/api/v1/experiments/${experimentId}/data`, {
        query: { tableName: macroId, orderBy: 'timestamp', orderDirection: 'ASC' },
      })
    ).body[0].data.rows as Record<string, unknown>[];
  const work = () =>
    site.db.rows<{ tries: number; rows: number }>(
      sql('test')`select tries, cardinality(row_ids) as rows from macro_work where experiment_id = ${experimentId}`,
    );
  const settled = async () => {
    const waiting = async () =>
      (
        await site.db.one<{ left: number }>(sql('test')`
          select (select count(*) from messages where experiment_id = ${experimentId} and status = 'pending')
            + (select count(*) from macro_work where experiment_id = ${experimentId})
            + (select count(*) from macro_reprocesses where experiment_id = ${experimentId} and status <> 'completed') as left`)
      )?.left;
    await vi.waitUntil(async () => (await waiting()) === 0, { timeout: 90_000, interval: 100 });
  };
  const path = `/api/v1/experiments/${experimentId}/data/macros/${macroId}/reprocess`;
  const runs = async () => (await owner('GET', path)).body as object[];
  const run = async (to: string, body: object) => {
    expect((await owner('POST', to, { body })).status).toBe(201);
    await settled();
  };
  const runAgain = () => run(path, {});
  const runOnAll = () => run(`/api/v1/experiments/${experimentId}/macros/${macroId}/run`, { includeDelivered: true });
  await send({ 0: 0, 1: 1 });
  await settled();
  expect((await rows()).map(({ x }) => x)).toEqual([0, 1]);
  const table = await site.db.one<{ id: string }>(
    sql('test')`select id from lake_tables where experiment_id = ${experimentId} and kind = 'macro'`,
  );
  const damage = () => {
    const files = dataFilesOf(site.lakeFolder, table!.id).map((file) => ({ file, bytes: readFileSync(file) }));
    expect(files).not.toEqual([]);
    for (const { file, bytes } of files) writeFileSync(file, Buffer.from(bytes).fill(0xff, 4));
    return () => files.forEach(({ file, bytes }) => writeFileSync(file, bytes));
  };
  return { tableId: table!.id, send, rows, work, settled, runs, runAgain, runOnAll, damage };
}

describe.concurrent('results of a macro that cannot be stored', () => {
  test('are an error in the row of their measurement, those beside them are stored, and a run reads them again', async () => {
    const { send, rows, settled, runs, runAgain, damage } = await begin();
    const mend = damage();
    // numbers with decimals have the files of the table written anew, which these cannot be
    await send({ 10: 10, 11: 11.5, 12: 12 });
    await settled();
    const { body } = await (async () => ({ body: await runs() }))();
    expect(body).toEqual([]);
    mend();
    const made = await rows();
    expect(made.map(({ x }) => x)).toEqual([0, 1, 10, null, 12]);
    expect(made[3]!['macro_error']).toMatch(/could not be stored, in 5 tries/);
    await runAgain();
    expect((await rows()).map(({ x }) => x)).toEqual([0, 1, 10, 11.5, 12]);
  });

  test('at all are failed ones of a run that is listed, and a run reads them again', async () => {
    const { send, rows, settled, runs, runAgain, runOnAll, damage } = await begin();
    const mend = damage();
    // which file has rows of a measurement is looked up among those of its time, which cannot be read
    await send({ 0.5: 5 });
    await settled();
    const ended = (count: number) => ({ status: 'completed', totalRows: count, doneRows: count, failedRows: count });
    const note = expect.stringContaining('could not be stored');
    expect(await runs()).toMatchObject([{ ...ended(1), createdBy: null, note }]);
    await runOnAll();
    expect(await runs()).toMatchObject([
      { ...ended(3), createdBy: site.cast.owner.id, note },
      { ...ended(1), createdBy: null },
    ]);
    mend();
    await runAgain();
    expect((await rows()).map(({ x }) => x)).toEqual([0, 5, 1]);
    expect((await runs())[0]).toMatchObject({ totalRows: 3, failedRows: 0 });
    expect((await runs())[0]).not.toHaveProperty('note');
  });

  test('and a run whose measurements cannot be found ends and says so', async () => {
    const { rows, runs, runAgain, damage } = await begin();
    const mend = damage();
    await runAgain();
    expect(await runs()).toMatchObject([{ status: 'completed', totalRows: 0, note: expect.stringContaining('could not be found') }]);
    mend();
    await runAgain();
    expect((await runs())[0]).toMatchObject({ totalRows: 2, failedRows: 0 });
    expect((await rows()).map(({ x }) => x)).toEqual([0, 1]);
  });

  test('because the database is away wait for it, however often they are tried', async () => {
    const { tableId, send, rows, work, settled } = await begin();
    const back = await refuseCommits(site.database, tableId, '53300');
    await send({ 10: 10 });
    await vi.waitUntil(async () => (await work()).length === 1, { timeout: 20_000 });
    const seen: number[] = [];
    for (const end = performance.now() + 15_000; performance.now() < end; await new Promise((resolve) => setTimeout(resolve, 100)))
      seen.push(...(await work()).map(({ tries }) => tries));
    expect(new Set(seen)).toEqual(new Set([0, 1]));
    await back();
    await settled();
    expect((await rows()).map(({ x }) => x)).toEqual([0, 1, 10]);
  });
});
