import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { json as readJson } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCast, type Cast } from '../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';
import { seedRandomTests } from '../support/random.ts';

seedRandomTests();
// one is the full size
const SHARE = Number(process.env['SOAK'] ?? 0.1);
const BODIES = Math.round((SHARE < 1 ? 500 : 1_000) * SHARE);
const MEGABYTES = 10;
const MOST_BYTES = 16_384;
const MOST_WORKED_MS = 50;
const HEALTH_P99_MS = 50;
/** The operators' own measure looks every 20 ms, and counts these to the time that it finds. */
const WATCH = `--import=${join(import.meta.dirname, '..', 'support', 'watches-loop.ts')}`;

interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  enum?: unknown[];
}
interface Operation {
  requestBody?: { content: Record<string, { schema: Schema }> };
  parameters?: { name: string; in: string }[];
}

let shared: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let cast: Cast;
let socketPath: string;
let document: { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } };
/** Ids of what the owner made, by the beginning of the path under which they stand. */
let ids: Record<string, string>;

interface Answer {
  status: number;
  text: string;
}

const ask = async (method: string, path: string, body?: string | Uint8Array<ArrayBuffer>): Promise<Answer> => {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': cast.owner.apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, text: await response.text() };
};

beforeAll(async () => {
  shared = await sharedSite();
  cast = await makeCast(shared.database.db);
  socketPath = join(shared.environment['DATA_DIR']!, 'loop.socket');
  server = await spawnServer({ ...shared.environment, LOG_LEVEL: 'error', NODE_OPTIONS: WATCH, LOOP_SOCKET: socketPath });
  document = JSON.parse((await ask('GET', '/openapi.json')).text) as typeof document;
  const organizationId = cast.leafLab;
  const make = async (path: string, body: object) => {
    const { status, text } = await ask('POST', path, JSON.stringify({ organizationId, ...body }));
    expect(status, text).toBe(201);
    return (JSON.parse(text) as { id: string }).id;
  };
  ids = {
    '/api/v1/experiments/{id}': await make('/api/v1/experiments', { name: 'Hostile' }),
    '/api/v1/workbooks/{id}': await make('/api/v1/workbooks', { name: 'Hostile' }),
    '/api/v1/protocols/{id}': await make('/api/v1/protocols', { name: 'Hostile', code: [], family: 'multispeq' }),
    '/api/v1/macros/{id}': await make('/api/v1/macros', { name: 'Hostile', code: 'return {}', language: 'javascript' }),
    '/api/v1/organizations/{id}': organizationId,
    '/api/v1/device-groups/{groupId}': await make('/api/v1/device-groups', { name: 'Hostile' }),
    '/api/v1/devices/{deviceId}': await make('/api/v1/devices', { serialNumber: 'H-1', deviceType: 'multispeq', name: 'Hostile' }),
  };
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await shared.remove();
});

const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolve(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});

/** Places of lists in a body, as names; an empty name is an item. */
function listsOf(given: Schema, at: string[] = []): string[][] {
  const schema = resolve(given);
  const here = [schema.type].flat().includes('array') ? [at] : [];
  const inner = [...(schema.anyOf ?? []), ...(schema.allOf ?? [])].flatMap((each) => listsOf(each, at));
  const items = schema.items && at.length < 6 ? listsOf(schema.items, [...at, '']) : [];
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    at.length < 6 ? listsOf(member, [...at, name]) : [],
  );
  return [...here, ...inner, ...items, ...members];
}

const BIG = MEGABYTES * 1_000_000 - 1_000;
const fill = (piece: string) => `[${piece}${`,${piece}`.repeat(Math.floor(BIG / (piece.length + 1)) - 1)}]`;
const within = (place: readonly string[], text: string): string =>
  place.reduceRight((inner, name) => (name === '' ? `[${inner}]` : `{${JSON.stringify(name)}:${inner}}`), text);

