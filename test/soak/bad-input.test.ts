import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openFolderStore } from '../../src/storage/folder.ts';
import { makeCast, type Cast } from '../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

// one is the full size: so often is each fault put to the server
const TIMES = Math.max(1, Math.round(20 * Number(process.env['SOAK'] ?? 0.1)));
const MOST_BYTES = 16_384;

let shared: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let cast: Cast;
let experiment: string;
let experimentId: string;
let adminUrl: string;

const HOSTILE = JSON.parse(readFileSync(new URL('../../fixtures/hostile-strings.json', import.meta.url), 'utf8')) as string[];

interface Answer {
  status: number;
  text: string;
  body: any;
}

const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
  const isText = typeof body === 'string' || body instanceof FormData;
  const response = await fetch(path.startsWith('http') ? path : `${server.baseUrl}${path}`, {
    method,
    headers: {
      'x-api-key': cast.owner.apiKey,
      ...(body === undefined || isText ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true && !text.includes('\n{');
  return { status: response.status, text, body: isJson && text !== '' ? JSON.parse(text) : undefined };
};
const read = (query: Record<string, string>, route = 'data') =>
  ask('GET', `${experiment}/${route}?${new URLSearchParams({ tableName: 'small', ...query }).toString()}`);
const form = (name: string, file: string, bytes: string | Uint8Array<ArrayBuffer>) => {
  const body = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: name })) body.append(field, value);
  body.append('files', new Blob([bytes]), file);
  return body;
};

async function upload(name: string, file: string, bytes: string | Uint8Array<ArrayBuffer>): Promise<any> {
  const made = await ask('POST', `${experiment}/data/uploads`, form(name, file, bytes));
  if (made.status !== 201) return made;
  for (let tries = 0; tries < 400; tries += 1) {
    const { body } = await ask('GET', `${experiment}/data/uploads/${String(made.body.uploadId)}`);
    if (!['pending', 'running'].includes(body.status)) return { status: 201, body };
    await sleep(25);
  }
  throw new Error('the upload did not end');
}

beforeAll(async () => {
  shared = await sharedSite();
  cast = await makeCast(shared.database.db);
  server = await spawnServer({ ...shared.environment, LOG_LEVEL: 'error' });
  adminUrl = /operators: (http:\/\/[^/]+)/.exec(server.output())?.[1] ?? '';
  const made = await ask('POST', '/api/v1/experiments', { name: 'Bad input', organizationId: cast.leafLab });
  experimentId = String(made.body.id);
  experiment = `/api/v1/experiments/${experimentId}`;
  await upload('small', 'small.csv', 'n,label,at\n1,a,2026-01-01T00:00:00Z\n2,b,2026-01-02T00:00:00Z\n');
}, 120_000);
afterAll(async () => {
  await server.kill('SIGTERM');
  await shared.remove();
});

const peakMb = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1]) / 1024;
const residentMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1]) / 1024;
const loopDelay = async () =>
  Number(/^nodejs_eventloop_lag_p99_seconds\S* (\S+)/m.exec(await (await fetch(`${adminUrl}/metrics`)).text())?.[1]) * 1_000;
const filesUnder = (folder: string) => {
  try {
    return readdirSync(join(shared.folder, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  } catch {
    return 0;
  }
};
const left = () => ({ objects: filesUnder('objects'), lake: filesUnder('lake'), work: filesUnder('work'), tmp: filesUnder('tmp') });

const filters = (...list: unknown[]) => ({ filters: JSON.stringify(list) });
const equals = { column: 'label', operator: 'equals', value: 'a' };
const deep = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
/** An object that fits no member of a union, so wide and deep that naming every way in which it does not fit would fill pages. */
const union = (depth: number): unknown =>
  depth === 0
    ? { type: 'nothing', a: [null, {}, []] }
    : Array.from({ length: 6 }, () => ({ type: 'nothing', value: union(depth - 1), values: [union(0)] }));

/** A multipart that announces so many bytes, sends the first 60 MB of them, and waits to be told. */
function announced(bytes: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${server.baseUrl}${experiment}/data/uploads`,
      {
        method: 'POST',
        headers: {
          'x-api-key': cast.owner.apiKey,
          'content-type': 'multipart/form-data; boundary=xx',
          'content-length': String(bytes),
        },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.once('end', () => {
          outgoing.destroy();
          resolve({ status: response.statusCode ?? 0, text, body: JSON.parse(text) });
        });
      },
    );
    outgoing.once('error', reject);
    const field = (name: string, value: string) => `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    outgoing.write(
      `${field('sourceKind', 'csv')}${field('targetKind', 'new')}${field('targetName', 'huge')}--xx\r\nContent-Disposition: form-data; name="files"; filename="huge.csv"\r\n\r\nn\n`,
    );
    // more than a file of this kind may hold
    const chunk = Buffer.alloc(1_048_576, '1\n');
    const more = (sent: number): void => {
      if (sent < 60 && !outgoing.destroyed) outgoing.write(chunk, () => more(sent + 1));
    };
    more(0);
  });
}

