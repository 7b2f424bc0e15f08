import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey, revokeKey } from '../../src/api/credentials/credentials.service.ts';
import { sql } from '../../src/database/sql.ts';
import { signIn } from '../support/browser.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
let experimentId: string;
let uploads: string;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Arrivals' } })).body.id;
  uploads = `/api/v1/experiments/${experimentId}/data/uploads`;
});
afterAll(() => site.stop());

const part = (name: string, value: string) => `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** Begins an upload of a CSV whose last row comes when `end` is called. */
function beginUpload(fields: Record<string, string>, headers: Record<string, string> = {}, path = uploads) {
  let end = () => undefined as void;
  const answer = new Promise<{ status: number; headers: Record<string, unknown>; body: any }>((resolve, reject) => {
    const outgoing = request(
      `${site.server.baseUrl}${path}`,
      {
        method: 'POST',
        headers: { 'x-api-key': site.cast.owner.apiKey, 'content-type': 'multipart/form-data; boundary=xx', ...headers },
      },
      (response) => {
        void text(response).then((said) => {
          outgoing.destroy();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(said) });
        }, reject);
      },
    );
    outgoing.once('error', reject);
    const given = Object.entries({ sourceKind: 'csv', ...fields }).map(([name, value]) => part(name, value));
    outgoing.write(`${given.join('')}--xx\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\nn\n1\n`);
    end = () => void outgoing.end('2\n\r\n--xx--\r\n');
  });
  return { answer, end: () => end() };
}

async function ended(uploadId: string) {
  for (let tries = 0; tries < 600; tries += 1) {
    const { body } = await owner('GET', `${uploads}/${uploadId}`);
    if (!['pending', 'running'].includes(body.status)) return body;
    await sleep(50);
  }
  throw new Error('the upload did not end');
}

/** Waits until an upload of the experiment is there beside those known. */
async function begun(known: number) {
  for (let tries = 0; tries < 200; tries += 1) {
    const { body } = await owner('GET', uploads);
    if (body.uploads.length > known) return;
    await sleep(25);
  }
  throw new Error('the upload did not begin');
}
const countUploads = async () => (await owner('GET', uploads)).body.uploads.length as number;

test('an upload whose experiment is erased while it comes leaves no bytes', async () => {
  const id = (await owner('POST', '/api/v1/experiments', { body: { name: 'Erased meanwhile' } })).body.id as string;
  const path = `/api/v1/experiments/${id}/data/uploads`;
  const one = beginUpload({ targetKind: 'new', targetName: 'erased' }, {}, path);
  const found = sql('test')`select id from uploads where experiment_id = ${id}`;
  await expect.poll(() => site.db.rows(found)).toHaveLength(1);
  const [upload] = await site.db.rows<{ id: string }>(found);
  expect((await owner('DELETE', `/api/v1/experiments/${id}`)).status).toBe(200);
  await expect.poll(() => site.db.rows(found), { timeout: 20_000 }).toEqual([]);
  one.end();
  expect((await one.answer).status).toBe(404);
  expect(await readdir(join(site.dataDir, 'objects/uploads'))).not.toContain(upload!.id);
});

test('an upload into a table that is deleted while it comes is told so', async () => {
  const kept = await uploadTable(owner, experimentId, 'kept', 'n\n0\n');
  const gone = await uploadTable(owner, experimentId, 'gone', 'n\n0\n');
  const into = async (uploadTableId: string, meanwhile: () => Promise<unknown>) => {
    const known = await countUploads();
    const one = beginUpload({ targetKind: 'existing', uploadTableId });
    await begun(known);
    await meanwhile();
    one.end();
    return one.answer;
  };
  const stored = await into(kept, () => Promise.resolve());
  expect(stored.status).toBe(201);
  expect(await ended(stored.body.uploadId)).toMatchObject({ status: 'completed', rowCount: 2 });
  const refused = await into(gone, () => owner('DELETE', `/api/v1/experiments/${experimentId}/data/tables/${gone}`));
  expect(refused).toMatchObject({ status: 410, body: { code: 'TABLE_DELETED' } });
  expect((await owner('GET', uploads)).body.uploads[0]).toMatchObject({ status: 'failed', errorMessage: refused.body.detail });
  expect(await readdir(join(site.dataDir, 'objects/uploads'))).not.toContain((await owner('GET', uploads)).body.uploads[0].uploadId);
  const late = beginUpload({ targetKind: 'existing', uploadTableId: gone });
  late.end();
  expect(await late.answer).toMatchObject({ status: 404, body: { code: 'TABLE_NOT_FOUND' } });
});

test('an upload whose sender may not write any more when it has come is refused, and one whose experiment was archived', async () => {
  const uploadTableId = await uploadTable(owner, experimentId, 'shared', 'n\n0\n');
  const { viewer } = site.cast;
  const collaborators = `/api/v1/experiment/${experimentId}/collaborators`;
  const headers = { 'x-api-key': viewer.apiKey };
  const send = async (fields: Record<string, string>, meanwhile: () => Promise<unknown>) => {
    const known = await countUploads();
    const one = beginUpload(fields, headers);
    await begun(known);
    await meanwhile();
    one.end();
    return one.answer;
  };
  const share = async (role: string) => {
    const all = (await owner('POST', collaborators, { body: { granteeType: 'user', granteeId: viewer.id, role } })).body;
    return `${collaborators}/${all.find(({ granteeId }: { granteeId: string }) => granteeId === viewer.id).id}`;
  };
  const existing = { targetKind: 'existing', uploadTableId };
  const granted = await share('admin');
  const denied = { status: 403, body: { code: 'ACTION_DENIED' } };
  const fresh = { targetKind: 'new', targetName: 'fresh' };
  expect(await send(fresh, () => owner('PATCH', granted, { body: { role: 'viewer' } }))).toMatchObject(denied);
  expect(await send(existing, () => owner('DELETE', granted))).toMatchObject(denied);
  await share('viewer');
  const path = `/api/v1/experiments/${experimentId}`;
  const archived = await send(existing, () => owner('PATCH', path, { body: { status: 'archived' } }));
  expect(archived).toMatchObject({ status: 409, body: { code: 'EXPERIMENT_ARCHIVED' } });
  await owner('PATCH', path, { body: { status: 'active' } });
  const failed = (await owner('GET', uploads)).body.uploads.slice(0, 3);
  expect(failed.map(({ status }: { status: string }) => status)).toEqual(['failed', 'failed', 'failed']);
  const tables = (await owner('GET', `${path}/tables`)).body as { displayName: string; totalRows: number }[];
  expect(tables.find(({ displayName }) => displayName === 'shared')?.totalRows).toBe(1);
  expect(tables.map(({ displayName }) => displayName)).not.toContain('fresh');
});

test('an upload whose key is revoked while it comes is refused, and one whose session is signed out', async () => {
  const uploadTableId = await uploadTable(owner, experimentId, 'keyed', 'n\n0\n');
  const send = async (headers: Record<string, string>, meanwhile: () => Promise<unknown>) => {
    const known = await countUploads();
    const one = beginUpload({ targetKind: 'existing', uploadTableId }, headers);
    await begun(known);
    await meanwhile();
    one.end();
    return one.answer;
  };
  const { id, key } = await createApiKey(site.db, { userId: site.cast.owner.id, name: 'short-lived' });
  const byKey = await send({ 'x-api-key': key }, () => revokeKey(site.db, id));
  expect(byKey).toMatchObject({ status: 401, body: { code: 'API_KEY_UNKNOWN' } });
  const browser = await signIn(site, 'owner@example.com');
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const signOut = () => browser.call('POST', '/api/v1/auth/sign-out', {});
  const bySession = await send({ 'x-api-key': '', cookie, origin: browser.baseUrl }, signOut);
  expect(bySession).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
  const tables = (await owner('GET', `/api/v1/experiments/${experimentId}/tables`)).body as { displayName: string; totalRows: number }[];
  expect(tables.find(({ displayName }) => displayName === 'keyed')?.totalRows).toBe(1);
});

test('an upload that comes while its table is being deleted is told so', async () => {
  const gone = await uploadTable(owner, experimentId, 'going', 'n\n0\n');
  const one = beginUpload({ targetKind: 'existing', uploadTableId: gone });
  one.end();
  expect((await one.answer).status).toBe(201);
  // whoever deletes the table holds it until that is committed, and the upload waits
  const two = await site.db.transaction(async (tx) => {
    await tx.run(sql('test.delete')`delete from lake_tables where id = ${gone}`);
    const late = beginUpload({ targetKind: 'existing', uploadTableId: gone });
    late.end();
    await sleep(500);
    return late;
  });
  expect(await two.answer).toMatchObject({ status: 410, body: { code: 'TABLE_DELETED' } });
});

test('of uploads with one key at once the first is stored, and the others are told that it runs and then its answer', async () => {
  const fields = { targetKind: 'new', targetName: 'once' };
  const headers = { 'idempotency-key': 'once' };
  const known = await countUploads();
  const first = beginUpload(fields, headers);
  await begun(known);
  const during = await Promise.all(
    Array.from({ length: 4 }, () => {
      const other = beginUpload(fields, headers);
      other.end();
      return other.answer;
    }),
  );
  for (const each of during)
    expect(each).toMatchObject({ status: 409, headers: { 'retry-after': '1' }, body: { code: 'IDEMPOTENCY_IN_PROGRESS' } });
  first.end();
  const stored = await first.answer;
  expect(stored.status).toBe(201);
  const again = beginUpload(fields, headers);
  again.end();
  expect(await again.answer).toMatchObject({ status: 201, headers: { 'idempotency-replayed': 'true' }, body: stored.body });
  const other = beginUpload({ targetKind: 'new', targetName: 'other' }, headers);
  other.end();
  expect(await other.answer).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  expect(await countUploads()).toBe(known + 1);
  expect(await ended(stored.body.uploadId)).toMatchObject({ status: 'completed', rowCount: 2 });
  expect((await readdir(join(site.dataDir, 'objects/uploads'))).length).toBeLessThanOrEqual(known + 1);
});

test('an upload that is refused gives its key back', async () => {
  const headers = { 'idempotency-key': 'refused' };
  await uploadTable(owner, experimentId, 'taken', 'n\n0\n');
  const refused = beginUpload({ targetKind: 'new', targetName: 'taken' }, headers);
  refused.end();
  expect(await refused.answer).toMatchObject({ status: 409, body: { code: 'TABLE_NAME_TAKEN' } });
  await expect
    .poll(async () => {
      const next = beginUpload({ targetKind: 'new', targetName: 'free' }, headers);
      next.end();
      return (await next.answer).status;
    })
    .toBe(201);
});
