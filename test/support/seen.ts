import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { servedOperations } from './operations.ts';
import { readJson } from '../../src/json.ts';
import type { OpenApiDocument } from '../../src/contract/operations.ts';

const BUILD = join(import.meta.dirname, '..', '..', 'build');
const LINES = join(BUILD, 'operations-seen.ndjson');
const EXAMPLES = join(BUILD, 'examples-seen.ndjson');
const REFUSALS = join(BUILD, 'refusals-seen.ndjson');

const linesOf = (file: string) =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
const printAs = (name: string, lines: Iterable<string>) =>
  writeFileSync(join(BUILD, name), `${JSON.stringify([...new Set(lines)].sort(), null, 2)}\n`);

/** Operations of the published document that are not among those seen. */
export function missingFrom(seen: ReadonlySet<string>): string[] {
  const document = readJson(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8')) as OpenApiDocument;
  return servedOperations(document)
    .map(({ method, path }) => `${method} ${path}`)
    .filter((operation) => !seen.has(operation));
}

/**
 * `build/operations-seen.json`: every operation that succeeded on the built server with a body that fits its schema, as the last run of all test
 * files saw it; `build/refusals-seen.json`: every refusal, by its status and code. A run of all files fails when an operation of the document is missing; a run of some leaves the list as it was.
 */
export default function setup({ vitest }: TestProject) {
  mkdirSync(BUILD, { recursive: true });
  for (const file of [LINES, REFUSALS, EXAMPLES]) rmSync(file, { force: true });
  return async () => {
    const all = await vitest.globTestSpecifications();
    if (vitest.state.getFiles().length < all.length) return;
    printAs('operations-seen.json', linesOf(LINES));
    printAs('refusals-seen.json', linesOf(REFUSALS));
    const missing = missingFrom(new Set(linesOf(LINES)));
    if (missing.length > 0) throw new Error(`no test has seen these operations succeed:\n${missing.join('\n')}`);
  };
}
