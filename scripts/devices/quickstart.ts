import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Quickstart } from '../../src/operator/sample/sample.service.ts';

/** What the last start of the sample wrote down; undefined when there is none. */
export function readQuickstart(dataDir: string): Quickstart | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'quickstart.json'), 'utf8')) as Quickstart;
  } catch {
    return undefined;
  }
}
