/** The changes that the console sends, as its sources and `fixtures/console/refused.yaml` list them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..');
const CONSOLE = join(ROOT, 'web/src');

/** How a person sends a change; `fixtures/console/refused.yaml` says what each means. */
export interface Way {
  at: string;
  as?: 'owner' | 'stranger' | 'member' | 'viewer' | 'keyholder' | 'nobody';
  first?: (string | Record<string, string | null>)[];
  fill?: Record<string, string>;
  press?: string;
  ask?: string;
  pick?: Record<string, string>;
}

/** Each change by its name, and how it is sent, or why it is not refused by the test. */
export const changesListed = (): Record<string, Way | string> =>
  parse(readFileSync(join(ROOT, 'fixtures/console/refused.yaml'), 'utf8')) as Record<string, Way | string>;

const MUTATION = /const (?:(\w+)|\{([^}]*)\}) = useMutation\(/g;
const QUESTION = /<AskFirst\s+action=\{([^}]+)\}/g;

/** The names of all changes that the sources hold, and how often either way of making one stands there. */
export function findChanges(): { names: string[]; calls: number } {
  const names: string[] = [];
  let calls = 0;
  for (const file of globSync('**/*.{ts,tsx}', { cwd: CONSOLE }).sort()) {
    const text = readFileSync(join(CONSOLE, file), 'utf8');
    calls += text.match(/\buseMutation\(|<(?:AskFirst|SettingsForm)\b/g)?.length ?? 0;
    for (const [, name, parts = ''] of text.matchAll(MUTATION))
      names.push(`${file} ${name ?? /mutate: (\w+)/.exec(parts)?.[1] ?? 'mutate'}`);
    for (const [, action] of text.matchAll(QUESTION)) names.push(`${file} asks ${action}`);
    if (text.includes('<SettingsForm\n')) names.push(`${file} settings`);
  }
  return { names, calls };
}
