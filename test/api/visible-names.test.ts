import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanName, isName, NAME_PATTERN, NAME_RULE } from '../../src/contract/names.ts';
import { sql } from '../../src/database/sql.ts';
import { signIn, type Browser } from '../support/browser.ts';
import { seedRandomTests } from '../support/random.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

seedRandomTests();

let site: TestServer;
let experiment: string;
let browser: Browser;
let organizationId: string;
const owner: Call = (...asked) => site.as(site.cast.owner)(...asked);

/** Makes a thing, and answers its path. */
async function make(path: string, body: object, id = 'id'): Promise<string> {
  const made = await owner('POST', path, { body });
  expect(made.status, made.text).toBe(201);
  return `${path}/${(made.body as Record<string, string>)[id]!}`;
}

beforeAll(async () => {
  site = await startTestServer();
  experiment = await make('/api/v1/experiments', { name: 'Names' });
  browser = await signIn(site, 'owner@example.com');
  const made = await browser.call('POST', '/api/v1/auth/organization/create', { name: 'Names', slug: 'names' });
  organizationId = (made.body as { id: string }).id;
});
afterAll(() => site.stop());

const chart = {
  chartFamily: 'basic',
  chartType: 'scatter',
  dataConfig: {
    tableName: 'raw_data',
    dataSources: [
      { tableName: 'raw_data', columnName: 'time', role: 'x' },
      { tableName: 'raw_data', columnName: 'phi2', role: 'y' },
    ],
  },
};
const plots = {
  columns: [{ id: 'c1', name: 'plot', type: 'string' }],
  rows: [],
  identifierColumnId: 'c1',
  experimentQuestionId: 'column:device_id',
};

/** A request that names something: its path, its body for a name, and where the name stands in that. */
type Naming = [path: string, bodyOf: (name: string) => object, at?: string];

const MAKES: Readonly<Record<string, () => Naming>> = {
  experiment: () => ['/api/v1/experiments', (name) => ({ name })],
  'place of an experiment that is made': () => [
    '/api/v1/experiments',
    (name) => ({ name: 'Placed', locations: [{ name, latitude: 1, longitude: 2 }] }),
    '/locations/0/name',
  ],
  place: () => [`${experiment}/locations`, (name) => ({ locations: [{ name, latitude: 1, longitude: 2 }] }), '/locations/0/name'],
  device: () => ['/api/v1/devices', (name) => ({ serialNumber: randomUUID(), deviceType: 'ambyte', name })],
  phone: () => ['/api/v1/devices/mobile', (name) => ({ installId: randomUUID(), name })],
  'device group': () => ['/api/v1/device-groups', (name) => ({ name })],
  protocol: () => ['/api/v1/protocols', (name) => ({ name, code: [{}], family: 'generic' })],
  macro: () => ['/api/v1/macros', (name) => ({ name, language: 'javascript', code: 'return {};' })],
  workbook: () => ['/api/v1/workbooks', (name) => ({ name })],
  dashboard: () => [`${experiment}/dashboards`, (name) => ({ name })],
  chart: () => [`${experiment}/visualizations`, (name) => ({ name, ...chart })],
  'metadata table': () => [`${experiment}/metadata`, (name) => ({ metadata: { name, ...plots } }), '/metadata/name'],
  organization: () => ['/api/v1/auth/organization/create', (name) => ({ name, slug: `o-${randomUUID()}` })],
  team: () => ['/api/v1/auth/organization/create-team', (name) => ({ name, organizationId: organizationId })],
  key: () => ['/api/v1/auth/api-key/create', (name) => ({ name })],
  account: () => ['/api/v1/auth/update-user', (name) => ({ name })],
  'first name': () => ['/api/v1/users/profile', (firstName) => ({ firstName, lastName: 'Tester' }), '/firstName'],
  'last name': () => ['/api/v1/users/profile', (lastName) => ({ firstName: 'Ada', lastName }), '/lastName'],
};

/** Sends a name; routes of accounts take no keys. */
const send = ([path, bodyOf]: Naming, name: string) =>
  path.startsWith('/api/v1/auth/') ? browser.call('POST', path, bodyOf(name)) : owner('POST', path, { body: bodyOf(name) });

