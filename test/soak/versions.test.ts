import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHECKPOINT_EVERY } from '../../src/lakehouse/tables/delta/schema.ts';
import { publishWaiting } from '../../src/lakehouse/tables/delta/publisher.ts';
import { printTableFolder } from '../../src/lakehouse/tables/delta/places.ts';
import { compactTable } from '../../src/lakehouse/tables/maintenance.ts';
import { commit, listFilesAt, findTableById } from '../../src/lakehouse/tables/manifest.ts';
import { openLake, type Lake } from '../ingest/setup.ts';
import { startMoto } from '../support/moto.ts';
import { pythonWith } from '../support/python.ts';

/** What opening a table costs a reader of `deltalake` after many versions, beside what it cost after a hundred. */
const VERSIONS = Math.round(10_000 * Number(process.env['SOAK'] ?? 1));
const FEW = 100;
const COMPACTED_EVERY = 60;
const MOST_RATIO = 1.5;

let lake: Lake;
let python: string;
/** Tables of few and of many versions. */
let folders: string[];
beforeAll(async () => {
  lake = await openLake();
  python = join(pythonWith('deltalake==1.6.3', 'pyarrow'), 'python');
  folders = [await makeTable(FEW), await makeTable(VERSIONS)];
}, 3_600_000);
afterAll(() => lake.close());

const OPEN = `
import sys, json, time
from deltalake import DeltaTable
def once(folder):
    began = time.perf_counter()
    table = DeltaTable(folder)
    files = len(table.file_uris())
    return time.perf_counter() - began, table.version(), files
folders = sys.argv[1:]
times = {folder: [] for folder in folders}
for turn in range(41):
    for folder in folders:
        seconds, version, files = once(folder)
        if turn > 0: times[folder].append(seconds)
print(json.dumps([sorted(times[folder])[20] * 1000 for folder in folders] + [version, files]))
`;

async function makeTable(versions: number): Promise<string> {
  const { id, experimentId } = await lake.makeTable();
  const version = async () => (await findTableById(lake.db, id))?.version ?? 0;
  // as far behind its last checkpoint as any other
  for (let at = 1; (await version()) < versions || (await version()) % CHECKPOINT_EVERY !== CHECKPOINT_EVERY / 2; at += 1) {
    const staged = await lake.staging.stage({
      tableId: id,
      experimentId,
      select: { sql: `select 'row ${at}' as id, timestamptz '2026-05-01' + interval ${at} second as uploaded_at, ${at} as n`, values: [] },
      sortColumn: 'uploaded_at',
    });
    await lake.db.transaction((tx) => commit(tx, { tableId: id, cause: 'ingest', files: staged.files }));
    if (at % COMPACTED_EVERY === 0) await compactTable(lake.deps, id, { sortColumn: 'uploaded_at' });
  }
  while ((await publishWaiting(lake.deps, { onProblem: (_table, error) => expect.unreachable(String(error)) })) > 0);
  const table = await findTableById(lake.db, id);
  const files = await listFilesAt(lake.db, id, table?.version ?? 0);
  expect(table?.version).toBeGreaterThanOrEqual(versions);
  expect(files.length).toBeLessThan(200);
  return join(lake.folder, 'lake', printTableFolder(experimentId, id));
}

test(`opening a table of ${VERSIONS} versions costs a reader at most ${MOST_RATIO} times what one of ${FEW} costs`, () => {
  const program = join(lake.folder, 'open.py');
  writeFileSync(program, OPEN);
  const [few = 0, many = 0, version, files] = JSON.parse(execFileSync(python, [program, ...folders], { encoding: 'utf8' })) as number[];
  console.log(`${few.toFixed(1)} ms at ${FEW} versions, ${many.toFixed(1)} ms at ${version} (${files} files): ${(many / few).toFixed(2)}`);
  expect(many / few).toBeLessThanOrEqual(MOST_RATIO);
});

/** Hands requests on to another server, and counts them and the keys that it lists. */
async function startCounting(endpoint: string) {
  const counts = { requests: 0, keys: 0 };
  const server = createServer((request, response) => {
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      name === 'host' ? [] : [[name, String(value)]],
    );
    void (async () => {
      const answer = await fetch(`${endpoint}${request.url}`, { method: request.method ?? 'GET', headers });
      const body = Buffer.from(await answer.arrayBuffer());
      counts.requests += 1;
      counts.keys += body.toString('latin1').split('<Key>').length - 1;
      response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': body.length }).end(body);
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { counts, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

const OPEN_IN_BUCKET = `
import sys
from deltalake import DeltaTable
table = DeltaTable(sys.argv[1], storage_options={
    "AWS_ENDPOINT_URL": sys.argv[2], "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"})
print(table.version(), len(table.file_uris()))
`;

test('in a bucket many versions are no more requests than few, nor more names', async () => {
  const moto = await startMoto();
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const s3 = new S3Client({ region: 'us-east-1', endpoint: moto.endpoint, credentials, forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: 'lake' }));
  const counting = await startCounting(moto.endpoint);
  const open = async (folder: string) => {
    const log = join(folder, '_delta_log');
    for (const name of readdirSync(log))
      await s3.send(
        new PutObjectCommand({ Bucket: 'lake', Key: `${basename(folder)}/_delta_log/${name}`, Body: readFileSync(join(log, name)) }),
      );
    Object.assign(counting.counts, { requests: 0, keys: 0 });
    const asked = ['-c', OPEN_IN_BUCKET, `s3://lake/${basename(folder)}`, counting.endpoint];
    const { stdout } = await promisify(execFile)(python, asked, { encoding: 'utf8' });
    console.log(`version and files ${stdout.trim()}: ${JSON.stringify(counting.counts)}`);
    return { ...counting.counts };
  };
  try {
    const [few, many] = [await open(folders[0]!), await open(folders[1]!)];
    expect(few.keys).toBeGreaterThan(CHECKPOINT_EVERY / 2);
    expect(many).toEqual(few);
  } finally {
    counting.stop();
    s3.destroy();
    await moto.stop();
  }
});
