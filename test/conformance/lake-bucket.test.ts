/** A lake that is a bucket, at moto: two server processes with disks of their own, a reader of Delta tables that is not ours, and the network between them at its worst. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { openBucketFiles } from '../../src/lakehouse/tables/files/bucket.ts';
import { openS3Store } from '../../src/storage/s3.ts';
import { lakeFilesContract } from '../contracts/lake-files.suite.ts';
import { runCommand } from '../support/command.ts';
import { eventually } from '../support/crashes.ts';
import { cloneDatabase } from '../support/database.ts';
import { badGateway, startFaultProxy, type Fault, type FaultProxy } from '../support/fault-proxy.ts';
import { startMoto } from '../support/moto.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';
import { callsTo, startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';
import { openDeltalake, type LakeReader } from './lake-readers.ts';

const BUCKET = 'field-lake';
const REGION = 'eu-central-1';
let endpoint: string;
let stop: () => Promise<unknown>;
let proxy: FaultProxy;
let s3: S3Client;
let site: TestServer;
let owner: Call;
/** Of the second process. */
let otherDir: string;
let other: ServerProcess;
let reader: LakeReader;
let experimentId: string;

/** One for both processes, whose disks are their own. */
const SECRET = randomBytes(32).toString('hex');

const settings = (at: string): Record<string, string> => ({
  SECRET,
  S3_BUCKET: BUCKET,
  S3_REGION: REGION,
  S3_ENDPOINT: at,
  S3_ACCESS_KEY_ID: 'testing',
  S3_SECRET_ACCESS_KEY: 'testing',
});
const access = () => ({ region: REGION, endpoint, credentials: { accessKeyId: 'testing', secretAccessKey: 'testing' } });

const startOther = () =>
  spawnServer({ ...settings(endpoint), DATABASE_URL: site.database.url, DATA_DIR: otherDir, WORKER: 'off', LAKE_CACHE_MB: '1' });

beforeAll(async () => {
  ({ endpoint, stop } = await startMoto());
  s3 = new S3Client({ ...access(), forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET, CreateBucketConfiguration: { LocationConstraint: REGION } }));
  await s3.send(new PutBucketVersioningCommand({ Bucket: BUCKET, VersioningConfiguration: { Status: 'Enabled' } }));
  proxy = await startFaultProxy({ host: '127.0.0.1', port: Number(new URL(endpoint).port) });
  site = await startTestServer(settings(`http://127.0.0.1:${proxy.port}`));
  owner = site.as(site.cast.owner);
  otherDir = mkdtempSync(join(tmpdir(), 'fieldlake-other-'));
  other = await startOther();
  reader = await openDeltalake({
    AWS_ENDPOINT_URL: endpoint,
    AWS_ALLOW_HTTP: 'true',
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'testing',
    AWS_SECRET_ACCESS_KEY: 'testing',
  });
  experimentId = await makeExperiment('On a bucket');
}, 600_000);
afterAll(async () => {
  reader?.close();
  await other?.kill('SIGTERM');
  await site?.stop();
  await proxy?.close();
  s3?.destroy();
  await stop?.();
  rmSync(otherDir, { recursive: true, force: true });
});

const makeExperiment = async (name: string) =>
  (await owner('POST', '/api/v1/experiments', { body: { name, organizationId: site.cast.leafLab } })).body.id as string;

/** Lines of text that do not compress. */
const noise = (rows: number) => {
  const lines = Array.from({ length: rows }, (_, n) => `${n},${createHash('sha256').update(`${n} ${rows}`).digest('base64')}`);
  return `n,noise\n${lines.join('\n')}\n`;
};

async function append(table: string, csv: string): Promise<void> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: table }))
    form.append(field, value);
  form.append('files', new Blob([csv]), 'more.csv');
  const made = await owner('POST', `/api/v1/experiments/${experimentId}/data/uploads`, { body: form });
  expect(made.status, made.text).toBe(201);
  const ended = await eventually(
    async () => (await owner('GET', `/api/v1/experiments/${experimentId}/data/uploads/${made.body.uploadId}`)).body,
    ({ status }) => ['completed', 'failed'].includes(status),
    60_000,
  );
  expect(ended.status).toBe('completed');
}

const send = (n: number) =>
  storeMessages(site.db, [
    {
      experimentId,
      clientId: 'multispeq_1',
      userId: null,
      body: Buffer.from(
        JSON.stringify({
          timestamp: new Date(Date.UTC(2026, 4, 1, 0, n)).toISOString(),
          device_id: 'd',
          sample: [{ n, deep: { a: [1, 2] } }, { n: n + 0.5 }],
        }),
      ),
    },
  ]);

