import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadLineage } from '../../src/api/data/lineage.service.ts';
import { openTable } from '../../src/authorization/tables.ts';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { eventually } from '../support/crashes.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let test$: TestServer;
let owner: Call;
let experimentId: string;
let macroId: string;
let messageId: string;
beforeAll(async () => {
  test$ = await startTestServer({ MACRO_LANGUAGES: 'javascript' });
  owner = test$.as(test$.cast.owner);
  const { db } = test$;
  experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Lineage', organizationId: test$.cast.leafLab } })).body.id;
  macroId = (
    await owner('POST', '/api/v1/macros', {
      body: { name: 'twice', language: 'javascript', code: 'return { n: json.n * 2 };', organizationId: test$.cast.leafLab },
    })
  ).body.id;
  const message = { timestamp: '2026-05-01T10:00:00Z', device_id: 'd', sample: [{ n: 1 }, { n: 2 }], macros: [{ id: macroId }] };
  [messageId = ''] = await storeMessages(db, [
    { experimentId, clientId: 'multispeq_1', userId: test$.cast.owner.id, body: Buffer.from(JSON.stringify(message)) },
  ]);
  const left = () =>
    db.one<{ left: number }>(
      sql('test')`select (select count(*) from messages where status = 'pending') + (select count(*) from macro_work) as left`,
    );
  expect((await eventually(left, (row) => row?.left === 0, 60_000))?.left).toBe(0);
});
afterAll(() => test$.stop());

const rowsOf = async (tableName: string) =>
  (await owner('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName } })).body[0].data.rows as { id: string }[];
const ask = (row: string, tableName: string, as = owner) =>
  as('GET', `/api/v1/experiments/${experimentId}/data/rows/${row}/lineage`, { query: { tableName } });

describe('GET /api/v1/experiments/{id}/data/rows/{row}/lineage', () => {
  test('GET /api/v1/experiments/{id}/data/rows/{row}/lineage', async () => {
    const rows = await rowsOf('raw_data');
    expect(rows).toHaveLength(2);
    const answers = await Promise.all(rows.map(({ id }) => ask(id, 'raw_data')));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toMatchObject({
        tableName: 'raw_data',
        macro: null,
        tableVersion: 1,
        pipelineVersion: expect.stringMatching(/^[0-9a-f]{12}$/),
      });
      expect(body.source).toMatchObject({ kind: 'message', id: messageId, objectKey: null, path: null });
      expect(Date.parse(body.processedAt)).toBeGreaterThanOrEqual(Date.parse(body.arrivedAt));
    }
    expect(answers.map(({ body }) => body.source.position).sort()).toEqual([0, 1]);

    const [made] = await rowsOf(macroId);
    const { body } = await ask(made!.id, macroId);
    expect(body).toMatchObject({ tableName: macroId, source: { id: messageId }, macro: { id: macroId, name: 'twice', version: '1' } });
    expect(rows.map(({ id }) => id)).toContain(body.macro.rawId);
    expect(Date.parse(body.processedAt)).toBeGreaterThanOrEqual(Date.parse(body.arrivedAt));

    const [device] = await rowsOf('device');
    expect((await ask(device!.id, 'device')).body).toMatchObject({ source: null, macro: null, pipelineVersion: null });
  });

  test('names the file and record of an uploaded row', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: 'plots' })) form.append(name, value);
    form.append('files', new Blob(['a,b\n1,2\n3,4\n']), 'plots.csv');
    const sent = await owner('POST', `/api/v1/experiments/${experimentId}/data/uploads`, { body: form });
    expect(sent.status).toBe(201);
    const rows = await eventually(
      () => rowsOf('plots').catch(() => []),
      (all) => all.length === 2,
      20_000,
    );
    const answers = await Promise.all(rows.map(({ id }) => ask(id, 'plots')));
    expect(answers.map(({ body }) => body.source)).toEqual(
      expect.arrayContaining([
        {
          kind: 'upload',
          id: sent.body.uploadId,
          objectKey: expect.any(String),
          path: 'plots.csv',
          byteCount: 12,
          position: expect.any(Number),
        },
      ]),
    );
    expect(new Set(answers.map(({ body }) => body.source.position)).size).toBe(2);
  });

  test('is for who may read the table; a reader of macro rows is not told what they came in', async () => {
    const { cast } = test$;
    const [raw] = await rowsOf('raw_data');
    const [made] = await rowsOf(macroId);
    const reader = test$.as(cast.stranger);
    expect((await ask(made!.id, macroId, reader)).status).toBe(403);
    expect((await owner('PATCH', `/api/v1/experiments/${experimentId}/visibility`, { body: { visibility: 'public' } })).status).toBe(200);
    const seen = await ask(made!.id, macroId, reader);
    expect(seen).toMatchObject({ status: 200, body: { source: null, macro: { id: macroId, name: null, version: '1' } } });
    expect((await ask(raw!.id, 'raw_data', reader)).status).toBe(403);
    expect((await ask(raw!.id, 'raw_data', test$.as(null))).status).toBe(401);
    expect(await ask('0'.repeat(32), 'raw_data')).toMatchObject({ status: 404, body: { code: 'ROWS_NOT_FOUND' } });
    expect(await ask("x' or 1=1 --", 'raw_data')).toMatchObject({ status: 404, body: { code: 'ROWS_NOT_FOUND' } });
    expect(await ask(raw!.id, 'nothing')).toMatchObject({ status: 404, body: { code: 'TABLE_NOT_FOUND' } });
  });

  test('fails when it cannot be found out who may read the measurements, and does not take that for a refusal', async () => {
    const [ctx, owner$] = [await test$.context(), test$.cast.owner.id];
    const table = await openTable(ctx.db, owner$, experimentId, macroId);
    const [made] = await rowsOf(macroId);
    const load = () => loadLineage(ctx, owner$, table, made!.id);
    expect(await load()).toMatchObject({ source: { id: messageId } });
    const admin = new pg.Client({ connectionString: test$.database.url });
    await admin.connect();
    // what decides about tables is away, and nothing else
    await admin.query('alter function table_action(text) rename to table_action_away');
    try {
      await expect(load()).rejects.toThrow();
    } finally {
      await admin.query('alter function table_action_away(text) rename to table_action');
      await admin.end();
    }
    expect(await load()).toMatchObject({ source: { id: messageId } });
  });
});
