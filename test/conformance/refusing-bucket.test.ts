/** A bucket that refuses: keys that have expired, a server that knows no versions, deletes that are forbidden, and a file that a rule has removed. */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startMoto } from '../support/moto.ts';
import { spawnServer } from '../support/process.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { runCommand } from '../support/command.ts';
import { uploadTable } from '../support/uploads.ts';

const BUCKET = 'refusing-lake';
const REGION = 'eu-central-1';
const EXPIRED = 'The provided token has expired.';

interface Refusal {
  status: number;
  /** Empty for an answer without a body. */
  code: string;
  says: string;
  /** Whether a request is refused; the others reach the bucket. */
  meets: (asked: IncomingMessage) => boolean;
}

let moto: Awaited<ReturnType<typeof startMoto>>;
let between: Server;
let refusal: Refusal | undefined;
let refused = 0;
let s3: S3Client;
let settings: Record<string, string>;
let site: TestServer;
let owner: Call;

/** Stands before the bucket, and answers as S3 does what is refused. */
function startRefuser(): Server {
  return createServer((asked, response) => {
    if (refusal?.meets(asked) === true) {
      refused += 1;
      asked.resume();
      response.writeHead(refusal.status, { 'content-type': 'application/xml' });
      if (refusal.code === '') return void response.end();
      const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${refusal.code}</Code><Message>${refusal.says}</Message></Error>`;
      return void response.end(asked.method === 'HEAD' ? '' : body);
    }
    const { url: path, method, headers } = asked;
    const passed = request(`${moto.endpoint}${path!}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    asked.pipe(passed);
  });
}

beforeAll(async () => {
  moto = await startMoto();
  const credentials = { accessKeyId: 'testing', secretAccessKey: 'testing' };
  s3 = new S3Client({ region: REGION, endpoint: moto.endpoint, credentials, forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET, CreateBucketConfiguration: { LocationConstraint: REGION } }));
  await s3.send(new PutBucketVersioningCommand({ Bucket: BUCKET, VersioningConfiguration: { Status: 'Enabled' } }));
  between = startRefuser().listen(0, '127.0.0.1');
  await once(between, 'listening');
  settings = {
    S3_BUCKET: BUCKET,
    S3_REGION: REGION,
    S3_ENDPOINT: `http://127.0.0.1:${(between.address() as AddressInfo).port}`,
    S3_ACCESS_KEY_ID: 'testing',
    S3_SECRET_ACCESS_KEY: 'testing',
    S3_SESSION_TOKEN: 'testing',
  };
  site = await startTestServer(settings);
  owner = site.as(site.cast.owner);
});
afterAll(async () => {
  refusal = undefined;
  await site?.stop();
  between?.close();
  s3?.destroy();
  await moto?.stop();
});

async function makeTable(name: string): Promise<{ experimentId: string; table: string }> {
  const made = await owner('POST', '/api/v1/experiments', { body: { name, organizationId: site.cast.leafLab } });
  const experimentId = made.body.id as string;
  return { experimentId, table: await uploadTable(owner, experimentId, 'small', 'n\n1\n2\n') };
}
const read = ({ experimentId, table }: { experimentId: string; table: string }, more: Record<string, string> = {}) =>
  owner('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName: table, ...more } });

/** What the bucket keeps of the files of an experiment, older versions and marks of deletion among it. */
async function kept(experimentId: string) {
  const { Versions = [], DeleteMarkers = [] } = await s3.send(
    new ListObjectVersionsCommand({ Bucket: BUCKET, Prefix: `tables/${experimentId}/` }),
  );
  return [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key: Key!, VersionId: VersionId! }));
}

async function erase(experimentId: string): Promise<() => Promise<string>> {
  const deleted = await owner('DELETE', `/api/v1/experiments/${experimentId}`);
  expect(deleted.status, deleted.text).toBeLessThan(300);
  const id = deleted.headers.get('x-erasure-id')!;
  return async () => (await owner('GET', `/api/v1/erasures/${id}`)).body.status as string;
}

test('keys that have expired are OBJECTS_UNAVAILABLE, and operators read why in the words of the bucket', async () => {
  const made = await makeTable('Expired');
  const details = async () =>
    (await (await fetch(`${site.server.adminUrl}/health/ready`)).json()) as { details: { objects: { ok: boolean; reason?: string } } };
  expect((await details()).details.objects.ok).toBe(true);
  refusal = { status: 400, code: 'ExpiredToken', says: EXPIRED, meets: () => true };
  expect((await details()).details.objects).toMatchObject({ ok: false, reason: expect.stringContaining(EXPIRED) });
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: made.table }))
    form.append(field, value);
  form.append('files', new Blob(['n\n3\n']), 'more.csv');
  const upload = await owner('POST', `/api/v1/experiments/${made.experimentId}/data/uploads`, { body: form });
  expect([upload.status, upload.body.code]).toEqual([503, 'OBJECTS_UNAVAILABLE']);
  expect(upload.text).not.toContain(EXPIRED);
  refusal = undefined;
  expect((await details()).details.objects.ok).toBe(true);
});

