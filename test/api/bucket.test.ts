import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import S3rver from 's3rver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adoptObjects, LARGEST_OBJECT } from '../../src/api/messages/arrivals.service.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/growing.md'), 'utf8');
const { CORSRules } = JSON.parse(/```json\n(\{\s*"CORSRules"[^]*?)```/.exec(guide)?.[1] ?? '') as {
  CORSRules: { AllowedOrigins: string[]; AllowedMethods: string[]; AllowedHeaders: string[]; MaxAgeSeconds: number }[];
};
/** The same document as S3 takes it on the wire. */
const cors = `<CORSConfiguration>${CORSRules.map(({ AllowedOrigins, AllowedMethods, AllowedHeaders, MaxAgeSeconds }) => {
  const each = (name: string, values: readonly (string | number)[]) => values.map((value) => `<${name}>${value}</${name}>`).join('');
  const rule = [each('AllowedOrigin', AllowedOrigins), each('AllowedMethod', AllowedMethods), each('AllowedHeader', AllowedHeaders)];
  return `<CORSRule>${rule.join('')}${each('MaxAgeSeconds', [MaxAgeSeconds])}</CORSRule>`;
}).join('')}</CORSConfiguration>`;

const folder = mkdtempSync(join(tmpdir(), 'fieldlake-bucket-'));
let bucket: S3rver;
let site: TestServer;
let owner: Call;
let experimentId: string;

beforeAll(async () => {
  bucket = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: [
      { name: 'field-objects', configs: [cors] },
      { name: 'silent-objects', configs: [] },
    ],
  });
  const { port } = await bucket.run();
  site = await startTestServer({
    // s3rver writes over what is there
    LAKE: 'folder',
    S3_BUCKET: 'field-objects',
    S3_REGION: 'us-east-1',
    S3_ENDPOINT: `http://127.0.0.1:${port}`,
    S3_ACCESS_KEY_ID: 'S3RVER',
    S3_SECRET_ACCESS_KEY: 'S3RVER',
  });
  owner = site.as(site.cast.owner);
  experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Bucket', organizationId: site.cast.leafLab } })).body.id;
});
afterAll(async () => {
  await site.stop();
  await bucket.close();
  rmSync(folder, { recursive: true, force: true });
});

