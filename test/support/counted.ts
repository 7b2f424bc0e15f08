import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { OpenApiDocument } from '../../src/contract/operations.ts';
import { servedOperations } from './operations.ts';
import { misfitOf, onAnswered } from './statements.ts';

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8')) as OpenApiDocument;
const served = new Set(servedOperations(document).map(({ method, path }) => `${method} ${path}`));

// every success of every test is held against the table of statements
const misfits = new Set<string>();
onAnswered(({ operation, labels }) => {
  const misfit = served.has(operation) ? misfitOf(operation, labels) : undefined;
  if (misfit !== undefined) misfits.add(misfit);
});
afterAll(() => {
  expect([...misfits]).toEqual([]);
});
