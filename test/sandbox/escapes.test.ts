import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/sandbox/job.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { drawSome, seededRandom } from '../support/random.ts';
import { attemptsOf, macroOf, world, type Attempt } from './escapes.ts';
import { job, LEVELS, open, titleOf } from './machine.ts';
import { obstacle, tryOutside } from './outside.ts';

const ALL = process.env.SOAK === '1';
/** Short where times are measured; long enough elsewhere for an honest item beside other suites. */
const LIMIT_MS = ALL ? 500 : 1_500;
const MEMORY_MB = 1536;
/** What a plain interpreter has to be seen beyond; the box ends all of this earlier. */
const BEYOND = { past: LIMIT_MS + 1_000, memory: MEMORY_MB * 1024 * 1024, written: 100_000_000, processes: 20 };

/** Attempts that are seen outside: all of them in soak, else some of each goal and interpreter, three where what counts is what is said. */
const drawSeen = (attempts: readonly Attempt[]): Attempt[] => {
  if (ALL) return [...attempts];
  const random = seededRandom();
  const alike = Map.groupBy(attempts, ({ goal, engine }) => `${goal} ${engine ?? ''}`);
  return [...alike.values()].flatMap((group) => drawSome(group, group[0]?.goal === 'says' ? 3 : 1, random));
};

/** Each has a frame of its own, and much of it is waiting. */
const SEEN_AT_ONCE = ALL ? 1 : 3;

const seconds = (count: number) => 20_000 + count * 15_000;

for (const language of LANGUAGES) {
  const { preamble, attempts } = attemptsOf(language);
  const counted = attempts.filter(({ absent }) => !absent);
  const tried = attempts.filter(({ always }) => ALL || always);
  const told = { attempts: counted.length, tried: 0, outside: 0, inside: [] as string[] };
  const hindrance = obstacle(language);

  describe(`escapes in ${language} (${tried.length} of ${attempts.length})`, () => {
    afterAll(() => {
      const inside = told.inside.length === 0 ? 'no level was run' : told.inside.join(', ');
      console.log(
        `escapes in ${language}: ${told.attempts} attempts; ${told.tried} tried in a plain interpreter, ${told.outside} seen to work there; ${inside}`,
      );
    });

    it('has at least forty attempts', () => expect(counted.length).toBeGreaterThanOrEqual(40));

    it.runIf(hindrance === undefined)(
      `sees each reach its goal in a plain interpreter${hindrance === undefined ? '' : `: not run, ${hindrance}`}`,
      async () => {
        const failed: string[] = [];
        const waiting = drawSeen(tried.filter(({ absent }) => !absent));
        const see = async (attempt: Attempt) => {
          told.tried += 1;
          // a goal that is reached is proof enough, also when a busy machine was too slow for it at first
          const first = await tryOutside(language, preamble, attempt, BEYOND);
          const { worked, seen } = first.worked ? first : await tryOutside(language, preamble, attempt, BEYOND);
          if (!first.worked) console.warn(`${attempt.name} was tried again outside: ${first.seen}`);
          if (worked) told.outside += 1;
          else failed.push(`${attempt.name}: ${seen}`);
        };
        const take = async () => {
          for (let attempt = waiting.shift(); attempt !== undefined; attempt = waiting.shift()) await see(attempt);
        };
        await Promise.all(Array.from({ length: SEEN_AT_ONCE }, take));
        expect(failed).toEqual([]);
      },
      seconds(tried.length),
    );

    for (const level of ['embedded', 'bubblewrap'] as const) {
      if (!(LEVELS[level].languages as readonly string[]).includes(language)) continue;
      // much of each is an attempt that goes on until its limit; at once where no times are measured
      describe(titleOf(level), { concurrent: !ALL, skip: !LEVELS[level].runs }, () => {
        let outside: Awaited<ReturnType<typeof world>>;
        let sandbox: Sandbox;
        beforeAll(async () => {
          outside = await world();
          sandbox = await open({ level, languages: [language], memoryMb: MEMORY_MB });
        });
        afterAll(async () => {
          await sandbox.close();
          outside.close();
        });

        it(
          `none leaves the box, each ends ${ALL ? 'in time ' : ''}with an error of its own`,
          async () => {
            const before = { files: outside.files(), calls: outside.calls() };
            const items = tried.flatMap((attempt, index) => [
              { id: `before ${attempt.name}`, data: {} },
              { id: attempt.name, data: { ...outside.data, attack: index } },
            ]);
            items.push({ id: 'last', data: {} });
            const { results } = await sandbox.run(
              job(language, macroOf(language, preamble, tried), [], { items, itemTimeoutMs: LIMIT_MS, timeoutMs: seconds(tried.length) }),
            );
            expect(results.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
            const attacks = results.filter((_, index) => index % 2 === 1);
            const escaped = attacks.filter(({ success }) => success);
            told.inside.push(`${escaped.length} of ${attacks.length} succeeded at the ${level} level`);
            expect(escaped.map(({ id, output }) => ({ id, output: JSON.stringify(output).slice(0, 200) }))).toEqual([]);
            const neighbours = results.filter((_, index) => index % 2 === 0);
            expect(neighbours.filter(({ success, output }) => !success || output?.fine !== true)).toEqual([]);
            expect(outside.files()).toEqual(before.files);
            expect(outside.calls()).toBe(before.calls);
            expect(outside.victimLives()).toBe(true);
            // a measurement, for a machine that does nothing else
            if (ALL) expect(attacks.filter(({ durationMs }) => durationMs > LIMIT_MS + 500)).toEqual([]);
          },
          seconds(tried.length),
        );
      });
    }
  });
}
