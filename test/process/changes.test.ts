import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get, request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { makePerson } from '../support/cast.ts';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { findFreePort } from '../support/free-port.ts';
import { HEARD_MS, listen } from '../support/listeners.ts';
import { spawnServer } from '../support/process.ts';
import { seededRandom } from '../support/random.ts';
import { rawSocket, sendRaw } from '../support/raw-http.ts';

const ROUNDS = process.env['SOAK'] === undefined ? 4 : 60;

let site: BuiltSite;
beforeAll(async () => {
  site = await startBuiltSite();
});
afterAll(() => site.stop());

async function makeExperiment(): Promise<string> {
  const { body } = await site.owner('POST', '/api/v1/experiments', { body: { name: 'Changes', organizationId: site.cast.leafLab } });
  return String(body.id);
}
const pathOf = (experimentId: string) => `/api/v1/experiments/${experimentId}/changes`;

/** An upload that is noted and never arrives, as a transaction that stays open for a while. */
const upload = (experimentId: string, id: string, ms = 0, isKept = true) =>
  site.db
    .transaction(async (tx) => {
      await tx.run(sql('test')`
        insert into uploads (id, experiment_id, source_kind, status, completed_at) values (${id}, ${experimentId}, 'csv', 'failed', now())`);
      await sleep(ms);
      if (!isKept) throw new Error('given up');
    })
    .catch(() => undefined);

interface Stream {
  response: IncomingMessage;
  text: () => string;
  isOver: () => boolean;
}

function begin(baseUrl: string, experimentId: string, apiKey: string, headers: Record<string, string> = {}): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const asked = get(`${baseUrl}${pathOf(experimentId)}`, { agent: false, headers: { 'x-api-key': apiKey, ...headers } }, (response) => {
      let text = '';
      let isOver = false;
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', () => undefined).once('close', () => (isOver = true));
      resolve({ response, text: () => text, isOver: () => isOver });
    });
    asked.once('error', reject);
  });
}

const close = ({ response }: Stream) => response.destroy();
const problem = async (stream: Stream) => {
  if (!stream.isOver()) await once(stream.response, 'close');
  const { statusCode, headers } = stream.response;
  return { status: statusCode, code: (JSON.parse(stream.text()) as { code: string }).code, retryAfter: Number(headers['retry-after']) };
};

// they wait more than they work
test.concurrent('a stream is a stream to every client and to what stands between', async ({ expect }) => {
  const id = await makeExperiment();
  const { baseUrl } = site.server;
  const key = site.cast.owner.apiKey;
  const stream = await begin(baseUrl, id, key);
  expect(stream.response.statusCode).toBe(200);
  expect(stream.response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-request-id': expect.any(String),
  });
  await expect
    .poll(stream.text, { timeout: HEARD_MS })
    .toMatch(/^retry: [1-5]\d{3}\n\nevent: reset\nid: \S+\ndata: \{"reason":"begun"\}\n\n$/);
  // a line that is quiet says so, with an id to go on from
  await expect.poll(stream.text, { timeout: 20_000, interval: 500 }).toMatch(/\n\n: nothing new\nid: \S+\n\n$/);
  const given = /: nothing new\nid: (\S+)/.exec(stream.text())?.[1] ?? '';
  const missed = randomUUID();
  close(stream);
  await upload(id, missed);
  const resumed = await begin(baseUrl, id, key, { 'last-event-id': given });
  await expect.poll(resumed.text, { timeout: HEARD_MS }).toContain(missed);
  expect(resumed.text()).not.toContain('reset');
  close(resumed);

  const asked = (method: string, version: string) =>
    sendRaw(baseUrl, `${method} ${pathOf(id)} HTTP/${version}\r\nHost: x\r\nx-api-key: ${key}\r\n\r\n`, {
      methods: [method],
      quietMs: 2_000,
    });
  const head = (await asked('HEAD', '1.1')).answers[0];
  expect(head).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: Buffer.alloc(0) });
  const socket = await asked('GET', '1.0');
  // over HTTP/1.0 it goes on until the connection ends, without chunks
  expect([socket.closed, socket.answers]).toEqual([false, []]);
  expect(socket.rest.toString()).toMatch(/^HTTP\/1\.[01] 200[^]*\r\n\r\nretry: \d+\n\nevent: reset\n/);
  expect(socket.rest.toString().toLowerCase()).not.toContain('transfer-encoding');
});

