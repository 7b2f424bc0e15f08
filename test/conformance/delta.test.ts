import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { printTableFolder } from '../../src/lakehouse/tables/delta/places.ts';
import { versionsIn } from '../lakehouse/log-reader.ts';
import { runCommand } from '../support/command.ts';
import { eventually, seeded } from '../support/crashes.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { openDeltalake, openSpark, type LakeReader, type Read } from './lake-readers.ts';

/** The tables of a running server as `deltalake` and Spark read them, against the rows that the API gives of the same versions. */
const SHARE = Number(process.env['SOAK'] ?? 0.1);
const SEED = Number(process.env['SEED'] ?? (SHARE < 1 ? 12 : Date.now() % 1_000_000_000));
const macroId = crypto.randomUUID();
let site: TestServer;
let owner: Call;
let experimentId: string;
let readers: LakeReader[];

beforeAll(async () => {
  readers = await Promise.all([openDeltalake(), openSpark()]);
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  experimentId = await makeExperiment('Delta');
}, 600_000);
afterAll(async () => {
  for (const reader of readers) reader.close();
  await site.stop();
});

const makeExperiment = async (name: string) =>
  (await owner('POST', '/api/v1/experiments', { body: { name, organizationId: site.cast.leafLab } })).body.id as string;

async function upload(experiment: string, name: string, target: Record<string, string>, text: string): Promise<string> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', ...target })) form.append(field, value);
  form.append('files', new Blob([text]), name);
  const { status, body } = await owner('POST', `/api/v1/experiments/${experiment}/data/uploads`, { body: form });
  expect(status).toBe(201);
  const ended = await eventually(
    async () => (await owner('GET', `/api/v1/experiments/${experiment}/data/uploads/${body.uploadId}`)).body,
    (all) => all.status === 'completed',
    60_000,
  );
  expect(ended.status).toBe('completed');
  return body.uploadTableId;
}

const message = (device: number, n: number) => ({
  timestamp: new Date(Date.UTC(2026, 4, 1 + (n % 20), 0, n % 60, 0, 250 + device)).toISOString(),
  timezone: 'Europe/Amsterdam',
  device_id: `d-${device}`,
  latitude: 51.5,
  sample: [{ n, deep: { a: [1, 2] } }, { n: n + 0.5 }],
  macros: [
    { id: macroId, name: 'm', filename: 'm.py', output: [{ 'out put': n % 7 === 6 ? n + 0.25 : n }, { 'out put': n + 1, text: 'ä' }] },
  ],
  questions: [{ question_label: 'Plot', question_answer: `p${n}` }],
});

const send = (experiment: string, device: number, n: number) =>
  storeMessages(site.db, [
    { experimentId: experiment, clientId: `multispeq_${device}`, userId: null, body: Buffer.from(JSON.stringify(message(device, n))) },
  ]);

const settled = async () => {
  const left = () =>
    site.db.one<{ left: number }>(
      sql('test')`select (select count(*) from messages where status = 'pending') + (select count(*) from lake_log) as left`,
    );
  expect((await eventually(left, (row) => row?.left === 0, 120_000))?.left).toBe(0);
};

/** A cell of the API, by its column's type, in the form of a cell that a reader gives. */
function cellOf(value: any, type: string): unknown {
  if (value === null || value === undefined) return null;
  if (type.startsWith('DECIMAL')) return { decimal: Number(value) };
  if (type === 'BIGINT' || type === 'INT') return { number: String(value) };
  if (type === 'DOUBLE') return { number: Number(value) };
  if (type === 'TIMESTAMP') return { instant: String(value).slice(0, 23).replace('Z', '') };
  if (type === 'TIMESTAMP_NTZ') return { local: String(value).replace(' ', 'T').padEnd(23, '.000') };
  if (type === 'DATE') return { date: value };
  return value;
}

function readCell(value: any, type: string): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object' && 'decimal' in value) return { decimal: Number(value.decimal) };
  if (type === 'VARIANT') return JSON.parse(value as string);
  if (type === 'DOUBLE') return { number: Number(value.number) };
  return value;
}

const TYPES: Record<string, string> = { INT: 'integer', BIGINT: 'long', VARIANT: 'string' };
const DERIVED = new Set(['contributor', 'device', 'annotations']);
const sorted = (rows: Record<string, any>[]) => rows.toSorted((a, b) => (a['id'] < b['id'] ? -1 : 1));

