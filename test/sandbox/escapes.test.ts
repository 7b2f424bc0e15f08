import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { attemptsOf, macroOf, tryOutside, world } from './escapes.ts';
import { job, LEVELS, open, titleOf } from './machine.ts';

const ALL = process.env.SOAK === '1';
const LIMIT_MS = 500;
const INTERPRETERS = { python: '/usr/bin/python3', javascript: process.execPath, r: '/usr/bin/Rscript' } as const;

for (const level of ['embedded', 'bubblewrap'] as const) {
  for (const language of LEVELS[level].languages) {
    const { preamble, attempts } = attemptsOf(language);
    const tried = attempts.filter(({ always }) => ALL || always);
    describe.runIf(LEVELS[level].runs)(`escapes in ${language} ${titleOf(level)} (${tried.length} of ${attempts.length})`, () => {
      let outside: Awaited<ReturnType<typeof world>>;
      let sandbox: Sandbox;
      beforeAll(async () => {
        outside = await world();
        sandbox = await open({ level, languages: [language] });
      });
      afterAll(async () => {
        await sandbox.close();
        outside.close();
      });

      it('has at least forty attempts', () => expect(attempts.length).toBeGreaterThanOrEqual(40));

      // Once a language is enough: what a bare interpreter does knows no level.
      const bare = tried.filter((attempt) => attempt.outside);
      it.runIf(existsSync(INTERPRETERS[language]) && (level === 'bubblewrap' || !LEVELS.bubblewrap.runs))(
        `sees ${bare.length} of them succeed in a bare interpreter`,
        async () => {
          const failed: string[] = [];
          for (const attempt of bare) {
            outside.restore();
            const { escaped, complaint } = await tryOutside(language, preamble, attempt, outside.data);
            if (!escaped) failed.push(`${attempt.name}: ${complaint}`);
          }
          expect(failed).toEqual([]);
        },
        120_000,
      );

      it('none leaves the box, each ends in time with an error of its own', async () => {
        outside.restore();
        const before = { files: outside.files(), calls: outside.calls() };
        const items = tried.flatMap((attempt, index) => [
          { id: `before ${attempt.name}`, data: {} },
          { id: attempt.name, data: { ...outside.data, attack: index } },
        ]);
        items.push({ id: 'last', data: {} });
        const { results } = await sandbox.run(
          job(language, macroOf(language, preamble, tried), [], { items, itemTimeoutMs: LIMIT_MS, timeoutMs: 280_000 }),
        );
        expect(results.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
        const wrong = results.flatMap((result, index): unknown[] => {
          const attack = index % 2 === 1;
          if (!attack)
            return result.success && result.output?.fine === true
              ? []
              : [{ spoiled: result.id, after: results[index - 1]?.id, error: result.error }];
          if (result.success) return [{ escaped: result.id, output: JSON.stringify(result.output).slice(0, 200) }];
          return result.durationMs <= LIMIT_MS + 500 ? [] : [{ slow: result.id, ms: result.durationMs }];
        });
        expect(wrong).toEqual([]);
        expect(outside.files()).toEqual(before.files);
        expect(outside.calls()).toBe(before.calls);
        expect(outside.victimLives()).toBe(true);
      }, 300_000);
    });
  }
}
