import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MacroLanguage } from '../../src/sandbox/job.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { job, LEVELS, open, titleOf } from './machine.ts';

const MANY = process.env.SOAK === '1' ? [3000, 5000] : [300];

/** `json.case` chooses what the middle item does; the items around it return `{ ok: <json.n> }`. */
const MIXED: Record<MacroLanguage, string> = {
  python: `c = json.get('case')
print('case', c)
if c == 'loop':
    while True: pass
if c == 'nan': return {'x': float('nan'), 'y': float('inf')}
if c == 'list': return [1, 2]
if c == 'nothing': return
if c == 'throw': raise KeyError('gone')
if c == 'kill':
    g = next(k for k in ().__class__.__base__.__subclasses__() if k.__name__ == '_wrap_close').__init__.__globals__
    g['kill'](g['getpid'](), 9)
    while True: pass
leaked = 'leaked' in globals()
globals()['leaked'] = True
return {'ok': json['n'], 'leaked': leaked}`,
  javascript: `const c = json.case;
console.log('case', c);
if (c === 'loop') for (;;);
if (c === 'nan') return { x: NaN, y: 1 / 0 };
if (c === 'list') return [1, 2];
if (c === 'nothing') return;
if (c === 'throw') throw new RangeError('gone');
if (c === 'kill') { let s = 'x'; for (;;) s += s; }
const wasLeaked = typeof leaked !== 'undefined';
leaked = true;
return { ok: json.n, leaked: wasLeaked };`,
  r: `case <- json$case
cat("case", if (is.null(case)) "none" else case, "\\n")
if (!is.null(case)) {
  if (case == "loop") repeat {}
  if (case == "nan") return(list(x = NaN, y = Inf))
  if (case == "list") return(list(1, 2))
  if (case == "frame") return(data.frame(a = 1:2))
  if (case == "nothing") return(invisible(NULL))
  if (case == "throw") stop("gone")
  if (case == "kill") { tools::pskill(Sys.getpid(), 9); repeat {} }
}
was <- exists("leaked", inherits = FALSE)
leaked <- TRUE
list(ok = json$n, leaked = was)`,
};

const EXPECTED: Record<string, object> = {
  loop: { success: false, error: { type: 'TimeoutError' } },
  nan: { success: true, output: { x: null, y: null } },
  list: { success: false, error: { type: 'OutputError' } },
  nothing: { success: true, output: {} },
  throw: { success: false, error: { message: expect.stringContaining('gone') } },
  kill: { success: false, error: { type: expect.stringMatching(/Error$/) } },
};

