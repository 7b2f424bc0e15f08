import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BUILD = join(import.meta.dirname, '..', '..', 'build');
const LINES = join(BUILD, 'operations-seen.ndjson');

export function forgetSeenOperations(): void {
  mkdirSync(BUILD, { recursive: true });
  rmSync(LINES, { force: true });
}

/** `build/operations-seen.json`: every operation that answered 2xx with a body that fits its schema. */
export function writeSeenOperations(): void {
  const lines = existsSync(LINES)
    ? readFileSync(LINES, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
  writeFileSync(join(BUILD, 'operations-seen.json'), `${JSON.stringify([...new Set(lines)].sort(), null, 2)}\n`);
}
