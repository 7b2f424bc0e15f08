import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClone, type Clone } from './clone.ts';

let clone: Clone;
const whole = (path: string) => join(clone.folder, path);
const read = (path: string) => readFileSync(whole(path), 'utf8');

/** Builds to the end, types left out. */
function build(): void {
  const { status, said } = clone.run('build', '--', '--quick');
  expect(status, said).toBe(0);
}

/** Begins a build and kills it, and all that it started, when a file has changed. */
async function killBuildOnceChanged(path: string): Promise<void> {
  const before = statSync(whole(path)).mtimeMs;
  const child = spawn('node', ['scripts/build.ts', '--quick'], {
    cwd: clone.folder,
    env: clone.environment,
    stdio: 'ignore',
    detached: true,
  });
  const ended = once(child, 'exit');
  while (!existsSync(whole(path)) || statSync(whole(path)).mtimeMs === before) {
    expect(child.exitCode, `the build ended before ${path} had changed`).toBeNull();
    await sleep(1);
  }
  process.kill(-child.pid!, 'SIGKILL');
  await ended;
}

beforeAll(() => {
  clone = makeClone();
  build();
});
afterAll(() => clone.remove());

test('modules that a killed build has changed are made again, also from the sources of before', async () => {
  const path = 'src/app.ts';
  const [source, built] = [read(path), read('build/src/app.js')];
  // all others are printed after it: the build is killed in their midst
  writeFileSync(whole('package.json'), `${read('package.json')}\n`);
  writeFileSync(whole(path), `${source}\nexport const planted = 1;\n`);
  await killBuildOnceChanged('build/src/app.js');
  expect(read('build/src/app.js')).toContain('planted');
  clone.git('checkout', '--quiet', '.');
  build();
  expect(read('build/src/app.js')).toBe(built);
});

test('pages that a killed build has changed are made again, also from the sources of before', async () => {
  const pages = read('build/web/index.html');
  writeFileSync(whole('web/src/words.ts'), `${read('web/src/words.ts')}\n(globalThis as { planted?: number }).planted = 1;\n`);
  await killBuildOnceChanged('build/web/index.html');
  clone.git('checkout', '--quiet', '.');
  build();
  expect(read('build/web/index.html')).toBe(pages);
});

test('what a source made goes with the source', () => {
  mkdirSync(whole('src/planted'));
  writeFileSync(whole('src/planted/moon.ts'), 'export const moon = 1;\n');
  build();
  const made = ['build/src/planted/moon.js', 'build/src/planted/moon.js.map'];
  expect(made.map((path) => existsSync(whole(path)))).toEqual([true, true]);
  rmSync(whole('src/planted'), { recursive: true });
  build();
  expect(made.map((path) => existsSync(whole(path)))).toEqual([false, false]);
});
