import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/sandbox/job.ts';
import type { ItemResult } from '../../src/sandbox/job.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { drawSome, seededRandom } from '../support/random.ts';
import { macroOf, plainObstacle, seePlainly, tricksOf, type Trick } from './leftovers.ts';
import { job, LEVELS, open, titleOf } from './machine.ts';

const CATEGORIES = ['base functions', 'module attributes', 'random state', 'options', 'environment', 'files', 'import hooks', 'helpers'];
/** The engine of JavaScript has no files and imports nothing. */
const ABSENT = { python: [], r: [], javascript: ['files', 'import hooks'] } as const;

/** Ways of each category that are tried, of those of one level alone one; all of them in soak. */
const SOME = process.env.SOAK === '1' ? { any: Infinity, level: Infinity } : { any: 3, level: 1 };

const drawTricks = (tricks: readonly Trick[]): Trick[] => {
  const random = seededRandom();
  const alike = Map.groupBy(tricks, ({ category, level }) => `${category} ${level ?? ''}`);
  return [...alike.values()].flatMap((group) => drawSome(group, group[0]?.level === undefined ? SOME.any : SOME.level, random));
};

for (const language of LANGUAGES) {
  const { preamble, tricks } = tricksOf(language);
  const tried = drawTricks(tricks);
  const hindrance = plainObstacle(language);

  describe(`what an item leaves behind in ${language} (${tried.length} of ${tricks.length} ways)`, () => {
    it('has ten ways of each category at every level', () => {
      for (const level of ['embedded', 'bubblewrap'])
        for (const category of CATEGORIES.filter((each) => !(ABSENT[language] as readonly string[]).includes(each)))
          expect(
            tricks.filter((trick) => trick.category === category && (trick.level ?? level) === level).length,
            `${category} at the ${level} level`,
          ).toBeGreaterThanOrEqual(10);
    });

    it.runIf(hindrance === undefined)(
      `sees each noticed in a plain interpreter${hindrance === undefined ? '' : `: not run, ${hindrance}`}`,
      () => {
        const seen = seePlainly(language, macroOf(language, preamble, tried), tried.length);
        expect(seen.length).toBe(tried.length);
        expect(seen.flatMap(([before, after], at) => (before === after ? [`${tried[at]!.name}: ${before}`] : []))).toEqual([]);
      },
    );

    for (const level of ['embedded', 'bubblewrap'] as const) {
      if (!(LEVELS[level].languages as readonly string[]).includes(language)) continue;
      describe.runIf(LEVELS[level].runs)(titleOf(level), () => {
        const mine = tried.filter((trick) => (trick.level ?? level) === level);
        const code = macroOf(language, preamble, mine);
        const folder = '/tmp';
        let sandbox: Sandbox;
        beforeAll(async () => {
          sandbox = await open({ level, languages: [language] });
        });
        afterAll(async () => sandbox.close());

        const run = async (data: readonly object[], changes: { version: string; caller: string; comment?: string }) => {
          const text = changes.comment === undefined ? code : `${code}\n${language === 'javascript' ? '//' : '#'} ${changes.comment}`;
          const { version, caller } = changes;
          return (await sandbox.run(job(language, text, data, { version, caller, timeoutMs: 200_000, itemTimeoutMs: 5_000 }))).results;
        };
        const seenIn = (results: readonly ItemResult[]): string[] =>
          results.map(({ output, error }) => {
            const seen: unknown = output?.['seen'];
            return typeof seen === 'string' ? seen : `no answer: ${error?.message}`;
          });

        it('none is noticed by the next item, the next call, another macro or another caller', async () => {
          const probes = mine.map((_, probe) => ({ probe, folder }));
          const untouched = seenIn(await run(probes, { version: 'first', caller: 'first' }));
          expect(untouched.filter((seen) => seen.startsWith('no answer'))).toEqual([]);
          const noticed = (where: string, seen: readonly string[]) =>
            seen.flatMap((each, at) => (each === untouched[at] ? [] : [`${where}: ${mine[at]!.name}: ${untouched[at]} became ${each}`]));

          const mixed = await run(
            mine.flatMap((_, at) => [
              { act: at, folder },
              { probe: at, folder },
            ]),
            { version: 'v1', caller: 'owner' },
          );
          const found = noticed('the next item', seenIn(mixed.filter((_, index) => index % 2 === 1)));
          // all of them at once, and then nothing but questions
          await run(
            mine.map((_, act) => ({ act, folder })),
            { version: 'v1', caller: 'owner' },
          );
          found.push(...noticed('the next call', seenIn(await run(probes, { version: 'v1', caller: 'owner' }))));
          found.push(...noticed('another macro', seenIn(await run(probes, { version: 'v2', caller: 'owner', comment: 'another' }))));
          found.push(...noticed('another caller', seenIn(await run(probes, { version: 'v1', caller: 'stranger' }))));
          expect(found).toEqual([]);
          console.log(`leftovers in ${language} at the ${level} level: ${mine.length} ways, ${found.length} noticed in 4 places`);
        }, 480_000);
      });
    }
  });
}
