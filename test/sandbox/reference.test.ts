import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MacroLanguage } from '../../src/sandbox/job.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { DIFFERENCES } from './differences.ts';
import { job, LEVELS, open, titleOf } from './machine.ts';
import { callerIn, callOf, differenceOf, pairsOf } from './reference.ts';
import type { Pair, Told } from './reference.ts';

/** Pairs an item: a copy of an interpreter for each would take most of the time. */
const TOGETHER = 50;

const answersTo = async (sandbox: Sandbox, language: MacroLanguage, pairs: readonly Pair[]): Promise<Told[]> => {
  const items = Array.from({ length: Math.ceil(pairs.length / TOGETHER) }, (_, at) => ({
    pairs: pairs.slice(at * TOGETHER, (at + 1) * TOGETHER),
  }));
  const { results } = await sandbox.run(job(language, callerIn[language](), items, { timeoutMs: 100_000, itemTimeoutMs: 10_000 }));
  return results.flatMap(({ error, output }) => {
    expect(error).toBeUndefined();
    return JSON.parse(output!.text as string) as Told[];
  });
};

describe('the list of differences', () => {
  const rows = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'macros.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '));

  it.each(DIFFERENCES)('$told: one row of the guide says it', ({ told }) => {
    expect(rows.filter((row) => row.startsWith(`| ${told} |`))).toHaveLength(1);
  });
});

for (const level of ['embedded', 'bubblewrap'] as const) {
  describe.runIf(LEVELS[level].runs)(`helpers as in the reference ${titleOf(level)}`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await open({ level, languages: LEVELS[level].languages });
    });
    afterAll(async () => sandbox.close());

    describe.each(LEVELS[level].languages)('%s', (language: MacroLanguage) => {
      const pairs = pairsOf(language);
      let told: Told[] = [];
      beforeAll(async () => {
        told = await answersTo(sandbox, language, pairs);
      });
      const differences = DIFFERENCES.filter(({ languages }) => languages.includes(language));

      it(`answers ${pairs.length} calls as recorded`, () => {
        expect(told).toHaveLength(pairs.length);
        const wrong = pairs.flatMap((pair, at) => {
          const allowed = differences.find(({ covers }) => covers(pair, language));
          if (allowed !== undefined && allowed.within === undefined) return [];
          const difference = differenceOf(pair, told[at]!, allowed?.within);
          return difference === undefined ? [] : [`${callOf(pair)}: ${difference}`];
        });
        expect(wrong).toEqual([]);
      });

      it.each(differences)('still differs: $told', ({ covers, within }) => {
        const covered = pairs.flatMap((pair, at) =>
          covers(pair, language) ? [{ pair, differs: differenceOf(pair, told[at]!) !== undefined }] : [],
        );
        const same = covered.filter(({ differs }) => !differs).map(({ pair }) => callOf(pair));
        expect(covered.length).toBeGreaterThan(0);
        expect(same.length).toBeLessThan(covered.length);
        if (within === undefined) expect(same).toEqual([]);
      });
    });
  });
}