/** What is made under a name, and how its name and another field of it change. */
const CHANGES: Readonly<Record<string, () => Promise<[path: string, method: 'PATCH' | 'PUT', other: object]>>> = {
  experiment: async () => [await make('/api/v1/experiments', { name: 'x' }), 'PATCH', { description: 'changed' }],
  'device group': async () => [await make('/api/v1/device-groups', { name: 'x' }), 'PATCH', { description: 'changed' }],
  protocol: async () => [
    await make('/api/v1/protocols', { name: 'x', code: [{}], family: 'generic' }),
    'PATCH',
    { description: 'changed' },
  ],
  macro: async () => [
    await make('/api/v1/macros', { name: 'x', language: 'javascript', code: 'return {};' }),
    'PUT',
    { description: 'changed' },
  ],
  workbook: async () => [await make('/api/v1/workbooks', { name: 'x' }), 'PATCH', { description: 'changed' }],
  dashboard: async () => [await make(`${experiment}/dashboards`, { name: 'x' }, 'id'), 'PATCH', { description: 'changed' }],
  chart: async () => [await make(`${experiment}/visualizations`, { name: 'x', ...chart }, 'id'), 'PATCH', { description: 'changed' }],
};

const REFUSED = [
  'a\nb',
  'a\r\n',
  '\ta',
  'a\0',
  'a\u001b[31m',
  'a\u007f',
  'a\u0085b',
  'a\u2028b',
  'a\u2029b',
  'a\u202eb',
  'a\u200fb',
  '\u2066a\u2069',
  '\u061ca',
  'a\u200bb',
  '\ufeffab',
  'a\u00adb',
  'a\u2065b',
  'a\uffffb',
  'a\ud800b',
  'ab\u{e0001}\u{e0041}',
  ' \u00a0\u3000',
  '\u200d\u200c',
  '\u3164\u2800',
];
const KEPT = [
  'Zoë Ångström-Nuñez',
  'Zoe\u0308 A\u030angstro\u0308m',
  'O’Brien & Söhne <b>',
  '稲の実験 2026',
  '葛\u{e0100}飾区',
  '밀 재배',
  'تجربة القمح',
  'ניסוי 7',
  'می\u200cروم',
  'क्\u200dष हिन्दी',
  '🌾 👩🏽\u200d🌾 🇳🇱 ❤\ufe0f',
  'a\u00a0b‧c',
];

test('names of every kind are refused with what cannot be seen in them, and kept in every script', async () => {
  for (const [kind, naming] of Object.entries(MAKES)) {
    for (const name of KEPT) {
      const answer = await send(naming(), name);
      expect([kind, name, answer.status < 300 ? 'taken' : answer.text]).toEqual([kind, name, 'taken']);
    }
    for (const name of REFUSED) {
      const asked = naming();
      const answer = await send(asked, name);
      const { code, errors } = answer.body as { code: string; errors?: unknown };
      const told =
        kind === 'key' && name.trim() === '' ? 'NAME_REQUIRED' : [{ path: asked[2] ?? '/name', message: `must be ${NAME_RULE}` }];
      expect([kind, JSON.stringify(name), answer.status, errors ?? code]).toEqual([kind, JSON.stringify(name), 400, told]);
    }
  }
});

test('names change by the same rule, and a name that was kept before it is read and stays while other fields change', async () => {
  const OLD = 'old\u202e\nname';
  for (const [kind, begin] of Object.entries(CHANGES)) {
    const [path, method, other] = await begin();
    const refused = await owner(method, path, { body: { ...other, name: 'a\u202eb' } });
    expect([kind, refused.status, (refused.body as { errors?: unknown }).errors]).toEqual([
      kind,
      400,
      [{ path: '/name', message: `must be ${NAME_RULE}` }],
    ]);
    const taken = await owner(method, path, { body: { ...other, name: 'ab' } });
    expect([kind, taken.status, (taken.body as { name?: string }).name]).toEqual([kind, 200, 'ab']);

    const id = path.split('/').at(-1)!;
    for (const table of ['resources', 'dashboards', 'visualizations'] as const)
      await site.db.run(
        table === 'resources'
          ? sql('test')`update resources set name = ${OLD} where id = ${id}`
          : table === 'dashboards'
            ? sql('test')`update dashboards set name = ${OLD} where id = ${id}`
            : sql('test')`update visualizations set name = ${OLD} where id = ${id}`,
      );
    expect([kind, (await owner('GET', path)).body]).toMatchObject([kind, { name: OLD }]);
    const changed = await owner(method, path, { body: other });
    expect([kind, changed.status, changed.body], changed.text).toMatchObject([kind, 200, { ...other, name: OLD }]);
  }
});

const character = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));
const texts = fc
  .array(fc.oneof(character, fc.constantFrom(...Array.from(REFUSED.join('') + KEPT.join('') + ' '))), { maxLength: 12 })
  .map((characters) => characters.join(''));