test.concurrent('a process and a caller have so many streams and no more, and they are given back', async ({ expect }) => {
  const server = await spawnServer({ ...site.environment, LISTENERS_AT_ONCE: '4' });
  try {
    const id = await makeExperiment();
    await site.db.run(sql('test')`update resources set visibility = 'public' where id = ${id}`);
    const [first, second, third] = [site.cast.owner, site.cast.member, site.cast.stranger];
    const held = [await begin(server.baseUrl, id, first.apiKey), await begin(server.baseUrl, id, first.apiKey)];
    expect(await problem(await begin(server.baseUrl, id, first.apiKey))).toMatchObject({ status: 429, code: 'TOO_MANY_LISTENERS' });
    held.push(await begin(server.baseUrl, id, second.apiKey), await begin(server.baseUrl, id, second.apiKey));
    const full = await problem(await begin(server.baseUrl, id, third.apiKey));
    expect(full).toMatchObject({ status: 503, code: 'OVERLOADED' });
    expect(full.retryAfter).toBeGreaterThan(0);
    close(held.pop()!);
    const begun = async () => {
      const stream = await begin(server.baseUrl, id, third.apiKey);
      if (stream.response.statusCode === 200) held.push(stream);
      return stream.response.statusCode;
    };
    await expect.poll(begun).toBe(200);
    held.forEach(close);
  } finally {
    await server.kill('SIGTERM');
  }
});

test.concurrent('a caller has 20 streams, which hold no place of a request and no connection of Postgres', async ({ expect }) => {
  const url = `${site.environment['DATABASE_URL'] ?? ''}&application_name=`;
  const server = await spawnServer({ ...site.environment, DATABASE_URL: `${url}listened-to`, REQUESTS_AT_ONCE: '4' });
  // the owner of the database: others are not told what a connection does
  const owner = new pg.Client({ connectionString: `${url}counting` });
  await owner.connect();
  const connections = async () =>
    (
      await owner.query<{ open: number; busy: number }>(`
        select count(*)::int as open, count(*) filter (where state <> 'idle')::int as busy from pg_stat_activity where application_name = 'listened-to'`)
    ).rows[0];
  try {
    const id = await makeExperiment();
    const { apiKey } = site.cast.owner;
    const held: Stream[] = [];
    for (let count = 0; count < 20; count += 1) held.push(await begin(server.baseUrl, id, apiKey));
    expect(held.map(({ response }) => response.statusCode)).toEqual(held.map(() => 200));
    expect(await problem(await begin(server.baseUrl, id, apiKey))).toMatchObject({ status: 429, code: 'TOO_MANY_LISTENERS' });
    const answers = [];
    for (let count = 0; count < 20; count += 1)
      answers.push((await fetch(`${server.baseUrl}/api/v1/experiments/${id}`, { headers: { 'x-api-key': apiKey } })).status);
    expect(new Set(answers)).toEqual(new Set([200]));
    const gauges = async () =>
      (await (await fetch(`${server.adminUrl}/metrics`)).text()).match(/^(change_listeners|http_requests_in_work) .*$/gm);
    expect(await gauges()).toEqual(['change_listeners 20', 'http_requests_in_work 0']);
    const { open, busy } = (await connections()) ?? {};
    expect(open).toBeGreaterThan(0);
    expect(busy).toBeLessThan(5);
    held.forEach(close);
    await expect.poll(gauges).toEqual(['change_listeners 0', 'http_requests_in_work 0']);
  } finally {
    await owner.end();
    await server.kill('SIGTERM');
  }
});

test.concurrent('a caller who leaves while access is decided keeps no place of a listener', async ({ expect }) => {
  const server = await spawnServer(site.environment);
  try {
    const id = await makeExperiment();
    const { apiKey } = site.cast.owner;
    const leave = async (name: string) => {
      const socket = await rawSocket(server.baseUrl);
      socket.write(`GET ${pathOf(id)} HTTP/1.1\r\nHost: h\r\nx-api-key: ${apiKey}\r\nx-request-id: ${name}\r\n\r\n`);
      await sleep(100);
      socket.destroy();
    };
    const names = Array.from({ length: 20 }, (_, at) => `left-${at}`);
    await site.db.transaction(async (tx) => {
      // nobody's access is decided until this ends
      await tx.run(sql('test')`lock table resources in access exclusive mode`);
      await Promise.all(names.map(leave));
      const isNoticed = (name: string) => new RegExp(`"requestId":"${name}".*"status":499`).test(server.output());
      await expect.poll(() => names.filter((name) => !isNoticed(name)), { timeout: 20_000 }).toEqual([]);
    });
    const stream = await begin(server.baseUrl, id, apiKey);
    expect(stream.response.statusCode).toBe(200);
    const listeners = async () => /^change_listeners (.*)$/m.exec(await (await fetch(`${server.adminUrl}/metrics`)).text())?.[1];
    expect(await listeners()).toBe('1');
    close(stream);
    await expect.poll(listeners).toBe('0');
  } finally {
    await server.kill('SIGTERM');
  }
});

