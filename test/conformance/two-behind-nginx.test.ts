/** Two machines behind nginx, one of which goes: who listens to changes is told each of them, once. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changesOf } from '../../clients/typescript/src/changes.ts';
import { connect } from '../../clients/typescript/src/client.ts';
import { sql } from '../../src/database/sql.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { findFreePort } from '../support/free-port.ts';
import { listen } from '../support/listeners.ts';
import { startNginx } from '../support/nginx.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

/** Listeners of each kind; nginx gives each process half of them. */
const LISTENERS = 4;
const CHANGES = 30;
const PAUSE_MS = 100;

let site: Awaited<ReturnType<typeof sharedSite>>;
let environments: Record<string, string>[];
let servers: ServerProcess[];
let baseUrl: string;
let owner: Person;
let stopNginx: (() => void) | undefined;

beforeAll(async () => {
  site = await sharedSite();
  const port = await findFreePort();
  baseUrl = `http://127.0.0.1:${port}`;
  const ports = [await findFreePort(), await findFreePort()];
  environments = ports.map((each) => ({
    ...site.environment,
    BASE_URL: baseUrl,
    TRUST_PROXY_HOPS: '1',
    PORT: String(each),
    BROKER: 'off',
  }));
  servers = await Promise.all(environments.map((environment) => spawnServer(environment)));
  stopNginx = await startNginx(port, `http://127.0.0.1:${ports[0]!}`, `http://127.0.0.1:${ports[1]!}`);
  owner = await makePerson(site.database.db, 'owner');
});
afterAll(async () => {
  await Promise.all((servers ?? []).map((server) => server.kill('SIGTERM')));
  stopNginx?.();
  await site?.remove();
});

/** Makes changes one after the other; answers their ids. */
async function makeChanges(experimentId: string): Promise<string[]> {
  const ids = Array.from({ length: CHANGES }, () => randomUUID());
  for (const id of ids) {
    await site.database.db.run(sql('test')`
      insert into uploads (id, experiment_id, source_kind, status, completed_at) values (${id}, ${experimentId}, 'csv', 'failed', now())`);
    await sleep(PAUSE_MS);
  }
  return ids;
}

test.each([
  ['SIGKILL', 0],
  ['SIGTERM', 1],
] as const)('listeners go to the other machine when theirs is gone (%s), and nothing is lost or told twice', async (signal, at) => {
  const made = await fetch(`${baseUrl}/api/v1/experiments`, {
    method: 'POST',
    headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `Behind nginx, ${signal}` }),
  });
  const { id: experimentId } = (await made.json()) as { id: string };
  const url = `${baseUrl}/api/v1/experiments/${experimentId}/changes`;
  const browsers = Array.from({ length: LISTENERS }, () => listen(url, { 'x-api-key': owner.apiKey }));
  const leaving = new AbortController();
  const client = connect({ baseUrl, apiKey: owner.apiKey });
  const consoles = Array.from({ length: LISTENERS }, () => [] as { kind: string; uploadId?: string }[]);
  const listening = consoles.map(async (heard) => {
    for await (const { kind, data } of changesOf(client, experimentId, { signal: leaving.signal }))
      heard.push(kind === 'upload' ? { kind, uploadId: data.uploadId } : { kind });
  });
  try {
    await Promise.all(browsers.map((browser) => browser.until(({ kind }) => kind === 'reset')));
    await expect.poll(() => consoles.filter(({ length }) => length === 0)).toEqual([]);
    const before = await makeChanges(experimentId);
    const [during] = await Promise.all([makeChanges(experimentId), servers[at]!.kill(signal)]);
    const all = [...before, ...during];
    const last = all.at(-1);
    await Promise.all(browsers.map((browser) => browser.until(({ data }) => data['uploadId'] === last)));
    await expect.poll(() => consoles.filter((heard) => heard.at(-1)?.uploadId !== last), { timeout: 60_000 }).toEqual([]);
    for (const browser of browsers) {
      expect(browser.of('upload').map(({ uploadId }) => uploadId as string)).toEqual(all);
      expect(browser.of('reset')).toHaveLength(1);
      expect(browser.refusals).toEqual([]);
    }
    for (const heard of consoles) {
      expect(heard.flatMap(({ uploadId }) => (uploadId === undefined ? [] : [uploadId]))).toEqual(all);
      expect(heard.filter(({ kind }) => kind === 'reset')).toHaveLength(1);
    }
    // half of them had to begin again
    expect(browsers.filter((browser) => browser.begun() > 1).length).toBeGreaterThan(0);
  } finally {
    leaving.abort();
    await Promise.allSettled(listening);
    for (const browser of browsers) browser.close();
    servers[at] = await spawnServer(environments[at]!);
  }
});
