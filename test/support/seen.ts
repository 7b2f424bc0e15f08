import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

const BUILD = join(import.meta.dirname, '..', '..', 'build');
const LINES = join(BUILD, 'operations-seen.ndjson');

/**
 * `build/operations-seen.json`: every operation that answered 2xx with a body that fits its schema, as the last run of all test files saw it.
 * A run of some of them leaves it as it was.
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
    writeFileSync(join(BUILD, 'operations-seen.json'), `${JSON.stringify([...new Set(lines)].sort(), null, 2)}\n`);
  };
}