test.concurrent('who does not take what is sent is cut, and the others are told', { timeout: 600_000 }, async ({ expect }) => {
  const id = await makeExperiment();
  const { baseUrl } = site.server;
  const quick = await begin(baseUrl, id, site.cast.owner.apiKey);
  const slow = request(`${baseUrl}${pathOf(id)}`, { agent: false, headers: { 'x-api-key': site.cast.owner.apiKey } }).end();
  const [response] = (await once(slow, 'response')) as [IncomingMessage];
  response.pause();
  response.on('error', () => undefined);
  await expect.poll(quick.text, { timeout: HEARD_MS }).toContain('begun');
  const cuts = async () => Number(/why="slow"\} (\d+)/.exec(await (await fetch(`${site.server.adminUrl}/metrics`)).text())?.[1] ?? 0);
  expect(await cuts()).toBe(0);
  // what sockets hold is some MiB; an event has far less than this
  const fill = 'x'.repeat(65_536);
  for (let round = 1; round <= 60 && (await cuts()) === 0; round += 1) {
    await site.db.run(sql('test')`
      insert into changes (experiment_id, kind, audience, data)
      select ${id}, 'table', 'read', jsonb_build_object('identifier', ${fill}::text, 'version', ${round}::integer) from generate_series(1, 20)`);
    await expect.poll(quick.text, { timeout: HEARD_MS }).toContain(`"version": ${round}, "identifier"`);
  }
  expect(await cuts()).toBe(1);
  expect(quick.isOver()).toBe(false);
  close(quick);
  slow.destroy();
});

test.concurrent(
  'over cuts and starts, everything is told once, whatever commits first',
  { timeout: 300_000 + ROUNDS * 20_000 },
  async () => {
    const random = seededRandom();
    const port = await findFreePort();
    const start = () => spawnServer({ ...site.environment, PORT: String(port) });
    let server = await start();
    const proxies = await Promise.all([0, 1, 2].map(() => startFaultProxy({ port, host: '127.0.0.1' })));
    const id = await makeExperiment();
    const people = [site.cast.owner, site.cast.member, await makePerson(site.db, 'late')];
    await site.db.run(sql('test')`
    insert into grants (id, resource_id, resource_type, user_id, role) values (gen_random_uuid(), ${id}, 'experiment', ${people[2]!.id}, 'viewer')`);
    const listeners = proxies.map((proxy, index) =>
      listen(`http://127.0.0.1:${proxy.port}${pathOf(id)}`, { 'x-api-key': people[index]!.apiKey }),
    );
    const kept = new Set<string>();
    let isWriting = true;
    // who is more than 200 behind reads anew: however long nothing is told, fewer are written meanwhile
    const isFarBehind = () => kept.size - Math.min(...listeners.map((listener) => listener.of('upload').length)) > 100;
    try {
      await Promise.all(listeners.map((listener) => listener.until(({ kind }) => kind === 'reset')));
      // transactions that overlap, of which one in five is given up
      const write = async () => {
        while (isWriting) {
          if (isFarBehind()) {
            await sleep(20);
            continue;
          }
          const upload$ = randomUUID();
          const isKept = random() > 0.2;
          await upload(id, upload$, random() * 300, isKept);
          if (isKept) kept.add(upload$);
          await sleep(random() * 300);
        }
      };
      const writers = Array.from({ length: 3 }, write);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (let cuts = 0; cuts < 4; cuts += 1) {
          await sleep(200 + random() * 800);
          const proxy = proxies[Math.floor(random() * proxies.length)]!;
          await proxy.set({ kind: 'reset' });
          await proxy.set({ kind: 'none' });
        }
        if (round % 2 === 0) continue;
        await server.kill(round % 4 === 1 ? 'SIGKILL' : 'SIGTERM');
        server = await start();
      }
      isWriting = false;
      await Promise.all(writers);
      const last = randomUUID();
      await upload(id, last);
      kept.add(last);
      await Promise.all(listeners.map((listener) => listener.until(({ data }) => data['uploadId'] === last)));
      expect(kept.size).toBeGreaterThan(ROUNDS * 10);
      for (const listener of listeners) {
        expect(listener.begun()).toBeGreaterThan(1);
        expect(listener.of('reset')).toEqual([{ reason: 'begun' }]);
        const told = listener.of('upload').map(({ uploadId }) => String(uploadId));
        expect(told.length).toBe(new Set(told).size);
        expect(new Set(told)).toEqual(kept);
      }
    } finally {
      isWriting = false;
      listeners.forEach((listener) => listener.close());
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await server.kill('SIGTERM');
    }
  },
);

test.concurrent('a service that stops ends its streams whole, and goes', async ({ expect }) => {
  const server = await spawnServer(site.environment);
  const id = await makeExperiment();
  const stream = await begin(server.baseUrl, id, site.cast.owner.apiKey);
  await expect.poll(stream.text, { timeout: HEARD_MS }).toContain('begun');
  const start = performance.now();
  await server.kill('SIGTERM');
  expect(server.child.exitCode).toBe(0);
  expect(performance.now() - start).toBeLessThan(15_000);
  expect([stream.isOver(), stream.response.complete]).toEqual([true, true]);
});