interface Fault {
  name: string;
  /** The same request without the fault. */
  good: () => Promise<Answer>;
  bad: () => Promise<Answer>;
}

const faults: Fault[] = [
  { name: 'broken JSON', good: () => read(filters(equals)), bad: () => read({ filters: JSON.stringify([equals]).slice(0, -1) }) },
  { name: 'unknown column', good: () => read(filters(equals)), bad: () => read(filters({ ...equals, column: 'labl' })) },
  { name: 'unknown parameter', good: () => read({ pageSize: '1' }), bad: () => read({ pagesize: '1' }) },
  {
    name: 'wrong type',
    good: () => read(filters({ column: 'n', operator: 'equals', value: 1 })),
    bad: () => read(filters({ column: 'n', operator: 'equals', value: 'one' })),
  },
  { name: 'wrong type of a parameter', good: () => read({ limit: '5' }), bad: () => read({ limit: 'five' }) },
  {
    name: '10,000 filters',
    good: () => read(filters(...Array.from({ length: 100 }, () => equals))),
    bad: () => read({ filters: `[${Array.from({ length: 10_000 }, () => '{}').join()}]` }),
  },
  {
    name: '200-deep JSON',
    good: () => read(filters({ ...equals, operator: 'in', value: ['a'] })),
    bad: () => read({ filters: deep(200) }),
  },
  {
    name: 'unions nested in filters',
    good: () => read(filters({ ...equals, operator: 'in', value: ['a'] })),
    bad: () => read({ filters: JSON.stringify([union(2)]) }),
  },
  {
    name: 'unions nested in a workbook',
    good: () => ask('POST', '/api/v1/workbooks', { name: 'Good', organizationId: cast.leafLab, cells: [] }),
    bad: () => ask('POST', '/api/v1/workbooks', { name: 'Bad', organizationId: cast.leafLab, cells: union(4) }),
  },
  {
    name: 'aggregate of nothing',
    good: () => read({ aggregation: JSON.stringify({ groupBy: [{ column: 'label' }], functions: [] }) }),
    bad: () => read({ aggregation: JSON.stringify({ groupBy: [{ column: 'label', timeBucket: 'hour' }], functions: [] }) }),
  },
  {
    name: 'distinct of nothing',
    good: () => read({ column: 'label' }, 'data/distinct'),
    bad: () => read({ column: 'labels' }, 'data/distinct'),
  },
];

const clear = (name: string, { status, text, body }: Answer) => {
  expect(status, `${name}: ${text.slice(0, 300)}`).toBeGreaterThanOrEqual(400);
  expect(status, name).toBeLessThan(500);
  expect(Buffer.byteLength(text), name).toBeLessThanOrEqual(MOST_BYTES);
  expect(String(body?.detail ?? '').length, name).toBeGreaterThan(10);
};