/** What a reader gave of a version, held against what the API gives of it: how many rows were compared. */
async function compareRead(experiment: string, identifier: string, read: Read, who: string): Promise<number> {
  const what = `${who}: ${identifier} at ${read.version}`;
  const ask = async (more: object, headers: Record<string, string> = {}) => {
    const query = { tableName: identifier, asOf: read.version, ...more };
    const answer = await owner('GET', `/api/v1/experiments/${experiment}/data`, { query, headers });
    expect(answer.status, `${what} ${answer.text.slice(0, 300)}`).toBe(200);
    return answer;
  };
  const { columns } = (await ask({ limit: 1 })).body[0].data as { columns: { name: string; type_text: string }[] };
  // a page ends at 100,000 rows, a stream with the table
  const { text } = await ask({}, { accept: 'application/x-ndjson' });
  const rows = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
  const shown = columns.filter(({ name }) => !DERIVED.has(name));
  const ours = rows.map((row) => Object.fromEntries(shown.map(({ name, type_text: type }) => [name, cellOf(row[name], type)])));
  const theirs = read.rows.map((row) => Object.fromEntries(shown.map(({ name, type_text: type }) => [name, readCell(row[name], type)])));
  expect(theirs.length, what).toBe(ours.length);
  expect(sorted(theirs), what).toEqual(sorted(ours));
  // a column that no row has yet is in the catalogue, and in no file
  for (const { name, type_text: type } of shown)
    if (!type.includes('<') && read.types[name] !== undefined)
      expect(read.types[name], `${what}.${name}`).toBe(TYPES[type] ?? type.toLowerCase());
  return ours.length;
}

const tablesOf = async (experiment: string) =>
  site.db.rows<{ id: string; kind: string; identifier: string; version: number }>(
    sql('test')`select id, kind, identifier, version from lake_tables where experiment_id = ${experiment} order by kind, identifier`,
  );
const folderOf = (experiment: string, id: string) => join(site.lakeFolder, printTableFolder(experiment, id));
const READABLE = new Set(['raw_data', 'device', 'macro', 'upload']);

test('both readers open every version of every table, with the types of the catalogue and the rows of the API', async () => {
  const header = 'whole,big,money,ratio,day,at,clock,yes,"a, b (c)",Plot №';
  const table = await upload(
    experimentId,
    'one.csv',
    { targetKind: 'new', targetName: 'typed' },
    `${header}\n1,9007199254740993,12345678901234567890.12,0.1,2026-05-01,2026-05-01T10:00:00.123Z,2026-05-01T12:00:00,true,"x,y",ü\n2,,,,,,,false,,\n`,
  );
  // the column `whole` widens, so that the first file is written anew
  await upload(
    experimentId,
    'two.csv',
    { targetKind: 'existing', uploadTableId: table },
    `${header}\n3.5,5,1.5,2,2026-05-02,2026-05-02T10:00:00Z,2026-05-02T12:00:00,true,z,w\n`,
  );
  await upload(experimentId, 'wrong.csv', { targetKind: 'existing', uploadTableId: table }, `whole,"a, b (c)",new\n4,not ours,1\n`);
  const uploads = `/api/v1/experiments/${experimentId}/data/uploads`;
  const [wrong] = (await owner('GET', uploads)).body.uploads as { uploadId: string }[];
  for (let n = 0; n < 8; n += 1) {
    await send(experimentId, 1, n);
    await settled();
  }
  await owner('POST', `/api/v1/experiments/${experimentId}/metadata`, { body: { metadata: { site: 'A' } } });
  const compacted = await runCommand({ url: site.database.url, dataDir: site.dataDir }, 'lake', 'compact');
  expect(compacted.code, compacted.problem).toBe(0);
  // its rows leave a file that has those of others, and take a column along
  expect((await owner('POST', `${uploads}/${wrong?.uploadId}/withdraw`)).status).toBe(200);
  const withdrawn = await eventually(
    async () => (await owner('GET', `${uploads}/${wrong?.uploadId}`)).body,
    (all) => all.withdrawnAt !== null,
    60_000,
  );
  expect(withdrawn.withdrawnAt).not.toBeNull();
  await settled();
  let compared = 0;
  let internal = 0;
  for (const { id, kind, identifier, version } of await tablesOf(experimentId)) {
    const folder = folderOf(experimentId, id);
    const files = await site.db.one<{ count: number }>(sql('test')`select count(*) as count from lake_files where table_id = ${id}`);
    // a log begins with the first file
    if (files?.count === 0) continue;
    expect(versionsIn(folder), `${kind} ${identifier}`).toEqual(Array.from({ length: version + 1 }, (_, at) => at));
    for (let at = 0; at <= version; at += 1) {
      const kept = await site.db.one<{ rows: number }>(
        sql('test')`select row_count as rows from lake_versions where table_id = ${id} and version = ${at}`,
      );
      for (const reader of readers) {
        const read = await reader.read(folder, at);
        expect([read.version, read.rows.length], `${reader.name} ${kind} at ${at}`).toEqual([at, kept?.rows ?? 0]);
        if (READABLE.has(kind) && at > 0) compared += await compareRead(experimentId, identifier, read, reader.name);
        else internal += 1;
      }
    }
  }
  console.log(`${compared} rows compared, ${internal} versions of internal tables opened`);
  expect(compared).toBeGreaterThan(100);
}, 900_000);

