import { randomUUID } from 'node:crypto';
import { truncateSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { loadLakeStatus } from '../../src/operator/lake.service.ts';
import { makeCast } from '../support/cast.ts';
import { runCommand } from '../support/command.ts';
import { eventually } from '../support/crashes.ts';
import { cloneDatabase } from '../support/database.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

test('lake status names the experiments whose messages wait, those that wait longest first', async () => {
  const clone = await cloneDatabase();
  try {
    const { owner: person, leafLab } = await makeCast(clone.db);
    const [late, early] = [randomUUID(), randomUUID()];
    for (const [id, name] of [
      [late, 'Late'],
      [early, 'Early'],
    ])
      await clone.db.run(sql('test')`
        insert into resources (id, type, organization_id, name, created_by) values (${id}, 'experiment', ${leafLab}, ${name}, ${person.id})`);
    expect((await loadLakeStatus(clone)).waiting).toMatchObject({ pendingMessages: 0, experiments: [] });
    for (const id of [early, late, late])
      await storeMessages(clone.db, [
        { experimentId: id, clientId: 'multispeq_1', body: Buffer.from(JSON.stringify({ n: randomUUID() })) },
      ]);
    const { waiting } = await loadLakeStatus(clone);
    expect(waiting).toMatchObject({
      pendingMessages: 3,
      experiments: [
        { experimentId: early, experimentName: 'Early', pendingMessages: 1 },
        { experimentId: late, experimentName: 'Late', pendingMessages: 2 },
      ],
    });
  } finally {
    await clone.drop();
  }
});

let test$: TestServer;
let owner: Call;
let experimentId: string;
beforeAll(async () => {
  test$ = await startTestServer();
  owner = test$.as(test$.cast.owner);
  experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Lake', organizationId: test$.cast.leafLab } })).body.id;
});
afterAll(() => test$.stop());

const lake = (...args: string[]) => runCommand({ url: test$.database.url, dataDir: test$.dataDir }, 'lake', ...args);

async function send(messages: readonly (object | string)[]): Promise<void> {
  const { db } = test$;
  await storeMessages(
    db,
    messages.map((message) => ({
      experimentId,
      clientId: 'multispeq_1',
      body: Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)),
    })),
  );
  const left = () => db.one<{ left: number }>(sql('test')`select count(*) as left from messages where status = 'pending'`);
  expect((await eventually(left, (row) => row?.left === 0, 60_000))?.left).toBe(0);
}

const read = async () =>
  (
    await owner('GET', `/api/v1/experiments/${experimentId}/data`, {
      query: { tableName: 'raw_data', orderBy: 'timestamp', orderDirection: 'ASC', pageSize: 100, page: 1 },
    })
  ).body[0].data.rows as Record<string, unknown>[];
const metrics = async () => (await fetch(`${test$.server.adminUrl}/metrics`)).text();
const at = (n: number) => new Date(Date.UTC(2026, 4, 1, 10, n)).toISOString();

test('npm run lake -- status, compact, verify and replay beside a running service', async () => {
  for (let n = 0; n < 4; n += 1)
    await send([
      { timestamp: at(n), sample: [{ n }, { n: n + 0.5 }], device_id: 'd', questions: [{ question_label: 'q', question_answer: 'a' }] },
    ]);
  await send(['{"timestamp":', { sample: {} }]);

  const status = await lake('status');
  expect(status.code, status.problem).toBe(0);
  expect(status.json.waiting).toMatchObject({ pendingMessages: 0, messageLag: 0, pendingMacroRows: 0 });
  expect(status.json.tables).toEqual(
    expect.arrayContaining([expect.objectContaining({ kind: 'raw_data', tables: 1, rows: 8, files: 4, smallFiles: 4 })]),
  );
  expect(status.json.messages).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ status: 'stored', messages: 4, stored: 8 }),
      expect.objectContaining({ status: 'quarantined', messages: 2 }),
    ]),
  );
  expect(status.json.setAside.map(({ reason }: { reason: string }) => reason).sort()).toEqual(['json-invalid', 'timestamp-missing']);

  const before = await read();
  expect((await lake('verify')).json).toMatchObject({ problems: [] });
  const compacted = await lake('compact');
  expect(compacted.json).toEqual(expect.arrayContaining([expect.objectContaining({ before: 4, after: 1 })]));
  expect(await read()).toEqual(before);

  const today = new Date().toISOString().slice(0, 10);
  const replayed = await lake('replay', '--experiment', experimentId, '--day', today);
  expect(replayed.json, replayed.problem).toEqual({ messages: 6, rows: 8, reopened: 2 });
  expect(await read()).toEqual(before);
  expect((await lake('replay', '--from', '2020-01-01T00:00:00Z', '--to', '2020-01-02T00:00:00Z')).json).toEqual({
    messages: 0,
    rows: 0,
    reopened: 0,
  });
  await send([]);
  expect((await lake('status')).json.messages).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ status: 'stored', messages: 4, stored: 8 }),
      expect.objectContaining({ status: 'quarantined', messages: 2 }),
    ]),
  );

  const text = await metrics();
  expect(text).toMatch(/^pipeline_pending_messages 0$/m);
  expect(text).toMatch(/^pipeline_message_lag_seconds 0$/m);
  expect(text).toMatch(/^pipeline_measurements_total\{outcome="stored"\} 8$/m);
  expect(Number(/^pipeline_measurements_total\{outcome="quarantined"\} (\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(2);
  // docs/operations.md names each of ours
  const [, watched = ''] = /## What to watch\n([^]*?)\n## /.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
  const named = [...watched.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, names]) => names!.replaceAll('`', '').split(', '));
  const there = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!);
  expect(named.sort()).toEqual(there.filter((name) => !/^(process|nodejs)_/.test(name)).sort());
});

test('npm run lake -- verify finds what is damaged, cut off and missing', async () => {
  const { db, lakeFolder } = test$;
  const files = await db.rows<{ path: string }>(
    sql(
      'test',
    )`select f.path from lake_files f join lake_tables t on t.id = f.table_id where f.to_version is null and t.kind in ('raw_data', 'device') order by t.kind`,
  );
  const [device, raw] = files.map(({ path }) => join(lakeFolder, path));
  const bytes = readFileSync(raw!);
  const kept = readFileSync(device!);
  truncateSync(raw!, bytes.length - 10);
  truncateSync(device!, 0);
  const cut = await lake('verify');
  expect(cut.code).toBe(1);
  const sizes = [`the file has ${bytes.length - 10} bytes, not ${bytes.length}`, `the file has 0 bytes, not ${kept.length}`];
  expect(cut.json.problems.map(({ problem }: { problem: string }) => problem).sort()).toEqual(sizes.sort());
  writeFileSync(device!, kept);
  const damaged = Buffer.from(bytes);
  damaged.fill(0xff, 4, Math.min(200, bytes.length - 300));
  writeFileSync(raw!, damaged);
  expect((await lake('verify')).json.problems).toHaveLength(1);
  writeFileSync(raw!, bytes);
  const whole = await lake('verify');
  expect(whole.code, whole.problem).toBe(0);
  expect(whole.json.problems).toEqual([]);
  expect(whole.json.files).toBeGreaterThan(0);
});

test('npm run lake refuses what it does not know', async () => {
  const wrong = [[], ['mend'], ['replay'], ['replay', '--day', 'monday'], ['replay', '--from', '2026-05-02', '--to', '2026-05-01']];
  for (const { code, problem } of await Promise.all(wrong.map((args) => lake(...args))))
    expect([code, problem]).toEqual([1, expect.stringContaining('usage:')]);
});
