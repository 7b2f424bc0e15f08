import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MacroJob, MacroLanguage } from '../../src/sandbox/job.ts';
import { openSandbox } from '../../src/sandbox/sandbox.ts';
import type { Sandbox, SandboxSettings } from '../../src/sandbox/sandbox.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** What the machine has; the embedded level needs nothing. */
export const HAS_BUBBLEWRAP = existsSync('/usr/bin/bwrap');
export const LEVELS = {
  embedded: { runs: true, languages: ['python', 'javascript'] },
  bubblewrap: { runs: HAS_BUBBLEWRAP, languages: ['python', 'r', 'javascript'] },
} as const satisfies Record<string, { runs: boolean; languages: readonly MacroLanguage[] }>;
export type ContainingLevel = keyof typeof LEVELS;

export const titleOf = (level: ContainingLevel) =>
  LEVELS[level].runs ? `at the ${level} level` : `at the ${level} level: not run, bubblewrap is not installed`;

export const fixture = <T>(name: string): T => JSON.parse(readFileSync(join(ROOT, 'fixtures', 'macros', name), 'utf8')) as T;

export const open = async (settings: Omit<SandboxSettings, 'runtimesFolder'> = {}): Promise<Sandbox> =>
  openSandbox({
    runtimesFolder: join(ROOT, 'src', 'sandbox', 'runtimes'),
    keepIn: join(ROOT, 'node_modules', '.cache', 'fieldlake'),
    ...settings,
  });

export const job = (language: MacroLanguage, code: string, data: readonly unknown[], changes: Partial<MacroJob> = {}): MacroJob => ({
  language,
  code,
  version: 'v1',
  caller: 'owner',
  items: data.map((entry, index) => ({ id: `item-${index}`, data: entry })),
  timeoutMs: 30_000,
  itemTimeoutMs: 1_000,
  ...changes,
});
