import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkExample, type Example } from '../../scripts/contract/example-check.ts';

interface Response {
  description?: string;
  headers?: Record<string, object>;
  content?: Record<string, { schema: object; example?: unknown }>;
  'x-codes'?: string[];
  $ref?: string;
}
interface PublishedOperation {
  operationId: string;
  summary?: string;
  description?: string;
  tags: string[];
  parameters?: { name: string; in: string; description?: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, Response>;
}

const ROOT = join(import.meta.dirname, '..', '..');
const readFixture = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8')) as unknown;
const examples = readFixture('fixtures/contract/examples.json') as Record<string, Example>;
const document = readFixture('src/generated/openapi.json') as {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, PublishedOperation>>;
  components: { schemas: Record<string, unknown>; responses: Record<string, Response> };
};
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
);

const codesOf = (response: Response) =>
  (response.$ref === undefined ? response : document.components.responses[response.$ref.split('/').at(-1)!])?.['x-codes'] ?? [];

/** Words that the names of operations begin with. */
const VERBS =
  /^(accept|add|approve|attach|begin|cancel|change|check|choose|complete|confirm|create|decide|delete|detach|download|execute|geocode|get|import|invite|issue|leave|link|list|listen|lookUp|mark|onboard|preview|read|redirect|register|reject|remove|rename|repeat|replace|replay|request|revoke|rotate|save|search|send|set|show|sign|start|stop|subscribe|test|transfer|unlink|unsubscribe|update|upgrade|upload|withdraw)(?=[A-Z]|$)/;

/** Properties without a description: their place and name. A condition has the same properties again, and an example values. */
function listUndescribed(part: unknown, place = ''): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const { properties } = part as { properties?: Record<string, { description?: string }> };
  const own = Object.entries(properties ?? {}).filter(([, { description = '' }]) => description === '');
  return [
    ...own.map(([name]) => `${place} ${name}`),
    ...Object.entries(part)
      .filter(([keyword]) => !['if', 'then', 'else', 'contains', 'example'].includes(keyword))
      .flatMap(([keyword, member]) => listUndescribed(member, `${place}/${keyword}`)),
  ];
}

