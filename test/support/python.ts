import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** What the shell does with a folder and packages; the file `complete` says that all of them are there. */
const INSTALL = `test -e "$0/complete" && exit
rm -rf "$0" && python3 -m venv "$0" && "$0/bin/pip" install --quiet --disable-pip-version-check --no-compile "$@" && touch "$0/complete"`;

/** The folder of programs of a Python environment under `build/` with these packages from PyPI: made once, kept for later runs; needs a package index the first time. */
export function pythonWith(...packages: string[]): string {
  const folder = join(ROOT, 'build', `python-${createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 12)}`);
  // two test files may ask for the same one at once
  execFileSync('flock', [`${folder}.lock`, 'sh', '-c', INSTALL, folder, ...packages]);
  return join(folder, 'bin');
}