const settled = async () => {
  const left = () =>
    site.db.one<{ left: number }>(
      sql('test')`select (select count(*) from messages where status = 'pending') + (select count(*) from lake_log) as left`,
    );
  expect((await eventually(left, (row) => row?.left === 0, 120_000))?.left).toBe(0);
};

const dataOf = (call: Call, tableName: string, more: Record<string, string | number> = {}, accept?: string) =>
  call('GET', `/api/v1/experiments/${experimentId}/data`, {
    query: { tableName, ...more },
    ...(accept === undefined ? {} : { headers: { accept } }),
  });

const FORMATS = [
  'application/json',
  'text/csv',
  'application/x-ndjson',
  'application/vnd.apache.arrow.stream',
  'application/vnd.apache.parquet',
];

/** The answers to the same questions, by what was asked. */
async function answersOf(call: Call, tables: readonly string[], asOf: Readonly<Record<string, number>> = {}): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for (const table of tables) {
    for (const accept of FORMATS) {
      const answer = await dataOf(call, table, {}, accept);
      expect([table, accept, answer.status], answer.text.slice(0, 300)).toEqual([table, accept, 200]);
      answers.set(`${table} ${accept}`, answer.bytes.toString('base64'));
    }
    for (let version = 0; version <= (asOf[table] ?? 0); version += 1)
      answers.set(`${table} as of ${version}`, (await dataOf(call, table, { asOf: version })).text);
  }
  return answers;
}

const tablesOf = () =>
  site.db.rows<{ id: string; kind: string; identifier: string; name: string | null; version: number }>(
    sql(
      'test',
    )`select id, kind, identifier, name, version from lake_tables where experiment_id = ${experimentId} order by kind, identifier`,
  );

const filesIn = (folder: string): { path: string; size: number }[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.parquet'))
    .flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      const size = statSync(path, { throwIfNoEntry: false })?.size;
      return size === undefined ? [] : { path, size };
    });
const cached = (dataDir: string) => filesIn(join(dataDir, 'cache'));
const bytesOf = (files: readonly { size: number }[]) => files.reduce((sum, { size }) => sum + size, 0);
const otherOwner = () => callsTo(other.baseUrl)(site.cast.owner);

