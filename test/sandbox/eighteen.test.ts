import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ItemResult, MacroLanguage } from '../../src/sandbox/job.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { fixture, job, LEVELS, open, titleOf } from './machine.ts';
import type { ContainingLevel } from './machine.ts';
import { near } from './near.ts';

interface Case {
  data: unknown;
  context?: Record<string, unknown>;
  output?: unknown;
  error?: { type: string; message: string; line: number };
  tolerance?: number;
}
interface Macro {
  number: number;
  language: MacroLanguage;
  name: string;
  code: string;
  cases: Case[];
  needs?: 'numpy';
}

const macros = fixture<Macro[]>('eighteen.json');

const verify = (macro: Macro, wanted: Case, result: ItemResult, level: ContainingLevel) => {
  if (macro.needs === 'numpy' && level === 'embedded') {
    expect(result.error?.message).toMatch(/is not available here; install bubblewrap/);
  } else if (wanted.error === undefined) {
    expect(result.error).toBeUndefined();
    near(result.output, wanted.output, wanted.tolerance ?? 1e-9);
  } else {
    expect(result).toMatchObject({ success: false, error: wanted.error });
  }
};

for (const level of ['embedded', 'bubblewrap'] as const) {
  describe.runIf(LEVELS[level].runs)(`the eighteen macros ${titleOf(level)}`, () => {
    const mine = macros.filter(({ language }) => (LEVELS[level].languages as readonly string[]).includes(language));
    let sandbox: Sandbox;
    let results: Map<Macro, ItemResult[]>;
    beforeAll(async () => {
      sandbox = await open({ level, languages: LEVELS[level].languages });
      // all of them at once, as a mixed batch
      const run = (macro: Macro) =>
        sandbox.run(
          job(macro.language, macro.code, [], {
            version: String(macro.number),
            caller: `caller ${macro.number}`,
            items: macro.cases.map((wanted, index) => ({ id: String(index), data: wanted.data, context: wanted.context ?? {} })),
          }),
        );
      results = new Map(await Promise.all(mine.map(async (macro) => [macro, (await run(macro)).results] as const)));
    });
    afterAll(async () => sandbox.close());

    it('is the level asked for', () => {
      for (const language of LEVELS[level].languages) expect(sandbox.level(language).level).toBe(level);
    });

    for (const macro of mine) {
      it(`${macro.number} ${macro.language}: ${macro.name}`, () => {
        const answers = results.get(macro)!;
        expect(answers.map(({ id }) => id)).toEqual(macro.cases.map((_, index) => String(index)));
        macro.cases.forEach((wanted, at) => verify(macro, wanted, answers[at]!, level));
      });
    }
  });
}

describe('R without bubblewrap', () => {
  it('is refused, and its level says what to install', async () => {
    const sandbox = await open({ level: 'embedded', languages: ['r'] });
    expect(sandbox.level('r')).toMatchObject({ level: 'unavailable', reason: expect.stringContaining('r-base-core r-recommended') });
    await expect(sandbox.run(job('r', 'output$a <- 1', [1]))).rejects.toMatchObject({
      status: 503,
      message: expect.not.stringContaining('r-base-core'),
    });
    await sandbox.close();
  });
});
