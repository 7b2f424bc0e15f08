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
  const open = operationRows.filter(({ asks }) => asks === 'public' || asks === 'webhook').map(({ path }) => path);
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