test(`each kind of bad input is refused clearly, ${TIMES} times over, and costs next to nothing`, { timeout: 600_000 }, async () => {
  const secret = Buffer.from(readFileSync(join(shared.folder, 'secret'), 'utf8').trim(), 'hex');
  const folder = join(shared.folder, 'objects');
  const late = await openFolderStore({ folder, secret, baseUrl: () => `${server.baseUrl}/objects`, now: () => Date.now() - 3_600_000 });
  const grantUrl = async () => String((await ask('POST', '/api/v1/iot/upload-url', { experimentId, contentLength: 2 })).body.uploadUrl);
  const puts: Fault[] = [
    {
      name: 'a PUT after its URL expired',
      good: async () => ask('PUT', await grantUrl(), '{}'),
      bad: async () =>
        ask(
          'PUT',
          (
            await late.signPut(`messages/${experimentId}/${cast.owner.id}/${crypto.randomUUID()}`, {
              expiresInSeconds: 900,
              contentLength: 2,
            })
          ).url,
          '{}',
        ),
    },
    {
      name: 'a PUT of another length',
      good: async () => ask('PUT', await grantUrl(), '{}'),
      bad: async () => ask('PUT', await grantUrl(), '{"a":1}'),
    },
  ];
  const zip = new Uint8Array([0x50, 0x4b, 3, 4, ...Array.from({ length: 4_000 }, (_, n) => (n * 131) % 256)]);
  // once each without the fault, and once with it, so that what is measured is not the first time that code runs
  for (const { name, good, bad } of [...faults, ...puts]) {
    const { status, text } = await good();
    expect([200, 201], `${name}: ${text.slice(0, 300)}`).toContain(status);
    clear(name, await bad());
  }
  expect(await upload('honest', 'honest.csv', 'n\n1\n')).toMatchObject({ body: { status: 'completed' } });
  expect((await upload('zipped', 'zipped.csv', zip)).body).toMatchObject({ status: 'failed', rowCount: 0 });
  clear('a file that grows beyond what one may hold', await announced(70_000_000));
  clear('a multipart that announces 5 GB', await announced(5 * 1_024 ** 3));

  await sleep(1_000);
  await loopDelay();
  const before = left();
  const resident = residentMb();
  writeFileSync(`/proc/${server.child.pid}/clear_refs`, '5');
  for (let turn = 0; turn < TIMES; turn += 1) {
    for (const { name, bad } of [...faults, ...puts]) clear(name, await bad());
    const failed = await upload(`zipped${turn}`, 'zipped.csv', zip);
    expect(failed.body).toMatchObject({ status: 'failed', rowCount: 0 });
    expect(failed.body.files[0].errorMessage ?? failed.body.errorMessage).toMatch(/\w{4}/);
    clear('a multipart that announces 5 GB', await announced(5 * 1_024 ** 3));
  }
  const delay = await loopDelay();
  const rise = peakMb() - resident;
  for (let tries = 0; tries < 100 && JSON.stringify(left()) !== JSON.stringify(before); tries += 1) await sleep(50);
  console.log(
    `${TIMES} rounds of ${faults.length + puts.length + 2} faults: memory rose by ${rise.toFixed(1)} MB at most, event-loop delay p99 ${delay.toFixed(1)} ms`,
  );
  expect(left()).toEqual(before);
  expect(rise).toBeLessThan(50);
  expect(delay).toBeLessThan(50);
});

test(
  'hostile strings as table names, file names, keys and aliases are refused clearly or kept as they are',
  { timeout: 600_000 },
  async () => {
    const kept = { 'table names': 0, 'file names': 0, 'keys and aliases': 0 };
    const quote = (value: string) => `"${value.replaceAll('"', '""')}"`;
    const put = async (what: keyof typeof kept, text: string, { target, file, csv }: { target: string; file: string; csv: string }) => {
      const made = await upload(target, file, csv);
      if (made.status !== 201) {
        expect([400, 409], `${what} ${JSON.stringify(text)}: ${String(made.text).slice(0, 300)}`).toContain(made.status);
        expect(Buffer.byteLength(made.text), JSON.stringify(text)).toBeLessThanOrEqual(MOST_BYTES);
        return;
      }
      if (made.body.status !== 'completed') {
        expect(String(made.body.errorMessage ?? made.body.files[0].errorMessage), JSON.stringify(text)).toMatch(/\w{4}/);
        return;
      }
      kept[what] += 1;
      const path = `${experiment}/data?${new URLSearchParams({ tableName: String(made.body.uploadTableId) }).toString()}`;
      const whole = await ask('GET', path);
      expect(whole.status, whole.text.slice(0, 200)).toBe(200);
      expect(JSON.stringify(whole.body[0].data.rows[0])).toContain('"other":1');
      const aggregation = JSON.stringify({
        groupBy: [{ column: 'other' }],
        functions: [{ column: 'other', function: 'count', alias: text.slice(0, 255) }],
      });
      const aliased = await ask('GET', `${path}&${new URLSearchParams({ aggregation }).toString()}`);
      if (aliased.status === 200)
        // the text, since V8 14.6 reads a key that begins with an escape as one of another object before it
        expect(aliased.text).toContain(`"rows":[{"other":1,${JSON.stringify(text.slice(0, 255))}:1}]`);
      else expect(aliased.status, `${JSON.stringify(text)}: ${aliased.text.slice(0, 200)}`).toBe(400);
    };
    for (const [index, text] of HOSTILE.entries()) {
      const plain = { file: 'plain.csv', csv: 'key,other\nx,1\n' };
      await put('table names', text, { ...plain, target: text });
      await put('file names', text, { ...plain, target: `file${index}`, file: `${text}.csv` });
      await put('keys and aliases', text, { ...plain, target: `key${index}`, csv: `${quote(text)},other\nx,1\n` });
    }
    console.log(`of ${HOSTILE.length} hostile strings were kept as`, kept);
    for (const [what, count] of Object.entries(kept)) expect(count, what).toBeGreaterThan(5);
    expect((await read({})).body[0].totalRows).toBe(2);
  },
);
