import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** The folder of programs of a Python environment under `build/` with these packages from PyPI: made once, kept for later runs; needs a package index the first time. */
export function pythonWith(...packages: string[]): string {
  const folder = join(ROOT, 'build', `python-${createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 12)}`);
  const programs = join(folder, 'bin');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return programs;
  rmSync(folder, { recursive: true, force: true });
  execFileSync('python3', ['-m', 'venv', folder]);
  execFileSync(join(programs, 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages]);
  writeFileSync(complete, '');
  return programs;
}