test('while devices send, files come and widen, rows are annotated, compacted and erased, what a reader finds is a version', async () => {
  const devices = Math.round(200 * SHARE);
  const moments = Math.round(50 * SHARE);
  const random = seeded(SEED);
  console.log(`SEED=${SEED}, ${devices} devices, ${moments} moments`);
  const live = await makeExperiment('Live');
  const doomed = await makeExperiment('Doomed');
  const table = await upload(live, 'first.csv', { targetKind: 'new', targetName: 'growing' }, 'n,text\n1,a\n');
  await upload(doomed, 'gone.csv', { targetKind: 'new', targetName: 'gone' }, 'n\n1\n');
  for (let device = 0; device < devices; device += 1) await send(live, device, 0);
  await settled();
  let running = true;
  let sent = 1;
  const problems: unknown[] = [];
  const during = (work: () => Promise<unknown>, pauseMs: number) =>
    (async () => {
      while (running) {
        await work().catch((error: unknown) => problems.push(error));
        await sleep(pauseMs);
      }
    })();
  const rowId = async () => {
    const { body } = await owner('GET', `/api/v1/experiments/${live}/data`, { query: { tableName: 'growing', page: 1, pageSize: 1 } });
    return body[0].data.rows[0].id as string;
  };
  let uploads = 0;
  const values = ['2', '2147483648', '0.5', '1e9', '7'];
  const work = [
    during(async () => {
      sent += 1;
      for (let device = 0; device < devices; device += 1) await send(live, device, sent);
    }, 500),
    during(async () => {
      uploads += 1;
      const value = values[uploads % values.length] ?? '';
      await upload(
        live,
        `${uploads}.csv`,
        { targetKind: 'existing', uploadTableId: table },
        `n,text,k${uploads % 9}\n${value},b,${uploads}\n`,
      );
    }, 300),
    during(async () => {
      const content = { type: 'comment', text: `seen ${Math.floor(random() * 1e6)}` };
      const answer = await owner('POST', `/api/v1/experiments/${live}/data/annotations`, {
        body: { tableName: 'growing', rowId: await rowId(), annotation: { type: 'comment', content } },
      });
      if (answer.status >= 300) throw new Error(answer.text);
    }, 700),
    during(() => runCommand({ url: site.database.url, dataDir: site.dataDir }, 'lake', 'compact'), 3_000),
  ];
  const seen: { reader: string; identifier: string; kind: string; read: Read }[] = [];
  for (let moment = 0; moment < moments; moment += 1) {
    await sleep(random() * 2_000);
    if (moment === Math.floor(moments / 2)) expect((await owner('DELETE', `/api/v1/experiments/${doomed}`)).status).toBeLessThan(300);
    const tables = (await tablesOf(live)).filter(({ id }) => versionsIn(folderOf(live, id)).length > 0);
    for (const reader of readers) {
      const picked = tables[Math.floor(random() * tables.length)]!;
      const folder = folderOf(live, picked.id);
      const published = versionsIn(folder);
      const version = random() < 0.5 ? undefined : published[Math.floor(random() * published.length)];
      seen.push({ reader: reader.name, ...picked, read: await reader.read(folder, version) });
    }
  }
  running = false;
  await Promise.all(work);
  expect(problems).toEqual([]);
  await settled();
  let rows = 0;
  for (const { reader, identifier, kind, read } of seen)
    if (READABLE.has(kind) && read.version > 0) rows += await compareRead(live, identifier, read, reader);
  console.log(`${seen.length} reads, ${rows} rows compared, ${uploads} uploads, ${sent} messages of each device`);
  expect(rows).toBeGreaterThan(0);
  // of what was erased readers find nothing
  await eventually(
    () => tablesOf(doomed),
    (left) => left.length === 0,
    60_000,
  );
  for (const reader of readers) await expect(reader.read(join(site.lakeFolder, 'tables', doomed))).rejects.toThrow();
}, 3_600_000);
