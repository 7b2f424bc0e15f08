/**
 * Gets the peers that are not packages of ours into folders of their own under `build/`, once: ROAPI and Datasette from PyPI, mosquitto and InfluxDB from Debian, whose
 * packages are unpacked and not installed, so that nothing of the machine changes and nobody needs to be root. `node bench/peers/install.ts` does it ahead of a bench.
 *
 * InfluxDB is Debian's, 1.6: the registries that we install from have no newer one as a program, and one from source needs Go, Rust and their packages for Flux. Debian's
 * archive keeps one version of each package, so none is named here; the table says which it was.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pythonWith } from '../../test/support/python.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'build', 'peers');
const LIBRARIES = join('usr', 'lib', 'x86_64-linux-gnu');

/** A program, and what it needs in its environment. */
export interface Program {
  file: string;
  environment: Record<string, string>;
}

function unpack(name: string, packages: readonly string[]): string {
  const folder = join(FOLDER, name);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}-unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  execFileSync('apt-get', ['download', '-qq', ...packages], { cwd: unfinished, stdio: ['ignore', 'ignore', 'pipe'] });
  for (const file of readdirSync(unfinished).filter((each) => each.endsWith('.deb'))) {
    execFileSync('dpkg-deb', ['-x', file, '.'], { cwd: unfinished });
    rmSync(join(unfinished, file));
  }
  renameSync(unfinished, folder);
  return folder;
}

const debian = (name: string, file: string, packages: readonly string[]) => (): Program => {
  const folder = unpack(name, packages);
  return { file: join(folder, file), environment: { LD_LIBRARY_PATH: join(folder, LIBRARIES) } };
};

const python = (name: string, requirement: string) => (): Program => ({ file: join(pythonWith(requirement), name), environment: {} });

/** Each installs its peer where it is not yet, and answers its program; throws where it cannot be had. */
export const PROGRAMS = {
  roapi: python('roapi', 'roapi==0.12.7'),
  datasette: python('datasette', 'datasette==0.65.5'),
  mosquitto: debian('mosquitto', 'usr/sbin/mosquitto', ['mosquitto', 'libcjson1', 'libmosquitto1', 'libdlt2', 'libwrap0']),
  influxdb: debian('influxdb', 'usr/bin/influxd', ['influxdb']),
};

if (import.meta.main) for (const [name, install] of Object.entries(PROGRAMS)) process.stdout.write(`${name}: ${install().file}\n`);