describe('the published document', () => {
  test('each operation has a name of its own, a verb first', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]*$/.test(id) || !VERBS.test(id))).toEqual([]);
  });

  test('schemas have names that a person gave', () => {
    expect(Object.keys(document.components.schemas).filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual([]);
  });

  test('each operation has one tag of those that are described, and each of those has operations', () => {
    const tags = document.tags.map(({ name }) => name);
    expect(operations.filter((operation) => operation.tags.length !== 1 || !tags.includes(operation.tags[0]!))).toEqual([]);
    expect(tags.filter((tag) => !operations.some((operation) => operation.tags.includes(tag)))).toEqual([]);
    expect(document.tags.filter(({ description }) => !/^[A-Z].{10,}\.$/.test(description))).toEqual([]);
    expect(tags.slice(0, 2)).toEqual(['Experiments', 'Data']);
  });

  test('each operation shows an exchange that was really made, and that fits it still', () => {
    expect(operations.map(({ operationId }) => operationId).filter((id) => !(id in examples))).toEqual([]);
    expect(Object.keys(examples).filter((id) => !operations.some(({ operationId }) => operationId === id))).toEqual([]);
    for (const [operationId, example] of Object.entries(examples)) expect(checkExample(operationId, example), operationId).toBeNull();
    for (const { operationId, parameters = [], requestBody, responses } of operations) {
      const { request, response } = examples[operationId]!;
      const shown = parameters.filter(({ example }) => example !== undefined).map(({ name }) => name);
      expect(shown, operationId).toEqual(expect.arrayContaining(parameters.filter((one) => one.in === 'path').map(({ name }) => name)));
      if (request.body !== undefined && requestBody)
        expect(Object.values(requestBody.content)[0]?.example, operationId).toEqual(request.body);
      if (response.body !== undefined)
        expect(responses[String(response.status)]?.content?.[response.contentType ?? '']?.example, operationId).toEqual(response.body);
    }
  });

  test('the range of an example has a beginning before its end', () => {
    const ranges = Object.entries(examples).flatMap(([id, { request }]) =>
      request.query['from'] !== undefined && request.query['to'] !== undefined
        ? [{ id, from: request.query['from'], to: request.query['to'] }]
        : [],
    );
    expect(ranges.length).toBeGreaterThan(0);
    expect(ranges.filter(({ from, to }) => Date.parse(from) >= Date.parse(to))).toEqual([]);
  });

  test('an operation declares each code that its description names', () => {
    const named = operations.flatMap((operation) =>
      [...(operation.description ?? '').matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([code]) => ({ operation, code })),
    );
    expect(named.length).toBeGreaterThan(100);
    const undeclared = named.filter(({ operation, code }) => !Object.values(operation.responses).flatMap(codesOf).includes(code));
    expect(undeclared.map(({ operation, code }) => `${operation.name} ${code}`)).toEqual([]);
  });

  test('an example that fits its operation no longer is found', () => {
    const { request, response } = examples['createExperiment']!;
    const change = (body: object) => checkExample('createExperiment', { request: { ...request, body }, response });
    expect(change(request.body as object)).toBeNull();
    expect(change({ ...(request.body as object), name: 1 })).toContain('name must be string');
    expect(checkExample('createExperiment', { request, response: { ...response, body: {} } })).toContain('required');
    expect(checkExample('createExperiment', { request, response: { ...response, status: 299 } })).toContain('not declared');
    expect(checkExample('getExperiment', { request: { ...request, path: {} }, response })).toContain('id is missing');
  });

  test('examples hold no secret, no address of a machine and no time of their making', () => {
    const text = JSON.stringify(examples);
    const found = [/flk_\w{8,}/, /whsec_\w/, /127\.0\.0\.1|localhost:/, /\/tmp\//, /MII[A-Za-z0-9+/]{20}/, /@(?!example\.org)[\w-]+\.\w/];
    expect(found.filter((pattern) => pattern.test(text)).map((pattern) => `${String(pattern)}: ${pattern.exec(text)?.[0] ?? ''}`)).toEqual(
      [],
    );
    expect([...new Set(text.match(/20\d\d-\d\d-\d\dT[\d:.]+Z/g))].filter((time) => !/^2026-05-0[18]T12:00:00.000Z$/.test(time))).toEqual(
      [],
    );
    expect(text.length).toBeLessThan(300_000);
  });

  test('each operation says what it refuses, by status and code', () => {
    for (const { name, responses } of operations) {
      const refusals = Object.entries(responses).filter(([status]) => /^[45]/.test(status));
      expect(refusals.length, name).toBeGreaterThan(0);
      for (const [status, response] of refusals) {
        const codes = codesOf(response);
        expect(codes.length, `${name} ${status}`).toBeGreaterThan(0);
        expect(new Set(codes).size, `${name} ${status}`).toBe(codes.length);
      }
    }
    // what only its rows say, its code says and the edge says
    const read = operations.find(({ operationId }) => operationId === 'readData')!.responses;
    expect(codesOf(read['403']!)).toEqual(['ACTION_DENIED', 'API_KEY_MALFORMED', 'TABLE_DENIED']);
    expect(codesOf(read['410']!)).toEqual(['TABLE_VERSION_GONE']);
    expect(codesOf(read['401']!)).toEqual(['API_KEY_UNKNOWN', 'UNAUTHORIZED']);
  });

  test('operations and parameters are described, an operation in at most eight words first', () => {
    expect(operations.filter(({ summary = '' }) => summary === '' || summary.split(' ').length > 8).map(({ name }) => name)).toEqual([]);
    expect(operations.filter(({ description = '' }) => description === '').map(({ name }) => name)).toEqual([]);
    const undescribed = operations.flatMap(({ name, parameters = [] }) =>
      parameters.filter(({ description = '' }) => description === '').map((parameter) => `${name} ${parameter.name}`),
    );
    expect(undescribed).toEqual([]);
  });

  test('every property says what it is, wherever it stands', () => {
    expect(listUndescribed({ taken: { properties: { id: { description: 'One.' }, of: { $ref: '#' } } } })).toEqual(['/taken of']);
    expect(listUndescribed(document)).toEqual([]);
  });

  test('what may be sent again says so: a conflict that passes by Retry-After, a kept answer by Idempotency-Replayed', () => {
    const creations = operations.filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'Idempotency-Key'));
    const wrong = creations.filter(({ responses }) => {
      const [made] = Object.entries(responses).flatMap(([status, response]) => (status.startsWith('2') ? [response] : []));
      return !made?.headers?.['Idempotency-Replayed'] || !responses['409']?.headers?.['Retry-After'];
    });
    expect(creations.length).toBeGreaterThan(20);
    expect(wrong.map(({ name }) => name)).toEqual([]);
    const export409 = operations.find(({ operationId }) => operationId === 'downloadExport')?.responses['409'];
    expect(export409?.headers).toHaveProperty('Retry-After');
  });

  test('headers of a request are declared where they are read, and nowhere else', () => {
    const declaring = (header: string) =>
      operations.filter(({ parameters = [] }) => parameters.some(({ in: place, name }) => place === 'header' && name === header));
    const idsOf = (header: string) => declaring(header).map(({ operationId }) => operationId);
    expect(idsOf('Range')).toEqual(['downloadExport']);
    expect(idsOf('If-Range')).toEqual(['downloadExport']);
    expect(idsOf('Last-Event-ID')).toEqual(['listenToChanges']);
    expect(idsOf('If-None-Match')).toEqual(expect.arrayContaining(['getExperiment', 'readData', 'downloadExport']));
    expect(idsOf('If-Match')).toEqual(expect.arrayContaining(['updateExperiment', 'deleteExperiment', 'replaceFlow', 'updateDashboard']));
    expect(idsOf('Idempotency-Key')).toEqual(expect.arrayContaining(['createExperiment', 'uploadFiles', 'registerDevice']));
    expect(idsOf('Prefer')).toEqual(expect.arrayContaining(['listExperiments', 'listDevices']));
    expect(declaring('Idempotency-Key').filter(({ name }) => !name.startsWith('POST '))).toEqual([]);
    // a precondition that fails needs the header that states it
    const refusing = operations.filter(({ responses }) => '412' in responses).map(({ operationId }) => operationId);
    expect(refusing.sort()).toEqual(idsOf('If-Match').sort());
  });
});