lakeFilesContract('copies of a bucket', async () => {
  const database = await cloneDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-copies-'));
  const bucket = `lake-${randomUUID()}`;
  await s3.send(new CreateBucketCommand({ Bucket: bucket, CreateBucketConfiguration: { LocationConstraint: REGION } }));
  const store = openS3Store({ ...access(), bucket });
  const files = await openBucketFiles({ store, db: database.db, cacheFolder: folder, cacheBytes: 400_000 });
  return {
    files,
    db: database.db,
    close: async () => {
      await files.close();
      await store.close();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});

test('what is written over a bucket is read by a second process with another disk, byte for byte, in every format and version', async () => {
  const table = await uploadTable(owner, experimentId, 'mixed', 'a,b\n1,x\n2,y\n');
  // a whole number that meets a half: the first file is written anew
  await append(table, 'a,b\n2.5,z\n');
  for (let n = 0; n < 3; n += 1) {
    await send(n);
    await settled();
  }
  const [row] = (await dataOf(owner, table)).body[0].data.rows as { id: string }[];
  const noted = await owner('POST', `/api/v1/experiments/${experimentId}/data/annotations`, {
    body: { tableName: table, rowId: row!.id, annotation: { type: 'comment', content: { type: 'comment', text: 'seen' } } },
  });
  expect(noted.status, noted.text).toBe(201);
  await settled();
  const versions = Object.fromEntries(
    (await tablesOf()).flatMap(({ id, kind, identifier, version }) =>
      kind === 'upload' ? [[id, version]] : kind === 'raw_data' ? [[identifier, version]] : [],
    ),
  );
  const tables = Object.keys(versions);
  expect(tables).toHaveLength(2);
  const before = await answersOf(owner, tables, versions);
  expect(before.size).toBeGreaterThan(tables.length * (FORMATS.length + 2));
  expect(await answersOf(otherOwner(), tables, versions)).toEqual(before);
  expect(cached(otherDir).length).toBeGreaterThan(0);

  const place = { url: site.database.url, dataDir: site.dataDir, environment: settings(endpoint) };
  const compacted = await runCommand(place, 'lake', 'compact');
  expect(compacted.code, compacted.problem).toBe(0);
  expect(compacted.json.length).toBeGreaterThan(0);
  const verified = await runCommand(place, 'lake', 'verify');
  expect(verified.json, verified.problem).toMatchObject({ problems: [] });
  expect(verified.json.files).toBeGreaterThan(2);
  await settled();
  const now = await answersOf(owner, tables, versions);
  expect(await answersOf(otherOwner(), tables, versions)).toEqual(now);
  for (const [asked, answer] of before) if (asked.includes(' as of ')) expect(now.get(asked), asked).toBe(answer);
  // nothing of the lake is on the disk but copies
  expect(() => filesIn(join(site.dataDir, 'lake'))).toThrow(/ENOENT/);

  const exported = await owner('POST', `/api/v1/experiments/${experimentId}/data/exports`, { body: { tableName: table, format: 'csv' } });
  const exportPath = `/api/v1/experiments/${experimentId}/data/exports/${exported.body.exportId}`;
  const done = await eventually(
    async () => (await owner('GET', `${exportPath}/status`)).body,
    ({ status }) => ['completed', 'failed'].includes(status),
    60_000,
  );
  expect(done).toMatchObject({ status: 'completed', rowCount: 3 });
});

test('deltalake reads the bucket at every version, with the rows that the API gives', async () => {
  const found = await tablesOf();
  const { id, version } = found.find(({ kind }) => kind === 'upload')!;
  let compared = 0;
  for (let at = 1; at <= version; at += 1) {
    const read = await reader.read(`s3://${BUCKET}/tables/${experimentId}/${id}`, at);
    const rows = (await dataOf(owner, id, { asOf: at })).body[0].data.rows as { id: string; b: string }[];
    expect(read.rows.map((row) => [row['id'], row['b']]).sort()).toEqual(rows.map((row) => [row.id, row.b]).sort());
    compared += rows.length;
  }
  expect(compared).toBeGreaterThan(5);
});

test('the copies stay under their cap while more than it is read, and a statement over more than it is refused', async () => {
  const small = [];
  for (let n = 0; n < 4; n += 1) small.push(await uploadTable(owner, experimentId, `small_${n}`, noise(6_000 + n)));
  const large = await uploadTable(owner, experimentId, 'large', noise(60_000));
  const csv = (call: Call, table: string) => dataOf(call, table, {}, 'text/csv');
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, bytesOf(cached(otherDir).filter(({ path }) => !path.includes('/.staging/'))));
  }, 5);
  let read = 0;
  for (let turn = 0; turn < 3; turn += 1)
    for (const table of small) {
      const answer = await csv(otherOwner(), table);
      expect(answer.status, answer.text.slice(0, 300)).toBe(200);
      expect(answer.text).toBe((await csv(owner, table)).text);
      read += answer.bytes.length;
    }
  expect(read).toBeGreaterThan(3 * 1_048_576);
  const refused = await csv(otherOwner(), large);
  clearInterval(watching);
  expect(refused).toMatchObject({ status: 422, body: { code: 'LAKE_CACHE_TOO_SMALL' } });
  expect(refused.text).toContain('LAKE_CACHE_MB');
  expect((await csv(owner, large)).status).toBe(200);
  expect(most).toBeGreaterThan(300_000);
  expect(most).toBeLessThanOrEqual(1_048_576);
});

test('a cache that is deleted or cut under an idle process changes no answer, and a process that starts again finds it', async () => {
  const { id } = (await tablesOf()).find(({ name }) => name === 'small_3')!;
  const before = (await dataOf(otherOwner(), id, {}, 'text/csv')).text;
  expect(before.split('\n').length).toBeGreaterThan(6_000);
  const own = () => cached(otherDir).filter(({ path }) => path.includes(id));
  expect(own().length).toBeGreaterThan(0);
  for (const { path } of own()) truncateSync(path, 100);
  // a read of its own: the answer of before is kept in memory
  const again = async (n: number) => (await dataOf(otherOwner(), id, { limit: 100_000 - n }, 'text/csv')).text;
  expect(await again(1)).toBe(before);
  for (const { path } of cached(otherDir)) rmSync(path);
  expect(await again(2)).toBe(before);
  expect(own().length).toBeGreaterThan(0);
  const warm = own().map(({ path }) => statSync(path).ino);
  await other.kill('SIGTERM');
  other = await startOther();
  expect(await again(3)).toBe(before);
  expect(own().map(({ path }) => statSync(path).ino)).toEqual(warm);
  expect(readdirSync(join(otherDir, 'cache'))).toHaveLength(1);
});

test('a start that looks for the lake elsewhere is refused', async () => {
  const start = (environment: Record<string, string>) =>
    spawnServer({
      DATABASE_URL: site.database.url,
      SECRET,
      DATA_DIR: mkdtempSync(join(tmpdir(), 'fieldlake-refused-')),
      WORKER: 'off',
      ...environment,
    });
  await expect(start({})).rejects.toThrow(/npm run lake -- migrate/);
  await expect(start({ ...settings(endpoint), LAKE: 'folder' })).rejects.toThrow(/npm run lake -- migrate/);
  await expect(start({ ...settings(endpoint), S3_BUCKET: 'elsewhere' })).rejects.toThrow(/npm run lake -- migrate/);
});

