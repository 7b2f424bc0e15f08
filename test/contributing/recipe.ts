import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './clone.ts';

/** A page of docs/contributing: a patch, and the test files that its last line names. */
export interface Recipe {
  name: string;
  /** As `git apply` reads it: what belongs to the product, and what tests it. */
  change: string;
  tests: string;
  /** Test files that the patch adds. */
  added: string[];
  /** Those of the room that the page names. */
  room: string[];
}

const FOLDER = join(ROOT, 'docs', 'contributing');

/** The number after the last migration, with as many digits. */
function nextNumber(): string {
  const last =
    readdirSync(join(ROOT, 'sql', 'migrations'))
      .sort()
      .at(-1) ?? '';
  const [digits = '000'] = /^\d+/.exec(last) ?? [];
  return String(Number(digits) + 1).padStart(digits.length, '0');
}

/** A hunk with the numbers that `git apply` wants: how many lines it finds and leaves. The place is found by the lines themselves. */
function numbered(hunk: string): string {
  const lines = hunk.split('\n').slice(1, -1);
  const count = (signs: string) => lines.filter((line) => signs.includes(line[0] ?? ' ')).length;
  const [before, after] = [count(' -'), count(' +')];
  return [`@@ -${before === 0 ? 0 : 10},${before} +${before === 0 ? 1 : 10},${after} @@`, ...lines, ''].join('\n');
}

/** Reads a page. */
export function readRecipe(name: string): Recipe {
  const text = readFileSync(join(FOLDER, name), 'utf8');
  const patch = [...text.matchAll(/^```diff\n(.*?)^```$/gms)].map(([, block = '']) => block).join('');
  const files = patch
    .replaceAll('migrations/NEXT_', `migrations/${nextNumber()}_`)
    .split(/^(?=--- )/m)
    .map((file) => {
      const [head = '', ...hunks] = file.split(/^(?=@@$)/m);
      return {
        path: /^\+\+\+ b\/(.+)$/m.exec(head)?.[1] ?? '',
        isNew: head.startsWith('--- /dev/null'),
        text: [head, ...hunks.map(numbered)].join(''),
      };
    });
  const isTest = ({ path }: { path: string }) => path.startsWith('test/');
  const said = /npm run test:one -- (test\/[^`]+)`\.\n$/.exec(text)?.[1] ?? '';
  return {
    name,
    change: files
      .filter((file) => !isTest(file))
      .map((file) => file.text)
      .join(''),
    tests: files
      .filter(isTest)
      .map((file) => file.text)
      .join(''),
    added: files.filter((file) => isTest(file) && file.isNew).map(({ path }) => path),
    room: said.split(' ').filter((path) => path !== ''),
  };
}

/** Every page that holds a patch. */
export const recipeNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort();
