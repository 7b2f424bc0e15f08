/** A lake that moves from the folder into a bucket at moto, and back, by the command. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, DeleteObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, type Person } from '../support/cast.ts';
import { runCommand } from '../support/command.ts';
import { startMoto } from '../support/moto.ts';
import { sharedSite, spawnServer } from '../support/process.ts';
import { callsTo, type Call } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

const BUCKET = 'moved-lake';
const REGION = 'eu-central-1';
let endpoint: string;
let stop: () => Promise<unknown>;
let s3: S3Client;
let site: Awaited<ReturnType<typeof sharedSite>>;
let owner: Person;
let bucket: Record<string, string>;

beforeAll(async () => {
  ({ endpoint, stop } = await startMoto());
  s3 = new S3Client({
    region: REGION,
    endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'testing', secretAccessKey: 'testing' },
  });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET, CreateBucketConfiguration: { LocationConstraint: REGION } }));
  site = await sharedSite();
  owner = await makePerson(site.database.db, 'owner');
  bucket = {
    S3_BUCKET: BUCKET,
    S3_REGION: REGION,
    S3_ENDPOINT: endpoint,
    S3_ACCESS_KEY_ID: 'testing',
    S3_SECRET_ACCESS_KEY: 'testing',
  };
});
afterAll(async () => {
  s3.destroy();
  await stop();
  await site.remove();
});

/** What is asked of a server that runs only meanwhile. */
async function during<T>(environment: Record<string, string>, ask: (call: Call) => Promise<T>): Promise<T> {
  const server = await spawnServer({ ...site.environment, ...environment });
  try {
    return await ask(callsTo(server.baseUrl)(owner));
  } finally {
    await server.kill('SIGTERM');
  }
}

const inBucket = async () => {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: 'tables/' }));
  return Contents.flatMap(({ Key }) => Key ?? []);
};

test('a lake moves into the bucket and back with every version, and no process looks for it elsewhere', async () => {
  const { experimentId, table } = await during({}, async (call) => {
    const { body } = await call('POST', '/api/v1/experiments', { body: { name: 'Moving' } });
    return { experimentId: String(body.id), table: await uploadTable(call, String(body.id), 'moved', 'a,b\n1,x\n2,y\n') };
  });
  const read = async (call: Call) => {
    const answer = await call('GET', `/api/v1/experiments/${experimentId}/data`, {
      query: { tableName: table },
      headers: { accept: 'text/csv' },
    });
    expect(answer.status, answer.text).toBe(200);
    return answer.text;
  };
  const before = await during({}, read);
  expect(before.trim().split('\n')).toHaveLength(3);
  await expect(during(bucket, read)).rejects.toThrow(/npm run lake -- migrate/);
  // an installation of before that had a bucket for its objects
  expect(await during({ ...bucket, LAKE: 'folder' }, read)).toBe(before);

  const at = { url: site.database.url, dataDir: site.folder };
  const migrate = (environment: Record<string, string>) => runCommand({ ...at, environment }, 'lake', 'migrate');
  expect((await migrate({})).json).toMatchObject({ copied: 0, place: 'folder' });
  const there = await migrate(bucket);
  expect(there.json, there.problem).toMatchObject({ place: `s3://${BUCKET}` });
  const keys = await inBucket();
  expect(keys.length).toBe(there.json.copied);
  expect(keys.filter((key) => key.includes('_delta_log')).length).toBeGreaterThan(0);
  expect((await migrate(bucket)).json).toMatchObject({ copied: 0 });

  rmSync(join(site.folder, 'lake'), { recursive: true });
  expect(await during(bucket, read)).toBe(before);
  await expect(during({}, read)).rejects.toThrow(new RegExp(`S3_BUCKET=${BUCKET}`));
  const verified = await runCommand({ ...at, environment: bucket }, 'lake', 'verify');
  expect(verified.json, verified.problem).toMatchObject({ problems: [] });

  // more is written there, and a backup has all of it
  const more = await during(bucket, (call) => uploadTable(call, experimentId, 'more', 'c\n3\n'));
  const kept = join(mkdtempSync(join(tmpdir(), 'fieldlake-kept-')), 'backup');
  const backup = await runCommand({ ...at, environment: bucket }, 'backup', kept);
  expect(backup.json, backup.problem).toMatchObject({ missing: [] });
  expect(backup.json.lakeFiles).toBeGreaterThan(1);
  expect(readdirSync(join(kept, 'files', 'lake', 'tables'))).toEqual([experimentId]);

  const back = await migrate({ ...bucket, LAKE: 'folder' });
  expect(back.json, back.problem).toMatchObject({ place: 'folder' });
  for (const Key of await inBucket()) await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }));
  expect(await during({}, read)).toBe(before);
  const answer = await during({}, (call) => call('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName: more } }));
  expect(answer.body[0].data.rows).toHaveLength(1);
});