const rows = async (table: string) =>
  (await owner('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName: table } })).body[0].data.rows as Record<
    string,
    unknown
  >[];

const eventually = async <T>(ask: () => Promise<T>, good: (value: T) => boolean): Promise<T> => {
  for (let tries = 0; ; tries += 1) {
    const value = await ask();
    if (good(value) || tries > 200) return value;
    await sleep(100);
  }
};

test('the whole service works on a bucket: an upload, an export, and a signed PUT that is read back', async () => {
  expect((await site.as(null)('GET', '/health/ready')).status).toBe(200);
  const table = await uploadTable(owner, experimentId, 'numbers', 'a,b\n1,x\n2,y\n');
  expect((await rows(table)).map(({ a, b }) => [a, b])).toEqual([
    [1, 'x'],
    [2, 'y'],
  ]);
  expect(readdirSync(join(folder, 'field-objects', 'uploads'))).toHaveLength(1);

  const made = await owner('POST', `/api/v1/experiments/${experimentId}/data/exports`, { body: { tableName: table, format: 'csv' } });
  const file = await eventually(
    () => owner('GET', `/api/v1/experiments/${experimentId}/data/exports/${made.body.exportId}`),
    ({ status }) => status === 200,
  );
  expect(file.text).toContain('1,x');

  const body = JSON.stringify([{ timestamp: '2024-05-01T10:00:00Z', device_id: 'a', sample: { phi2: 0.5 } }]);
  const signed = await owner('POST', '/api/v1/iot/upload-url', {
    body: {
      experimentId,
      contentLength: body.length,
      contentType: 'application/json',
      sha256: createHash('sha256').update(body).digest('hex'),
    },
  });
  expect(signed.status).toBe(201);
  expect(signed.body.uploadUrl).toContain('/field-objects/');
  const put = await fetch(signed.body.uploadUrl, { method: 'PUT', headers: signed.body.headers, body });
  expect(put.status).toBe(200);
  const complete = (as: Call, key = signed.body.key as string) => as('POST', '/api/v1/iot/upload-complete', { body: { key } });
  const done = { status: 200, body: { key: signed.body.key, contentLength: body.length } };
  const begun = performance.now();
  expect(await complete(owner)).toMatchObject(done);
  expect(await complete(owner)).toMatchObject(done);
  const measured = await eventually(
    () => rows('raw_data'),
    (found) => found.length > 0,
  );
  expect(performance.now() - begun).toBeLessThan(30_000);
  expect(await adoptObjects(await site.context(), AbortSignal.timeout(10_000), 0)).toBe(0);
  expect(measured).toHaveLength(1);
  expect(measured[0]).toMatchObject({ timestamp: '2024-05-01T10:00:00.000Z', device_id: 'a' });
  // who put it, what was put, and that they may still contribute
  const another = async (as: Call, more: object = {}) =>
    (await as('POST', '/api/v1/iot/upload-url', { body: { experimentId, ...more } })).body;
  const theirs = await another(site.as(site.cast.member));
  expect((await fetch(theirs.uploadUrl, { method: 'PUT', headers: theirs.headers, body: body.replace('10:', '11:') })).status).toBe(200);
  expect(await complete(owner, theirs.key)).toMatchObject({ status: 404, body: { code: 'OBJECT_NOT_FOUND' } });
  expect(await complete(site.as(null), theirs.key)).toMatchObject({ status: 401 });
  expect(await complete(site.as(site.cast.member), theirs.key)).toMatchObject({ status: 200 });
  expect(await complete(owner, (await another(owner)).key)).toMatchObject({ status: 404, body: { code: 'OBJECT_NOT_FOUND' } });
  expect(await complete(owner, 'lake/x')).toMatchObject({ status: 404, body: { code: 'OBJECT_NOT_FOUND' } });
  const large = await another(owner);
  expect(
    (await fetch(large.uploadUrl, { method: 'PUT', headers: large.headers, body: Buffer.alloc(LARGEST_OBJECT + 1, ' ') })).status,
  ).toBe(200);
  expect(await complete(owner, large.key)).toMatchObject({ status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } });
  expect(await complete(owner, large.key)).toMatchObject({ status: 404 });
  // the sweep finds what nobody said was put
  const silent = await another(owner);
  expect((await fetch(silent.uploadUrl, { method: 'PUT', headers: silent.headers, body: body.replace('10:', '12:') })).status).toBe(200);
  expect(await adoptObjects(await site.context(), AbortSignal.timeout(10_000), 0)).toBe(1);
  await eventually(
    () => rows('raw_data'),
    (found) => found.length === 3,
  );
  // nothing of it is in the folder of this machine, and the folder's routes are not served
  expect(readdirSync(site.dataDir)).not.toContain('objects');
  expect((await fetch(`${site.server.baseUrl}/objects/uploads/x`)).status).toBe(404);
});

test('a page may send an object by a signed URL where the bucket has the document of docs/growing.md', async () => {
  const bytes = Buffer.from('{"timestamp":"2026-05-01T10:00:00Z","device_id":"page","sample":{"x":1}}');
  const asked = {
    experimentId,
    contentLength: bytes.length,
    contentType: 'application/json',
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
  const { uploadUrl, headers } = (await owner('POST', '/api/v1/iot/upload-url', { body: asked })).body as {
    uploadUrl: string;
    headers: Record<string, string>;
  };
  // a browser sets this one by itself
  const { 'content-length': length, ...sent } = headers;
  expect(length).toBe(String(bytes.length));
  const preflight = async (url: string, origin: string) =>
    (
      await fetch(url, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': Object.keys(sent).sort().join(',') },
      })
    ).status;
  const page = CORSRules[0]!.AllowedOrigins[0]!;
  expect(await preflight(uploadUrl, page)).toBe(200);
  expect(await preflight(uploadUrl, 'https://elsewhere.example.org')).toBe(403);
  expect(await preflight(uploadUrl.replace('field-objects', 'silent-objects'), page)).toBe(403);
  const put = await fetch(uploadUrl, { method: 'PUT', headers: { ...sent, origin: page }, body: bytes });
  expect([put.status, put.headers.get('access-control-allow-origin')]).toEqual([200, page]);
});
