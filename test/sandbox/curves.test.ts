import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MacroLanguage } from '../../src/sandbox/job.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { fixture, job, LEVELS, open, titleOf } from './machine.ts';
import { near } from './near.ts';

interface Case {
  helper: string;
  args: unknown[];
  result?: unknown;
  error?: string;
  /** What R says otherwise: a number of it is an array of one. */
  exceptions?: Partial<Record<MacroLanguage, unknown>>;
}

const cases = fixture<Case[]>('curves.json');
const names = [...new Set(cases.map(({ helper }) => helper))];

/** Calls the helper that the item names; `$nan` and `$inf` in its arguments stand for what JSON cannot say. */
const MACROS: Record<MacroLanguage, string> = {
  python: `special = {'$nan': float('nan'), '$inf': float('inf')}
def decode(v):
    if isinstance(v, list): return [decode(x) for x in v]
    return special.get(v, v) if isinstance(v, str) else v
args = decode(json['args'])
before = repr(args)
result = {${names.map((name) => `'${name}': ${name}`).join(', ')}}[json['helper']](*args)
if repr(args) != before: raise ValueError('changed')
return {'result': result}`,
  javascript: `const special = { $nan: NaN, $inf: Infinity };
const decode = (v) => (Array.isArray(v) ? v.map(decode) : typeof v === 'string' && v in special ? special[v] : v);
const args = decode(json.args);
const show = () => JSON.stringify(args, (_, v) => (typeof v === 'number' ? String(v) : v));
const before = show();
const result = { ${names.join(', ')} }[json.helper](...args);
if (show() !== before) throw new Error('changed');
return { result };`,
  r: `decode <- function(v) if (is.list(v)) lapply(v, decode) else if (identical(v, "$nan")) NaN else if (identical(v, "$inf")) Inf else v
args <- decode(json$args)
output$result <- do.call(json$helper, args, quote = TRUE)
invisible(NULL)`,
};

for (const level of ['embedded', 'bubblewrap'] as const) {
  describe.runIf(LEVELS[level].runs)(`fits of our own ${titleOf(level)}`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await open({ level, languages: LEVELS[level].languages });
    });
    afterAll(async () => sandbox.close());

    for (const language of LEVELS[level].languages) {
      it(`${language}: ${cases.length} cases of ${names.length} helpers have the answer of the table`, async () => {
        const { results } = await sandbox.run(job(language, MACROS[language], cases));
        const wrong = cases.flatMap((wanted, index) => {
          const { success, output, error } = results[index]!;
          const named = `${wanted.helper}(${JSON.stringify(wanted.args)})`;
          if (wanted.error !== undefined)
            return error?.message === wanted.error
              ? []
              : [`${named}: ${JSON.stringify(error ?? output)} instead of the error ${wanted.error}`];
          if (!success) return [`${named}: ${JSON.stringify(error)}`];
          try {
            near(output!.result, wanted.exceptions?.[language] ?? wanted.result, 1e-9);
            return [];
          } catch (failure) {
            return [`${named}: ${(failure as Error).message}; got ${JSON.stringify(output!.result)}`];
          }
        });
        expect(wrong).toEqual([]);
      });

      it(`${language}: messages land in the output, by name or by default`, async () => {
        const code = {
          python: "info('a', output)\nwarning('b')\ndanger('c', output)\nwarning('d')",
          javascript: "info('a', output); warning('b'); danger('c', output); warning('d');",
          r: 'info("a", output); warning("b"); danger("c", output); warning("d")',
        }[language];
        const { results } = await sandbox.run(job(language, code, [{}]));
        expect(results[0]!.output).toEqual({ messages: { info: ['a'], warning: ['b', 'd'], danger: ['c'] } });
      });
    }
  });
}
