import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { servedOperations } from './operations.ts';
import { readJson } from '../../src/json.ts';
import type { OpenApiDocument } from '../../src/contract/operations.ts';

const BUILD = join(import.meta.dirname, '..', '..', 'build');
const LINES = join(BUILD, 'operations-seen.ndjson');

/** Operations of the published document that are not among those seen. */
export function missingFrom(seen: ReadonlySet<string>): string[] {
  const document = readJson(readFileSync(join(import.meta.dirname, '../../src/generated/openapi.json'), 'utf8')) as OpenApiDocument;
  return servedOperations(document)
    .map(({ method, path }) => `${method} ${path}`)
    .filter((operation) => !seen.has(operation));
}

/**
 * `build/operations-seen.json`: every operation that succeeded on the built server with a body that fits its schema, as the last run of all test
 * files saw it. A run of all files fails when an operation of the document is missing; a run of some leaves the list as it was.
 */
export default function setup({ vitest }: TestProject) {
  mkdirSync(BUILD, { recursive: true });
  rmSync(LINES, { force: true });
  return async () => {
    const all = await vitest.globTestSpecifications();
    if (vitest.state.getFiles().length < all.length) return;
    const lines = existsSync(LINES)
      ? readFileSync(LINES, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [];
    const seen = new Set(lines);
    writeFileSync(join(BUILD, 'operations-seen.json'), `${JSON.stringify([...seen].sort(), null, 2)}\n`);
    const missing = missingFrom(seen);
    if (missing.length > 0) throw new Error(`no test has seen these operations succeed:\n${missing.join('\n')}`);
  };
}
