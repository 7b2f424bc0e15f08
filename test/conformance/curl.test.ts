import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';

const folder = mkdtempSync(join(tmpdir(), 'fieldlake-curl-'));
let site: BuiltSite;
let uploads: string;
beforeAll(async () => {
  if (spawnSync('which', ['curl']).status !== 0) throw new Error('curl is needed: apt install curl');
  site = await startBuiltSite();
  const body = { name: 'Curl', organizationId: site.cast.leafLab };
  uploads = `/api/v1/experiments/${String((await site.owner('POST', '/api/v1/experiments', { body })).body.id)}/data/uploads`;
});
afterAll(async () => {
  await site.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs curl on a path as the owner; `verbose` holds what went over the wire, headers only. */
async function curl(path: string, ...options: string[]): Promise<{ code: number; status: number; body: string; verbose: string }> {
  const child = spawn('curl', [
    ...['-sS', '-v', '--max-time', '60', '-H', `x-api-key: ${site.cast.owner.apiKey}`, '-w', '\n%{http_code}'],
    ...[...options, site.server.baseUrl + path],
  ]);
  let [out, verbose] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (verbose += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  const at = out.lastIndexOf('\n');
  return { code, status: Number(out.slice(at + 1)), body: out.slice(0, at), verbose };
}

const POST = ['-H', 'Content-Type: application/json', '--data-binary', '{"userIds":["nobody"]}'];
const PEOPLE = '/api/v1/users/metadata';

test('HTTP/2 with prior knowledge is refused as a whole, and nobody else hears of it', async () => {
  expect(await curl('/health/live', '--http1.1')).toMatchObject({ code: 0, status: 200 });
  const refused = await curl('/health/live', '--http2-prior-knowledge');
  expect(refused.code).not.toBe(0);
  // 28 would be a timeout: curl was not left waiting
  expect(refused.code).not.toBe(28);
  // an offer of HTTP/2 is not taken up
  expect(await curl('/health/live', '--http2')).toMatchObject({ code: 0, status: 200 });
  expect(site.server.child.exitCode).toBeNull();
});

test('a body is told to go on, and comes in chunks, at once or slowly', async () => {
  expect(await curl(PEOPLE, ...POST)).toMatchObject({ code: 0, status: 200 });
  const waiting = await curl(PEOPLE, ...POST, '-H', 'Expect: 100-continue', '--expect100-timeout', '30');
  expect(waiting).toMatchObject({ code: 0, status: 200 });
  expect(waiting.verbose).toContain('HTTP/1.1 100 Continue');
  expect(await curl(PEOPLE, ...POST, '-H', 'Transfer-Encoding: chunked')).toMatchObject({ code: 0, status: 200 });
  expect(await curl(PEOPLE, ...POST, '--limit-rate', '20')).toMatchObject({ code: 0, status: 200 });
  expect(await curl(PEOPLE, ...POST, '--http1.0')).toMatchObject({ code: 0, status: 200 });
  writeFileSync(join(folder, 'body.gz'), gzipSync('{"userIds":["nobody"]}'));
  const packed = ['-H', 'Content-Type: application/json', '-H', 'Content-Encoding: gzip', '--data-binary', `@${join(folder, 'body.gz')}`];
  expect(await curl(PEOPLE, ...packed)).toMatchObject({ code: 0, status: 200 });
});

test('a file is uploaded in chunks and slowly, and read back in every format with HEAD before it', async () => {
  const file = join(folder, 'rows.csv');
  writeFileSync(file, ['a,b', ...Array.from({ length: 5_000 }, (_, index) => `${index},${index % 7}`)].join('\n'));
  const form = (name: string) =>
    Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: name, files: `@${file}` }).flatMap(([field, value]) => [
      '-F',
      `${field}=${value}`,
    ]);
  const chunked = await curl(uploads, ...form('chunked'), '-H', 'Transfer-Encoding: chunked');
  const slow = await curl(uploads, ...form('slow'), '--limit-rate', '20K', '-H', 'Expect: 100-continue');
  for (const made of [chunked, slow]) {
    expect(made).toMatchObject({ code: 0, status: 201 });
    const { uploadId } = JSON.parse(made.body) as { uploadId: string };
    let status = '';
    for (let tries = 0; tries < 1_200 && status !== 'completed'; tries += 1) {
      ({ status } = JSON.parse((await curl(`${uploads}/${uploadId}`)).body) as { status: string });
      await sleep(50);
    }
    expect(status).toBe('completed');
  }
  const data = uploads.replace('uploads', '').replace(/\/$/, '?tableName=slow');
  for (const accept of [
    'application/json',
    'text/csv',
    'application/x-ndjson',
    'application/vnd.apache.arrow.stream',
    'application/vnd.apache.parquet',
  ])
    for (const version of ['--http1.1', '--http1.0']) {
      const out = join(folder, 'answer');
      const head = await curl(data, '-I', version, '-H', `Accept: ${accept}`);
      const got = await curl(data, version, '-H', `Accept: ${accept}`, '-o', out);
      expect([head.code, head.status, got.code, got.status], `${accept} ${version}`).toEqual([0, 200, 0, 200]);
      expect(readFileSync(out).length).toBeGreaterThan(1_000);
    }
});