test('a bucket that refuses only writes is not ready for operators, and is again without a restart', async () => {
  const objects = async () =>
    ((await (await fetch(`${site.server.adminUrl}/health/ready`)).json()) as { details: { objects: object } }).details.objects;
  const written = async () => (await s3.send(new ListObjectVersionsCommand({ Bucket: BUCKET, Prefix: 'writable' }))).Versions ?? [];
  for (let times = 0; times < 2; times += 1) expect(await objects()).toMatchObject({ ok: true });
  expect(await written()).toHaveLength(1);
  refusal = { status: 403, code: 'AccessDenied', says: 'No s3:PutObject for you', meets: ({ method }) => method === 'PUT' };
  expect(await objects()).toMatchObject({ ok: false, reason: expect.stringContaining('No s3:PutObject for you') });
  refusal = undefined;
  expect(await objects()).toMatchObject({ ok: true });
});

test('what a bucket refuses without a word is told with its status and what was asked', async () => {
  const { experimentId, table } = await makeTable('Without words');
  const server = await spawnServer({ DATABASE_URL: site.database.url, DATA_DIR: site.dataDir, ...settings, BROKER: 'off' });
  try {
    const objects = async () =>
      ((await (await fetch(`${server.adminUrl}/health/ready`)).json()) as { details: { objects: { ok: boolean } } }).details.objects;
    expect(await objects()).toMatchObject({ ok: true });
    refusal = { status: 403, code: '', says: '', meets: () => true };
    expect(await objects()).toMatchObject({
      ok: false,
      reason: expect.stringContaining('ListObjectsV2 of the bucket was answered with status 403 and without a reason.'),
    });
    const form = new FormData();
    for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: table }))
      form.append(field, value);
    form.append('files', new Blob(['n\n3\n']), 'more.csv');
    const path = `${server.baseUrl}/api/v1/experiments/${experimentId}/data/uploads`;
    const upload = await fetch(path, { method: 'POST', headers: { 'x-api-key': site.cast.owner.apiKey }, body: form });
    expect(upload.status).toBe(503);
    await expect.poll(server.output).toMatch(/HeadObject of [\w/.-]+ was answered with status 403 and without a reason\./);
  } finally {
    refusal = undefined;
    await server.kill('SIGTERM');
  }
});

test('an experiment is erased from a bucket whose server knows no versions', async () => {
  const { experimentId } = await makeTable('Without versions');
  expect((await kept(experimentId)).length).toBeGreaterThan(0);
  refusal = { status: 501, code: 'NotImplemented', says: 'Not implemented', meets: ({ url }) => /[?&]versions/.test(url!) };
  refused = 0;
  await expect.poll(await erase(experimentId), { timeout: 60_000 }).toBe('completed');
  expect(refused).toBeGreaterThan(0);
  refusal = undefined;
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: `tables/${experimentId}/` }));
  expect(Contents).toEqual([]);
});

test('an erasure whose deletes are forbidden is not complete, and is once they are allowed', async () => {
  const { experimentId } = await makeTable('Kept');
  refusal = {
    status: 403,
    code: 'AccessDenied',
    says: 'User is not authorized to perform: s3:DeleteObjectVersion',
    meets: ({ url, method }) => method === 'DELETE' && /versionId=/.test(url!),
  };
  refused = 0;
  const erased = await erase(experimentId);
  await expect.poll(() => refused, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(await erased()).toBe('running');
  expect((await kept(experimentId)).length).toBeGreaterThan(0);
  refusal = undefined;
  await expect.poll(erased, { timeout: 90_000 }).toBe('completed');
  expect(await kept(experimentId)).toEqual([]);
});

test('a file that a rule of the bucket has removed is named, and read again once it is back, without a restart', async () => {
  const made = await makeTable('Removed');
  const before = (await read(made)).body[0].data.rows;
  expect(before).toHaveLength(2);
  const file = (await kept(made.experimentId)).find(({ Key }) => Key.includes(made.table) && Key.endsWith('.parquet'))!;
  const { VersionId } = await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: file.Key }));
  const verify = () => runCommand({ url: site.database.url, dataDir: site.dataDir, environment: settings }, 'lake', 'verify');
  const found = await verify();
  expect(found.code, found.problem).toBe(1);
  expect(found.text).toContain(file.Key);
  // as an operator who undoes the deletion does
  await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: file.Key, VersionId }));
  expect((await verify()).code).toBe(0);
  expect((await read(made, { limit: '10' })).body[0].data.rows).toEqual(before);
});
