import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeClone, ROOT, type Clone, type Ran } from './clone.ts';
import { readRecipe, recipeNames } from './recipe.ts';

const recipes = recipeNames().map(readRecipe);

let clone: Clone;
/** What the tests of all patches said before any of the product was changed. */
let before: Ran;

/** Applies a part of a recipe; one that does not fit any more is named. */
function apply(name: string, patch: string): void {
  try {
    execFileSync('git', ['-C', clone.folder, 'apply', '-C1', '-'], { input: patch, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`docs/contributing/${name} does not fit the code any more:\n${String((error as { stderr: Buffer }).stderr)}`, {
      cause: error,
    });
  }
}

/** Throws away what a recipe has changed, and what was generated from it. */
function throwAway(): void {
  clone.git('checkout', '--quiet', '.');
  clone.git('clean', '--quiet', '--force', 'src', 'sql', 'test');
}

beforeAll(() => {
  clone = makeClone();
  for (const { name, tests } of recipes) apply(name, tests);
  before = clone.test(recipes.flatMap(({ added }) => added));
  throwAway();
}, 600_000);
afterEach(() => throwAway());
afterAll(() => clone.remove());

test('the five are there, and name only files that exist', () => {
  expect(recipes.map(({ name }) => name)).toEqual(['a-job.md', 'a-migration.md', 'a-table-kind.md', 'an-endpoint.md', 'an-expression.md']);
  for (const { name, room } of recipes) {
    const text = readFileSync(join(ROOT, 'docs', 'contributing', name), 'utf8').replace(/^```diff$.*?^```$/gms, '');
    const named = [...text.matchAll(/`((?:src|sql|test|docs|fixtures)\/[\w./-]+\.\w+)`/g)].map(([, path = '']) => path);
    expect(named.length, name).toBeGreaterThan(2);
    expect(
      named.filter((path) => !existsSync(join(ROOT, path))),
      name,
    ).toEqual([]);
    expect(room.length, name).toBeGreaterThan(0);
  }
});

/** All changes at once, which need one build, or with SOAK each by itself. */
const turns = process.env['SOAK'] ? recipes.map((recipe) => [recipe]) : [recipes];

describe.each(turns.map((turn) => ({ turn, names: turn.map(({ name }) => name).join(', ') })))('$names', ({ turn, names }) => {
  test('its tests fail without it, pass with it, and so does its room', () => {
    const began = performance.now();
    for (const { name, change, tests, added } of turn) {
      expect(
        added.filter((file) => !before.failed.some((each) => each.startsWith(file))),
        `${name}: tests that pass without the change`,
      ).toEqual([]);
      apply(name, change + tests);
      const made = [...(change + tests).matchAll(/^--- \/dev\/null\n\+\+\+ b\/(.+\.ts)$/gm)].map(([, path = '']) => path);
      execFileSync('npx', ['prettier', '--check', ...made], { cwd: clone.folder, stdio: 'pipe' });
    }
    const built = clone.run('build');
    expect(built.status, `${names} does not build:\n${built.said}`).toBe(0);
    const { passed, failed } = clone.test(turn.flatMap(({ added, room }) => [...added, ...room]));
    expect(failed, names).toEqual([]);
    expect(passed, names).toBeGreaterThan(turn.length);
    process.stdout.write(`${names}: ${passed} tests, ${((performance.now() - began) / 1_000).toFixed(0)} s\n`);
  });
});