/** Bodies that cost most where a check is not linear, each up to the limit of a body. */
const KINDS: Record<string, (place: readonly string[]) => string> = {
  'a list of numbers': (place) => within(place, fill('1')),
  'a list of objects': (place) => within(place, fill('{"id":1,"type":"x","config":{},"layout":[]}')),
  'a list of long objects, few of them': (place) => within(place, fill(`{"id":"${'i'.repeat(900)}","type":"x"}`)),
  'a list that is within the limit on values': (place) => within(place, `[${'{},'.repeat(100_000)}{}]`),
  'unknown members': () => `{${Array.from({ length: 700_000 }, (_, index) => `"k${index}":1`).join()}}`,
  'as many unknown members as there may be': () =>
    `{${Array.from({ length: 9_999 }, (_, index) => `"k${index}":"${'v'.repeat(900)}"`).join()}}`,
  'numbers of too many digits': (place) => within(place, `[${'0.1234567890123456789,'.repeat(240_000)}1]`),
  'small numbers, and a long one behind them': (place) => within(place, `[${'1,'.repeat(240_000)}12345678901234567890]`),
  'deep nesting': () => `${'['.repeat(BIG / 2)}${']'.repeat(BIG / 2)}`,
  'deep objects': (place) => within(place, `${'{"a":'.repeat(150)}1${'}'.repeat(150)}`),
  'one long text': (place) => within(place, JSON.stringify('x'.repeat(BIG))),
  'one long name': () => `{"${'n'.repeat(BIG)}":1}`,
  'a long text of escapes': (place) => within(place, `"${'\\u0041'.repeat(BIG / 6)}"`),
  'names of escapes': () => `{${Array.from({ length: 9_000 }, (_, index) => `"\\u0041${index}":"${'\\n'.repeat(400)}"`).join()}}`,
  'texts beyond the basic plane': (place) => within(place, JSON.stringify('🌱'.repeat(BIG / 4))),
  'white space': () => ' '.repeat(BIG),
  'no JSON': () => '{'.repeat(50) + '"'.repeat(BIG - 50),
  'cut off': (place) => within(place, fill('"x"')).slice(0, -4),
};

interface Target {
  method: string;
  template: string;
  path: string;
  lists: string[][];
}

function targets(): Target[] {
  return Object.entries(document.paths).flatMap(([template, item]) =>
    Object.entries(item).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      const lists = schema ? listsOf(schema) : [];
      if (lists.length === 0 || template.startsWith('/api/v1/webhooks')) return [];
      const known = Object.entries(ids).find(([prefix]) => template.startsWith(prefix));
      const path = (known ? template.replace(known[0], known[0].replace(/\{\w+\}/, known[1])) : template)
        .replace('{resourceType}/{id}', `experiment/${ids['/api/v1/experiments/{id}'] ?? ''}`)
        .replace(/\{\w+\}/g, () => crypto.randomUUID());
      return [{ method: method.toUpperCase(), template, path, lists }];
    }),
  );
}

interface Turn {
  /** Milliseconds from one look at the loop to the next. */
  held: number;
  /** Those of them in which the loop's thread had a processor. */
  worked: number;
}

/** The longest turn of the event loop since this was last asked. */
const longestTurn = () =>
  new Promise<Turn>((resolve, reject) => {
    get({ socketPath }, (response) => {
      readJson(response).then((turn) => resolve(turn as Turn), reject);
    }).on('error', reject);
  });

test(`${BODIES} hostile bodies hold up nobody and are refused in few words`, { timeout: 3_600_000 }, async () => {
  const all = targets();
  expect(all.length).toBeGreaterThanOrEqual(35);
  const kinds = Object.keys(KINDS);
  const pairs = all.flatMap((target) => kinds.map((kind) => ({ target, kind })));
  const picked = fc.sample(fc.tuple(fc.constantFrom(...pairs), fc.nat()), BODIES);
  // every operation and every kind is there, whatever is drawn
  picked.splice(0, all.length, ...all.map((target, index): (typeof picked)[0] => [{ target, kind: kinds[index % kinds.length]! }, index]));
  // what checks an operation's body is made when the first one comes
  for (const { method, path } of all) expect((await ask(method, path, '{"unknown":1}')).status).toBeLessThan(500);
  const waits: number[] = [];
  let running = true;
  const watching = (async () => {
    while (running) {
      const start = performance.now();
      expect((await fetch(`${server.baseUrl}/health/live`)).status).toBe(200);
      waits.push(performance.now() - start);
      await sleep(5);
    }
  })();
  const slow: string[] = [];
  const statuses = new Map<number, number>();
  const longest: Turn = { held: 0, worked: 0 };
  let waited = 0;
  try {
    for (const [{ target, kind }, turn] of picked) {
      const body = Buffer.from(KINDS[kind]!(target.lists[turn % target.lists.length]!));
      await longestTurn();
      const answer = await ask(target.method, target.path, body);
      const { held, worked } = await longestTurn();
      const what = `${kind} to ${target.method} ${target.template}`;
      // what fits is stored, and given back
      if (answer.status >= 400) expect(Buffer.byteLength(answer.text), what).toBeLessThanOrEqual(MOST_BYTES);
      expect(answer.status, `${what}: ${answer.text.slice(0, 300)}`).toBeLessThan(500);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      longest.held = Math.max(longest.held, held);
      longest.worked = Math.max(longest.worked, worked);
      if (held > MOST_WORKED_MS) waited += 1;
      if (worked > MOST_WORKED_MS) slow.push(`${Math.round(worked)} ms: ${what} (${answer.status})`);
    }
  } finally {
    running = false;
    await watching;
  }
  waits.sort((a, b) => a - b);
  const p99 = waits[Math.floor(waits.length * 0.99)] ?? 0;
  console.log(
    `${picked.length} hostile bodies to ${all.length} operations: ${JSON.stringify(Object.fromEntries(statuses))}, the loop worked ${longest.worked.toFixed(0)} ms at a time at most, health p99 ${p99.toFixed(0)} ms. With its waits for a processor the loop was held ${longest.held.toFixed(0)} ms at most, by ${waited} bodies for more than ${MOST_WORKED_MS} ms.`,
    slow,
  );
  expect([...statuses.keys()].filter((status) => status >= 400).length).toBeGreaterThan(0);
  // no text of ten megabytes is read in no time
  expect(longest.worked).toBeGreaterThan(1);
  // times are for a machine that does nothing else
  if (SHARE < 1) return;
  expect(slow).toEqual([]);
  expect(p99).toBeLessThanOrEqual(HEALTH_P99_MS);
});