test('with a network that is slow, says 503, cuts or hears of nothing that was stored, rows are there once or were refused', async () => {
  const table = await uploadTable(owner, experimentId, 'faulty', 'n\n0\n');
  const faults: Fault[] = [
    { kind: 'late', ms: 50 },
    badGateway(503),
    { kind: 'cut', bytes: 20 },
    { kind: 'cut', bytes: 400 },
    { kind: 'truncated', bytes: 0 },
    { kind: 'reset' },
    { kind: 'silent' },
  ];
  const path = `/api/v1/experiments/${experimentId}/data/uploads`;
  const outcomes: string[] = [];
  let expected = 1;
  for (const [index, fault] of faults.entries()) {
    const form = new FormData();
    for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: table }))
      form.append(field, value);
    form.append('files', new Blob([`n\n${index + 1}\n`]), 'more.csv');
    const made = await owner('POST', path, { body: form });
    expect(made.status, made.text).toBe(201);
    await proxy.set(fault);
    await sleep(1_500);
    await send(100 + index);
    await sleep(1_500);
    await proxy.set({ kind: 'none' });
    const ended = await eventually(
      async () => (await owner('GET', `${path}/${made.body.uploadId}`)).body,
      ({ status }) => ['completed', 'failed'].includes(status),
      120_000,
    );
    outcomes.push(`${fault.kind} ${ended.status}`);
    if (ended.status === 'completed') expected += 1;
    await settled();
    const rows = (await dataOf(owner, table)).body[0].data.rows as { n: number }[];
    expect(new Set(rows.map(({ n }) => n)).size).toBe(rows.length);
    expect(rows).toHaveLength(expected);
  }
  console.log(outcomes.join(', '));
  expect([...proxy.met.keys()]).toEqual(expect.arrayContaining(['late', 'answers', 'cut', 'reset']));
  const verified = await runCommand({ url: site.database.url, dataDir: site.dataDir, environment: settings(endpoint) }, 'lake', 'verify');
  expect(verified.json, verified.problem).toMatchObject({ problems: [] });
  for (const { id, kind } of await tablesOf()) {
    if (kind !== 'upload' && kind !== 'raw_data') continue;
    // a message that was held up may make another version meanwhile
    const { read, version } = await eventually(
      async () => ({
        version: (await tablesOf()).find((each) => each.id === id)?.version,
        read: await reader.read(`s3://${BUCKET}/tables/${experimentId}/${id}`),
      }),
      (seen) => seen.read.version === seen.version,
      30_000,
    );
    expect(read.version).toBe(version);
    expect(new Set(read.rows.map((row) => row['id'])).size).toBe(read.rows.length);
  }
}, 600_000);

test('of an erased experiment there is no version, no unfinished upload and no copy', async () => {
  const Prefix = `tables/${experimentId}/`;
  // what a publisher leaves that is killed in the middle of its put
  await s3.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: `${Prefix}${randomUUID()}/${randomUUID()}.parquet` }));
  const left = async () => {
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: BUCKET, Prefix }));
    const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET, Prefix }));
    return [Versions.length + DeleteMarkers.length, Uploads.length];
  };
  const copies = (dataDir: string) => cached(dataDir).filter(({ path }) => path.includes(experimentId)).length;
  const [objects, uploads] = await left();
  expect(objects).toBeGreaterThan(10);
  expect(uploads).toBe(1);
  expect([copies(site.dataDir) > 0, copies(otherDir) > 0]).toEqual([true, true]);
  const [{ id } = { id: '' }] = await tablesOf();
  expect((await owner('DELETE', `/api/v1/experiments/${experimentId}`)).status).toBeLessThan(300);
  expect(await eventually(left, ([some, more]) => some === 0 && more === 0, 60_000)).toEqual([0, 0]);
  await eventually(
    () => Promise.resolve(copies(site.dataDir)),
    (count) => count === 0,
    60_000,
  );
  expect(copies(site.dataDir)).toBe(0);
  await eventually(
    () => Promise.resolve(copies(otherDir)),
    (count) => count === 0,
    60_000,
  );
  expect(copies(otherDir)).toBe(0);
  await expect(reader.read(`s3://${BUCKET}/tables/${experimentId}/${id}`)).rejects.toThrow();
  // what was being written meanwhile has not stayed either
  expect(await left()).toEqual([0, 0]);
});
