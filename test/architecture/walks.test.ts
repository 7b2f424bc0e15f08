import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

interface Step {
  file: string;
  name: string;
  /** Whether it begins by itself: a route, or a job of the worker. */
  begins: boolean;
}

/** The walks of a document: lists under a bold title, each item a link to a file and the name of a function. */
function walksIn(document: string): Map<string, Step[]> {
  const walks = new Map<string, Step[]>();
  let title = '';
  for (const line of document.split('\n')) {
    title = /^\*\*(.+)\*\*$/.exec(line)?.[1] ?? title;
    const [, number, lead = '', shown, file, name] = /^(\d+)\. (.*?)\[`([^`]+)`\]\(\.\.\/([^)]+)\) `(\w+)`:/.exec(line) ?? [];
    if (file === undefined || name === undefined) continue;
    expect(shown, line).toBe(file);
    walks.set(title, [...(walks.get(title) ?? []), { file, name, begins: number === '1' || lead.startsWith('In the worker') }]);
  }
  return walks;
}

const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const defines = (file: string, name: string) => new RegExp(`(function\\*? |const |public async |class )${name}\\b`).test(textOf(file));

/** What is wrong with a walk: a function that is not there, or that no file before it names. */
const faultsOf = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ file, name, begins }, at) => {
    if (!defines(file, name)) return [`${file} has no ${name}`];
    const before = steps.slice(0, at).some((step) => new RegExp(`\\b${name}\\b`).test(textOf(step.file)));
    return begins || before ? [] : [`nothing before leads to ${name}`];
  });

describe('the walks of docs/architecture.md', () => {
  const walks = walksIn(textOf('docs/architecture.md'));

  test.each([
    ['A filter, from the route to SQL', 8],
    ['A message, from the broker to the manifest', 12],
    ['An uploaded file', 12],
  ])('%s: at most %i files, each there and led to', (title, most) => {
    const steps = walks.get(title) ?? [];
    expect(steps.length).toBeGreaterThan(5);
    expect(new Set(steps.map(({ file }) => file)).size).toBeLessThanOrEqual(most);
    expect(faultsOf(steps)).toEqual([]);
  });

  test('a function that went elsewhere is found missing, and one that nothing leads to', () => {
    const [steps = []] = walks.values();
    const first = steps[0]!;
    expect(faultsOf([{ ...first, name: 'gone' }])).toEqual([`${first.file} has no gone`]);
    expect(faultsOf([first, { file: 'src/metrics.ts', name: 'createMetrics', begins: false }])).toEqual([
      'nothing before leads to createMetrics',
    ]);
  });
});