test('a batch of macros of 60 MB is read in turns, and its items as they were', async () => {
  const macroId = ids['/api/v1/macros/{id}'];
  const item = (index: number) => `{"id":"${index}","macro_id":"${macroId}","data":{"trace":[${'0.125,'.repeat(2_000)}1]}}`;
  const batch = (count: number) => Buffer.from(`{"items":[${Array.from({ length: count }, (_, index) => item(index)).join()}]}`);
  const small = JSON.parse((await ask('POST', '/api/v1/macros/execute-batch', batch(2))).text) as { results: { id: string }[] };
  expect(small.results.map(({ id }) => id)).toEqual(['0', '1']);
  // another list, empty, stands before the long one
  const behind = Buffer.concat([Buffer.from('{"none":[],'), batch(150).subarray(1)]);
  const read = JSON.parse((await ask('POST', '/api/v1/macros/execute-batch', behind)).text) as { results: { id: string }[] };
  expect(read.results.map(({ id }) => id)).toEqual(Array.from({ length: 150 }, (_, index) => String(index)));
  // what is no JSON between two items is none where the list is cut either
  const padding = ' '.repeat(1_500_000);
  const padded = (list: string) => Buffer.from(`{"items":[${list}]}`);
  const whole = await ask('POST', '/api/v1/macros/execute-batch', padded(`${item(0)}${padding},${padding}${item(1)}`));
  expect((JSON.parse(whole.text) as { results: { id: string }[] }).results.map(({ id }) => id)).toEqual(['0', '1']);
  for (const list of [`${item(0)}${padding},${padding}`, `${item(0)}${padding},${padding},${item(1)}`, `${padding},${padding}${item(0)}`])
    expect((await ask('POST', '/api/v1/macros/execute-batch', padded(list))).text).toContain('MALFORMED_JSON');
  const large = batch(Math.round(SHARE < 1 ? 500 : 5_000));
  await longestTurn();
  // the last item names no macro id, so that all of the body is read and checked and nothing is run
  const spoilt = Buffer.concat([large.subarray(0, large.length - 2), Buffer.from(',{"id":"x"}]}')]);
  const answer = await ask('POST', '/api/v1/macros/execute-batch', spoilt);
  const { held, worked } = await longestTurn();
  console.log(
    `${(spoilt.length / 1e6).toFixed(0)} MB of items: the loop worked ${worked.toFixed(0)} ms at a time at most, held ${held.toFixed(0)}`,
  );
  expect([answer.status, Buffer.byteLength(answer.text) <= MOST_BYTES], answer.text.slice(0, 300)).toEqual([400, true]);
  if (SHARE >= 1) expect(worked).toBeLessThanOrEqual(MOST_WORKED_MS);
});

test('a query whose names repeat ten thousand times is refused at once', async () => {
  const path = '/api/v1/experiments';
  expect((await ask('GET', `${path}?page=1`)).status).toBe(200);
  const answer = await ask('GET', `${path}?${'page=1&'.repeat(2_000)}page=1`);
  expect(answer.status, answer.text).toBe(400);
  expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(MOST_BYTES);
  const unknown = Array.from({ length: 1_000 }, (_, index) => `k${index}=1`).join('&');
  expect((await ask('GET', `${path}?${unknown}`)).status).toBe(400);
  expect(readFileSync(`/proc/${server.child.pid}/status`, 'utf8')).toContain('node');
});