/** What is hidden, by the categories of Unicode: joiners are not, nor is what notes of music and shorthand are written with. */
const HIDDEN =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_C}\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff]|(?![\u200c\u200d\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}])(?=\p{Default_Ignorable_Code_Point})[\p{Cf}\p{Cn}]/u;

test('an uploaded file is called by what can be seen of its name', async () => {
  const form = new FormData();
  form.append('sourceKind', 'csv');
  form.append('targetKind', 'new');
  form.append('targetName', 'seen');
  for (const name of ['a\u202evsc.exe.csv', 'b\u200b.csv', 'Weizen über 東京.csv', ' c.csv'])
    form.append('files', new Blob([`n\n${name.length}\n`]), name);
  const sent = await owner('POST', `${experiment}/data/uploads`, { body: form });
  expect(sent.status, sent.text).toBe(201);
  const names = ['a vsc.exe.csv', 'b .csv', 'Weizen über 東京.csv', ' c.csv'];
  expect(sent.body.files.map(({ fileName }: { fileName: string }) => fileName).toSorted()).toEqual(names.toSorted());
});

test('the rule is what the categories of Unicode say is hidden, whatever the text, and engines that read halves of characters find the same', () => {
  const whole = new RegExp(NAME_PATTERN, 'u');
  const halves = new RegExp(NAME_PATTERN);
  fc.assert(
    fc.property(texts, (text) => {
      expect(halves.test(text)).toBe(whole.test(text));
      if (isName(text)) expect(whole.test(text)).toBe(true);
      const seen = `a${text}`;
      expect([JSON.stringify(seen), isName(seen)]).toEqual([JSON.stringify(seen), !HIDDEN.test(seen)]);
      const cleaned = cleanName(text);
      expect(cleaned === '' || isName(cleaned)).toBe(true);
      if (isName(text)) expect(cleaned).toBe(text.trim());
    }),
    { numRuns: 2_000 },
  );
});

test('a long text is looked through once, whatever it holds', () => {
  const pattern = new RegExp(NAME_PATTERN);
  const begun = performance.now();
  for (const text of [' ', 'a', ' a', 'a ', '‧', '\u200d']) expect(pattern.test(`${text.repeat(500_000)}\n`)).toBe(false);
  expect(pattern.test(`${' '.repeat(500_000)}a`)).toBe(true);
  // a search that began anew at every character would take minutes
  expect(performance.now() - begun).toBeLessThan(2_000);
});

test('a name that comes beside a sign-in is made one instead', () => {
  expect(cleanName(' Ada\r\nLovelace\u202e ')).toBe('Ada Lovelace');
  expect(cleanName('\u3164\u200b')).toBe('');
  for (const name of KEPT) expect(cleanName(name)).toBe(name);
});

interface Schema {
  $ref?: string;
  type?: string | string[];
  pattern?: string;
  properties?: Record<string, Schema>;
  [keyword: string]: unknown;
}

/** Names in bodies for which the document has no rule. */
const WITHOUT = [
  // steps and cells: labels of what is asked and done, which become columns by their canonical form
  ...['Analysis', 'Branch', 'Instruction', 'Measurement', 'Question'].map((kind) => `${kind}Node.name`),
  ...['Command', 'Macro', 'Protocol', 'Question'].map((kind) => `${kind}Cell.name`),
  // a column may be called what a file calls it
  'ColumnPatch.name',
  // the service refuses them, some by codes that the common client knows
  'ApiKeyChange.name',
  'NewApiKeyRequest.name',
  'Metadata.name',
  // cleaned, since the ceremony that they come with cannot be repeated
  'PasskeyRegistration.name',
  'SignInByCode.name',
].sort();

test('every name in a body has a rule, but those that are known', () => {
  const { paths, components } = site.openapi as unknown as {
    paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
    components: { schemas: Record<string, Schema> };
  };
  const without = new Set<string>();
  const seen = new Set<string>();
  const walk = (schema: unknown, place: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { $ref, properties } = schema as Schema;
    if ($ref !== undefined) {
      const name = $ref.split('/').at(-1)!;
      if (!seen.has(name)) {
        seen.add(name);
        walk(components.schemas[name], name);
      }
    }
    for (const [member, { type, pattern }] of Object.entries(properties ?? {}))
      if (/^(name|firstName|lastName)$/.test(member) && [type].flat().includes('string') && pattern === undefined)
        without.add(`${place}.${member}`);
    for (const part of Object.values(schema)) walk(part, place);
  };
  for (const item of Object.values(paths))
    for (const { requestBody } of Object.values(item)) walk(requestBody?.content['application/json']?.schema, 'body');
  expect(seen.has('NewExperiment')).toBe(true);
  expect([...without].sort()).toEqual(WITHOUT);
});
