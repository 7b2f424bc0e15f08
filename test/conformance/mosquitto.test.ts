import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort } from '../support/free-port.ts';
import type { Quickstart } from '../../src/operator/sample/sample.service.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';

const readPage = (name: string) => readFileSync(join(import.meta.dirname, '..', '..', name), 'utf8');
const listBlocks = (page: string) => [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block!);

/** The variables of all pages, as README sets them. */
const VARIABLES = listBlocks(readPage('README.md')).find((block) => block.includes('EXPERIMENT='))!;
/** The walk of docs/devices.md, as it is printed there, with Debian's `mosquitto_pub`, `jq` and `curl` against the server by itself. */
const WALK = listBlocks(readPage('docs/devices.md'))[0]!;
const PUBLISH = /^mosquitto_pub [^\n]*\\\n[^\n]*$/m.exec(WALK)![0];

const folder = mkdtempSync(join(tmpdir(), 'fieldlake-mosquitto-'));
let server: ServerProcess;
let quickstart: Quickstart;
let brokerPort: number;

beforeAll(async () => {
  for (const program of ['mosquitto_pub', 'jq', 'curl'])
    if (spawnSync('which', [program]).status !== 0) throw new Error(`${program} is needed: apt install mosquitto-clients jq curl`);
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  // where the page has it
  symlinkSync(dataDir, join(folder, '.data'));
  brokerPort = await findFreePort();
  server = await spawnServer({ DATA_DIR: dataDir, SAMPLE_DATA: 'on', BROKER_PORT: String(brokerPort) });
  for (let tries = 0; !server.output().includes('quickstart.json'); tries += 1) {
    if (tries > 600) throw new Error('the sample did not come');
    await sleep(200);
  }
  quickstart = JSON.parse(readFileSync(join(dataDir, 'quickstart.json'), 'utf8')) as Quickstart;
  // rows of the sample are on their way for a while
  for (let tries = 0; !/measurements can be read/.test(server.output()) && tries < 900; tries += 1) await sleep(200);
});
afterAll(async () => {
  await server.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

/** Runs shell text where the page's files are; only the ports differ from what is printed. */
async function shell(text: string, variables: Record<string, string> = {}): Promise<{ code: number; said: string }> {
  const here = text.replaceAll('-p 8883', `-p ${brokerPort}`);
  const script = join(folder, 'walk.sh');
  writeFileSync(script, `set -euo pipefail\n${VARIABLES}${here}\n`);
  const child = spawn('bash', [script], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...variables },
    timeout: 90_000,
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? -1, said };
}

async function call(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${server.baseUrl}/api/v1/${path}`, {
    method,
    headers: { 'x-api-key': quickstart.apiKey, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return response.json();
}

const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, any>;
const rangeNow = () =>
  new URLSearchParams({
    from: new Date(Date.now() - 3_600_000).toISOString(),
    to: new Date(Date.now() + 3_600_000).toISOString(),
    bucket: 'hour',
  }).toString();

async function rowsOf(experimentId: string, deviceName: string): Promise<any[]> {
  const filters = JSON.stringify([{ column: 'device_id', operator: 'equals', value: deviceName }]);
  const query = new URLSearchParams({ tableName: 'raw_data', filters, pageSize: '100' }).toString();
  const [page] = await call('GET', `experiments/${experimentId}/data?${query}`);
  return (page?.data.rows ?? []) as any[];
}

test('what the page prints brings a measurement into the table within 5 s and into monitoring; each fault is refused after the same has worked', async () => {
  const walked = await shell(WALK);
  const published = Date.now();
  expect(walked, walked.said).toMatchObject({ code: 0 });
  const device = read('device.json');
  const id = String(device['id']);
  await expect.poll(async () => (await rowsOf(quickstart.experimentId, 'Blue')).length, { timeout: 5_000, interval: 100 }).toBe(1);
  process.stdout.write(`${JSON.stringify({ readableAfterMs: Date.now() - published })}\n`);
  const [row] = await rowsOf(quickstart.experimentId, 'Blue');
  expect(JSON.parse(typeof row.data === 'string' ? row.data : JSON.stringify(row.data ?? {}))).toMatchObject({ spad: 41.5 });
  const watched = () => call('GET', `devices/${id}/monitoring?${rangeNow()}`);
  await expect
    .poll(watched)
    .toMatchObject({ payload: { totalMeasurements: 1 }, throughput: [{ experimentId: quickstart.experimentId, count: 1 }] });
  // that it has left is heard after its message
  await expect
    .poll(async () => (await watched()).events.map((event: { eventType: string }) => event.eventType))
    .toEqual(['connected', 'disconnected']);
  const fleet = await call('GET', `devices/monitoring?${rangeNow()}`);
  expect(fleet.devices).toEqual(expect.arrayContaining([{ deviceId: id, lastDataAt: expect.any(String) }]));

  const prefix = String(read('onboarding.json')['experiments'][0].topicPrefix);
  const variables = { THING: String(device['thingName']), PREFIX: prefix };
  let sent = 1;
  const works = async (text = PUBLISH, more: Record<string, string> = {}) => {
    const result = await shell(text.replace('\\"spad\\":41.5', `\\"spad\\":${40 + (sent += 1)}`), { ...variables, ...more });
    expect(result, result.said).toMatchObject({ code: 0 });
  };
  const isRefused = async (text = PUBLISH, more: Record<string, string> = {}) => {
    const { code, said } = await shell(text, { ...variables, ...more });
    expect(code, said).not.toBe(0);
    return said;
  };
  await works();
  // another client id
  await isRefused(PUBLISH, { THING: `${variables.THING}x` });
  // no certificate
  await works();
  await isRefused(PUBLISH.replace('--cert device.pem --key device.key ', ''));
  // an experiment that the device is not bound to, and then is
  const other = await call('POST', 'experiments', { name: 'Another field', organizationId: quickstart.organizationId });
  const elsewhere = { PREFIX: prefix.replace(quickstart.experimentId, other.id) };
  await call('POST', `devices/${id}/onboard`, { experimentIds: [other.id] });
  await works(PUBLISH, elsewhere);
  await call('DELETE', `experiments/${other.id}/devices/${id}`);
  await isRefused(PUBLISH, elsewhere);
  // a revoked certificate
  await works();
  await call('DELETE', `devices/${id}/credentials`);
  await isRefused();
  await expect.poll(async () => (await rowsOf(quickstart.experimentId, 'Blue')).length).toBe(sent - 1);
  await expect.poll(async () => (await rowsOf(other.id, 'Blue')).length).toBe(1);
});

test('the other pages do what they print, one block after the other in one shell', async () => {
  const blocks = ['files', 'charts', 'webhooks', 'changes'].flatMap((name) => listBlocks(readPage(`docs/${name}.md`)));
  expect(blocks).toHaveLength(7);
  // a change waits for the rows of the upload, and a stream of changes does not end by itself
  const text = blocks.map((block) =>
    block.replace('curl -sS -X PATCH', 'sleep 10; curl -sS -X PATCH').replace('curl -N', 'timeout 3 curl -N'),
  );
  const { said } = await shell(text.map((block) => `${block.trimEnd()} || [ $? -eq 124 ]\necho; echo ===`).join('\n'));
  const answers = said.split('===\n').slice(0, -1);
  expect(answers, said).toHaveLength(blocks.length);
  expect(answers.filter((answer) => answer.includes('"code":'))).toEqual([]);
  const [, preview, change, withdrawal, chart, webhook, changes] = answers;
  expect(preview).toContain('"type":"DATE"');
  expect(change).toContain('"name":"chlorophyll"');
  expect(withdrawal).toContain('"withdrawRequestedAt":"');
  expect(chart).toContain('"name":"SPAD by genotype"');
  expect(webhook).toContain('"secret":"whsec_');
  expect(changes).toContain('"reason":"begun"');
});