for (const level of ['embedded', 'bubblewrap'] as const) {
  describe.runIf(LEVELS[level].runs)(`batches ${titleOf(level)}`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await open({ level, languages: LEVELS[level].languages });
    });
    afterAll(async () => sandbox.close());

    it('python: what asks for more memory than there is is told so', async () => {
      const { results } = await sandbox.run(
        job('python', "a = 1\nreturn {'many': len([0] * json['many'])}", [{ many: 9 }, { many: 1_000_000_000 }]),
      );
      expect(results[0]!.output).toEqual({ many: 9 });
      expect(results[1]!.error).toMatchObject({
        type: 'MemoryError',
        message: expect.stringMatching(/^The macro needs more memory/),
        line: 2,
      });
    });

    for (const language of LEVELS[level].languages) {
      it(`${language}: a bad item spoils no other`, async () => {
        const cases = [...Object.keys(EXPECTED), ...(language === 'r' ? ['frame'] : [])].filter(
          (name) => !(level === 'embedded' && language === 'python' && name === 'kill'),
        );
        const data = cases.flatMap((name, n) => [{ n }, { case: name }]);
        const { results } = await sandbox.run(job(language, MIXED[language], [...data, { n: 99 }], { itemTimeoutMs: 400 }));
        expect(results.map(({ id }) => id)).toEqual([...data, {}].map((_, index) => `item-${index}`));
        cases.forEach((name, n) => {
          expect(results[2 * n], `before ${name}`).toMatchObject({ success: true, output: { ok: n, leaked: false } });
          expect(results[2 * n + 1], name).toMatchObject(EXPECTED[name] ?? { success: false, error: { type: 'OutputError' } });
        });
        expect(results.at(-1)).toMatchObject({ success: true, output: { ok: 99 }, logs: [expect.stringMatching(/^case/)] });
      });

      it(`${language}: code that does not compile fails every item with its place, and check says the same`, async () => {
        const code = { python: 'x = 1\ny = (2 +\n', javascript: 'let x = 1;\nlet y = (2 + ;', r: 'x <- 1\ny <- (2 + }' }[language];
        const { results } = await sandbox.run(job(language, code, [1, 2]));
        expect(results).toMatchObject([{ success: false, error: { type: 'SyntaxError', line: 2 } }, { success: false }]);
        expect(await sandbox.check(language, code, 'anyone')).toMatchObject([{ line: 2, message: results[0]!.error!.message }]);
        expect(await sandbox.check(language, { python: 'return {}', javascript: 'return {}', r: 'list()' }[language], 'anyone')).toEqual(
          [],
        );
      });

      it(`${language}: errors name line and column of the macro's own text`, async () => {
        const code = {
          python: "a = 1\nb = json['missing']",
          javascript: 'const a = 1;\nnull.missing;',
          r: 'a <- 1\nb <- undefined_thing + 1',
        }[language];
        const { results } = await sandbox.run(job(language, code, [{}]));
        expect(results[0]!.error).toMatchObject({ line: 2, column: expect.any(Number) });
      });

      for (const count of MANY) {
        it(`${language}: ${count} items come back in order`, async () => {
          const code = { python: "return {'n': json + 1}", javascript: 'return { n: json + 1 }', r: 'list(n = json + 1)' }[language];
          const data = Array.from({ length: count }, (_, index) => index);
          const { results } = await sandbox.run(job(language, code, data));
          expect(results.map(({ output }) => output)).toEqual(data.map((n) => ({ n: n + 1 })));
        });
      }

      it(`${language}: the batch's own limit ends it, and what was done stays`, async () => {
        const code = {
          python: "if json['n'] > 0:\n  while True: pass\nreturn {'ok': 1}",
          javascript: 'if (json.n > 0) for (;;);\nreturn { ok: 1 };',
          r: 'if (json$n > 0) repeat {}\nlist(ok = 1)',
        }[language];
        const { results, durationMs } = await sandbox.run(
          job(language, code, [{ n: 0 }, { n: 1 }, { n: 0 }], { version: 'limit', timeoutMs: 1_000, itemTimeoutMs: 20_000 }),
        );
        expect(results.map(({ success }) => success)).toEqual([true, false, false]);
        expect(results[2]!.error).toMatchObject({ type: 'TimeoutError', message: expect.stringContaining('1 s') });
        expect(durationMs).toBeGreaterThan(900);
      });

      it(`${language}: the context can be read and not written`, async () => {
        const code = {
          python: "output['seen'] = ctx['leaf']['answer']\nctx['leaf'] = 1",
          javascript:
            "'use strict';\noutput.seen = ctx.leaf.answer;\nif (!Object.isFrozen(ctx.leaf)) throw new Error('not frozen');\nctx.leaf = 1;\nif (ctx.leaf !== 1) throw new TypeError('kept');",
          r: 'output$seen <- ctx$leaf$answer\nctx <<- 1',
        }[language];
        const items = [{ id: 'a', data: {}, context: { leaf: { answer: 'sun' } } }];
        const { results } = await sandbox.run(job(language, code, [], { items, version: 'context' }));
        expect(results[0]!.success).toBe(false);
      });
    }

    it('base64 code is decoded, other text runs as it is', async () => {
      const code = 'return { text: "größe" }';
      const { results } = await sandbox.run(job('javascript', Buffer.from(code).toString('base64'), [1]));
      expect(results[0]).toMatchObject({ output: { text: 'größe' } });
    });
  });
}

describe('the queue', () => {
  it('gives callers turns, refuses the one who waits too often, and lets go of who goes away', async () => {
    const sandbox = await open({ level: 'embedded', languages: ['javascript'], running: 1, waitingPerCaller: 3 });
    const order: string[] = [];
    const slow = 'const end = Date.now() + 60; while (Date.now() < end); return {}';
    const go = async (caller: string, signal?: AbortSignal) => {
      await sandbox.run(job('javascript', slow, [1], { caller, signal }));
      order.push(caller);
    };
    const leaving = new AbortController();
    const running = [go('greedy'), go('greedy'), go('greedy'), go('greedy'), go('modest')];
    await expect(go('greedy')).rejects.toMatchObject({ status: 429, code: 'MACRO_QUEUE_FULL', details: { retryAfter: 2 } });
    const gone = go('absent', leaving.signal);
    leaving.abort(new Error('went away'));
    await expect(gone).rejects.toThrow('went away');
    await Promise.all(running);
    expect(order).toEqual(['greedy', 'greedy', 'modest', 'greedy', 'greedy']);
    await sandbox.close();
  });

  it('never lets two callers or two versions share a process, and reuses one for the same caller and version', async () => {
    const sandbox = await open({ level: 'embedded', languages: ['python'], warm: 0 });
    const after = async (caller: string, version: string) => {
      await sandbox.run(job('python', "return {'n': json}", [1], { caller, version }));
      return sandbox.load().processes;
    };
    expect(await after('owner', 'v1')).toBe(1);
    expect(await after('owner', 'v1')).toBe(1);
    expect(await after('stranger', 'v1')).toBe(2);
    expect(await after('owner', 'v2')).toBe(3);
    expect(await after('owner', 'v1')).toBe(3);
    await sandbox.close();
    expect(sandbox.load().processes).toBe(0);
  });

  it('an aborted run ends its process', async () => {
    const sandbox = await open({ level: 'embedded', languages: ['javascript'], warm: 0 });
    const leaving = new AbortController();
    const run = sandbox.run(job('javascript', 'for (;;);', [1], { itemTimeoutMs: 20_000, signal: leaving.signal }));
    setTimeout(() => leaving.abort(new Error('went away')), 300);
    await expect(run).rejects.toThrow('went away');
    await sandbox.close();
  });
});
