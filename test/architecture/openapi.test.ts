import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenApiDocument } from '../../src/contract/operations.ts';
import { operationRows, servedOperations } from '../support/operations.ts';

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8')) as OpenApiDocument;

test('every operation that is served asks exactly what its row says, and none is without a row', () => {
  const written = new Map(operationRows.map(({ method, path, asks }) => [`${method} ${path}`, asks]));
  const wrong = servedOperations(document)
    .map(({ method, path, asks }) => ({
      operation: `${method} ${path}`,
      served: asks,
      written: written.get(`${method} ${path}`) ?? 'no row',
    }))
    .filter(({ served, written: row }) => served !== row);
  expect(wrong).toEqual([]);
});

test('what is open to nobody in particular stays a short list', () => {
  const open = operationRows.filter(({ asks }) => asks === 'public' || asks === 'webhookSignature').map(({ path }) => path);
  expect(open.filter((path) => !/^\/health\/|^\/api\/v1\/(auth|newsletter\/(subscribe|confirm|unsubscribe)|webhooks)/.test(path))).toEqual(
    [],
  );
});

const LOOKED_UP = /\/(data|search|geocode|grantee-users|grantee-organizations|reprocess)$/;

test('every list is read in pages; what is looked up, and one page of rows, has a limit of its own', () => {
  const whole = Object.entries(document.paths).flatMap(([path, { get }]) => {
    const answer = get?.responses?.['200'] as { content?: Record<string, { schema?: { type?: string } }> } | undefined;
    if (answer?.content?.['application/json']?.schema?.type !== 'array' || path.includes('/auth/') || LOOKED_UP.test(path)) return [];
    const names = new Set(get?.parameters?.map(({ name }) => name));
    return names.has('pageSize') || names.has('offset') ? [] : [path];
  });
  expect(whole).toEqual([]);
});

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  oneOf?: { $ref?: string }[];
  discriminator?: { propertyName: string; mapping?: Record<string, string> };
}

/** Every schema of the document, by its place; what an example holds is none. */
function listSchemas(part: unknown, place = ''): { place: string; schema: Schema }[] {
  if (typeof part !== 'object' || part === null) return [];
  const members = Object.entries(part).filter(([name]) => !name.startsWith('example'));
  return [{ place, schema: part }, ...members.flatMap(([name, member]) => listSchemas(member, `${place}/${name}`))];
}
const schemas = listSchemas(document);

test('a discriminator tells apart what has a name, each by one value: generators look at nothing else', () => {
  const told = schemas.flatMap(({ place, schema: { oneOf = [], discriminator } }) =>
    typeof discriminator?.propertyName === 'string'
      ? [{ place, kinds: oneOf.map(({ $ref }) => $ref), mapped: Object.values(discriminator.mapping ?? {}) }]
      : [],
  );
  expect(told.length).toBeGreaterThan(5);
  expect(told.filter(({ kinds, mapped }) => kinds.includes(undefined) || kinds.join() !== mapped.join())).toEqual([]);
});

test('what may be null alone has the type of null', () => {
  expect(schemas.filter(({ schema }) => Array.isArray(schema.enum) && schema.enum.every((value) => value === null))).toEqual([]);
});

test('a form is one object, its files last: a generator sends no form that is one of several, and members in their order', () => {
  interface Form {
    oneOf?: unknown;
    properties?: Record<string, unknown>;
    required?: string[];
    then?: { required?: string[] };
    else?: { required?: string[] };
  }
  const forms = schemas.filter(({ place }) => place.endsWith('/multipart/form-data/schema')).map(({ schema }) => schema as Form);
  expect(forms.map(({ oneOf }) => oneOf)).toEqual([undefined, undefined]);
  const names = forms.map(({ properties = {} }) => Object.keys(properties));
  for (const each of names) expect(each).toEqual(expect.arrayContaining(['sourceKind', 'targetName', 'uploadTableId', 'missing', 'sheet']));
  expect(names.map((each) => each.slice(each.indexOf('files')))).toEqual([['files'], ['files', 'parts']]);
  expect(forms.map((form) => [form.required, form.then?.required, form.else?.required])).toEqual([
    [
      ['sourceKind', 'targetKind'],
      ['targetName', 'files'],
      ['uploadTableId', 'files'],
    ],
    [['sourceKind', 'targetKind'], [], ['uploadTableId']],
  ]);
});
