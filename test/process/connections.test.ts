import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { rawSocket, sendRaw, type RawExchange } from '../support/raw-http.ts';
import { uploadTable } from '../support/uploads.ts';

let site: BuiltSite;
let data: string;
let silence: ReturnType<typeof keepSilent>;
beforeAll(async () => {
  site = await startBuiltSite();
  silence = keepSilent();
  // looked at by the test that awaits it
  silence.catch(() => undefined);
  const body = { name: 'Connections', organizationId: site.cast.leafLab };
  const { id } = (await site.owner('POST', '/api/v1/experiments', { body })).body as { id: string };
  const rows = Array.from({ length: 200_000 }, (_, index) => `${index},${(index * 7919) % 100_003},${index % 13}`);
  await uploadTable(site.owner, id, 'numbers', ['a,b,c', ...rows].join('\n'));
  data = `/api/v1/experiments/${id}/data?tableName=numbers`;
});
afterAll(() => site.stop());

const get = (path: string, more = '', version = '1.1') =>
  `GET ${path} HTTP/${version}\r\nHost: fieldlake.test\r\nx-api-key: ${site.cast.owner.apiKey}\r\n${more}\r\n`;
/** Holds connections that say nothing, or half a head, until they are let go. It takes more than 20 s, in which the other tests run. */
async function keepSilent(): Promise<{ exchanges: RawExchange[]; milliseconds: number }> {
  const start = performance.now();
  const exchanges = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      sendRaw(site.server.baseUrl, index % 2 === 0 ? '' : 'GET /health/live HTTP/1.1\r\nHost: h\r\n', {
        quietMs: 40_000,
        lingerMs: 40_000,
      }),
    ),
  );
  return { exchanges, milliseconds: performance.now() - start };
}

const statusesOf = ({ answers }: RawExchange) => answers.map(({ status }) => status);

