import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenApiDocument } from '../../src/contract/operations.ts';
import { servedOperations } from '../support/operations.ts';
import { misfitOf, statementRows } from '../support/statements.ts';

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8')) as OpenApiDocument;

test('every operation says how many statements it sends, and no row is left over', () => {
  const served = servedOperations(document).map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(statementRows).sort()).toEqual(served.sort());
});

test('a row is a number, from one to another, or so many for each time that a named statement is sent', () => {
  const [operation = ''] = Object.entries(statementRows).find(([, row]) => row === 3) ?? [];
  expect(misfitOf(operation, ['a', 'b', 'c'])).toBeUndefined();
  // the time of a key's last use is written once an hour
  expect(misfitOf(operation, ['a', 'http.touchKey', 'b', 'c'])).toBeUndefined();
  expect(misfitOf(operation, ['a', 'b'])).toMatch(/sent 2 statements, its row says 3/);
  expect(misfitOf(operation, ['a', 'b', 'c', 'c'])).toMatch(/sent 4 statements/);
  expect(misfitOf('GET /api/v1/nowhere', [])).toMatch(/no row/);
  const uploads = 'POST /api/v1/experiments/{id}/data/uploads';
  const files = (count: number) => Array.from({ length: count }, () => ['uploads.insertFile', 'uploads.markFileReceived']).flat();
  const rest = Array.from({ length: 11 }, () => 'other');
  expect(misfitOf(uploads, [...rest, ...files(8)])).toBeUndefined();
  expect(misfitOf(uploads, [...rest, ...files(8), 'other'])).toMatch(/sent 28/);
});