test('a caller who closes its side behind the request gets the whole answer', async () => {
  for (const version of ['1.1', '1.0'])
    for (const [path, accept] of [
      ['/health/live', 'application/json'],
      [data, 'application/json'],
      [data, 'text/csv'],
    ] as const) {
      const open = await sendRaw(site.server.baseUrl, get(path, `Accept: ${accept}\r\nConnection: close\r\n`, version));
      const half = await sendRaw(site.server.baseUrl, get(path, `Accept: ${accept}\r\n`, version), { halfClose: true, lingerMs: 5_000 });
      expect(statusesOf(open), `${version} ${accept}`).toEqual([200]);
      expect(statusesOf(half), `${version} ${accept}`).toEqual([200]);
      expect(half.answers[0]!.body.equals(open.answers[0]!.body)).toBe(true);
      expect(half.closed).toBe(true);
    }
  const body = '{"userIds":["nobody"]}';
  const head = `POST /api/v1/users/metadata HTTP/1.1\r\nHost: h\r\nx-api-key: ${site.cast.owner.apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  expect(statusesOf(await sendRaw(site.server.baseUrl, [head, body], { halfClose: true }))).toEqual([200]);
  // a body that is cut is refused, once
  const cut = await sendRaw(site.server.baseUrl, [head, body.slice(0, 5)], { halfClose: true, lingerMs: 2_000 });
  expect([400, 401]).toContain(statusesOf(cut)[0]);
  expect(cut.answers).toHaveLength(1);
});

test('of two callers who wait, the one who closed its side is answered, and the one who is gone is noticed', async () => {
  const experiment = data.replace(/\/data.*/, '');
  const leave = async (version: string) => {
    const socket = await rawSocket(site.server.baseUrl);
    socket.write(get(experiment, `X-Request-Id: leaves-early-${version}\r\n`, version));
    await sleep(100);
    socket.destroy();
    await once(socket, 'close');
  };
  const noticed = (version: string) => new RegExp(`"requestId":"leaves-early-${version}".*"status":499`).test(site.server.output());
  let half: Promise<RawExchange> | undefined;
  await site.db.transaction(async (tx) => {
    // nobody's access is decided until this ends
    await tx.run(sql('t')`lock table resources in access exclusive mode`);
    half = sendRaw(site.server.baseUrl, get(experiment), { halfClose: true, lingerMs: 2_000 });
    await Promise.all([leave('1.1'), leave('1.0')]);
    for (let tries = 0; tries < 1_200 && !(noticed('1.1') && noticed('1.0')); tries += 1) await sleep(50);
    expect([noticed('1.1'), noticed('1.0')]).toEqual([true, true]);
  });
  const { answers, interim, closed } = await half!;
  expect(answers.map(({ status }) => status)).toEqual([200]);
  expect(new Set(interim)).toEqual(new Set([102]));
  expect(closed).toBe(true);
});

test('garbage behind a request waits for its answer, and comes once', async () => {
  const { answers, closed } = await sendRaw(site.server.baseUrl, `${get(data, 'Accept: application/json\r\n')}\0\0GARBAGE\r\n\r\n`, {
    methods: ['GET', 'GET'],
    lingerMs: 2_000,
  });
  expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  expect(answers[0]!.body.length).toBeGreaterThan(1_000);
  expect(closed).toBe(true);
});

test('a request that says Expect: 100-continue is told to go on', async () => {
  const body = '{"userIds":["nobody"]}';
  const head = `POST /api/v1/users/metadata HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nx-api-key: ${site.cast.owner.apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const { answers, interim } = await sendRaw(site.server.baseUrl, [head, body], { pauseMs: 200 });
  expect(interim).toEqual([100]);
  expect(answers.map(({ status }) => status)).toEqual([200]);
});

test('a caller who leaves at any moment is no failure of ours', async () => {
  const experiment = data.replace(/\/data.*/, '');
  const rows = new Blob(['a,b\n', ...Array.from({ length: 100_000 }, (_, index) => `${index},${index % 7}\n`)]);
  const file = () => {
    const form = new FormData();
    for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: `left_${Math.random()}` }))
      form.append(field, value);
    form.append('files', rows, 'left.csv');
    return form;
  };
  const filtered = () =>
    `${data}&filters=${encodeURIComponent(JSON.stringify([{ column: 'a', operator: 'less_than', value: Math.ceil(Math.random() * 1e6) }]))}`;
  const requests: (() => [path: string, init?: RequestInit])[] = [
    () => [filtered()],
    () => [filtered(), { headers: { accept: 'text/csv' } }],
    () => [filtered(), { headers: { accept: 'application/vnd.apache.arrow.stream' } }],
    () => [filtered(), { headers: { accept: 'application/vnd.apache.parquet' } }],
    () => [`${experiment}/changes`],
    () => ['/api/v1/experiments?search=Connections'],
    () => [`${experiment}/data/uploads/preview`, { method: 'POST', body: file() }],
    () => [`${experiment}/data/uploads`, { method: 'POST', body: file() }],
  ];
  const failures = () =>
    site.server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { level: number | string; msg?: string })
      .filter(({ level }) => level === 'error' || Number(level) >= 50);
  const before = failures().length;
  const outcomes = { left: 0, answered: 0 };
  const leaveAfter = async (make: (typeof requests)[number], milliseconds: number) => {
    const leaving = new AbortController();
    const [path, init = {}] = make();
    const headers = new Headers(init.headers);
    headers.set('x-api-key', site.cast.owner.apiKey);
    const asked = fetch(`${site.server.baseUrl}${path}`, { ...init, headers, signal: leaving.signal }).then(
      async (answer) => {
        await answer.body?.cancel();
        return 'answered' as const;
      },
      () => 'left' as const,
    );
    setTimeout(() => leaving.abort(), milliseconds);
    outcomes[await asked] += 1;
  };
  // twelve at once: some leave while they wait for their turn
  for (const make of requests) await Promise.all(Array.from({ length: 12 }, (_, at) => leaveAfter(make, at * 8)));
  expect(outcomes.left).toBeGreaterThan(20);
  await sleep(1_000);
  expect(failures().slice(before)).toEqual([]);
});

test('connections that never say what they want, or never end their head, are let go', async () => {
  const { exchanges, milliseconds } = await silence;
  expect(milliseconds).toBeLessThan(35_000);
  expect(exchanges.every(({ closed }) => closed)).toBe(true);
  expect(new Set(exchanges.flatMap(statusesOf))).toEqual(new Set([408]));
  expect((await fetch(`${site.server.baseUrl}/health/live`)).status).toBe(200);
});
