import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { job, open } from './machine.ts';

const ALL = process.env.SOAK === '1';

describe('what JavaScript has', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await open({ level: 'embedded', languages: ['javascript'] });
  });
  afterAll(async () => sandbox.close());

  const output = async (code: string, clock?: number) => {
    const { results } = await sandbox.run(job('javascript', code, [{}], { version: code, clock }));
    expect(results[0]!.error).toBeUndefined();
    return results[0]!.output;
  };

  it('a clock that can be fixed', async () => {
    const code =
      'return { now: Date.now(), made: new Date(), given: new Date(5), text: Date(), is: new Date() instanceof Date, by: new Date().constructor === Date };';
    const noon = Date.UTC(2024, 5, 1, 12);
    expect(await output(code, noon)).toMatchObject({
      now: noon,
      made: '2024-06-01T12:00:00.000Z',
      given: '1970-01-01T00:00:00.005Z',
      is: true,
      by: true,
    });
    expect(Math.abs(Number((await output(code))!.now) - Date.now())).toBeLessThan(10_000);
  });

  it('checks of code by turns: who asks for one waits for one of whoever asked for eight, and nobody has more waiting', async () => {
    const done: string[] = [];
    const check = async (caller: string) => {
      await sandbox.check('javascript', 'return { a: 1 };', caller);
      done.push(caller);
    };
    const greedy = Array.from({ length: 9 }, async () => check('greedy'));
    await expect(check('greedy')).rejects.toMatchObject({ code: 'MACRO_QUEUE_FULL' });
    await Promise.all([...greedy, check('modest')]);
    expect(done.indexOf('modest')).toBe(2);
    expect(done).toHaveLength(10);
  });

  it('a word for brackets that do not match, at the end of the text', async () => {
    const fail = async (code: string) => (await sandbox.run(job('javascript', code, [{}], { version: code }))).results[0]!.error;
    const message = 'the brackets of the macro do not match: one is not closed, or is closed twice';
    for (const code of ['if (true) {\nreturn { a: 1 };', 'const x = 1;\nreturn f(x, ', 'if (true) {\n}\n}'])
      expect(await fail(code)).toEqual({
        ...{ type: 'SyntaxError', message },
        ...{ line: code.split('\n').length, column: code.split('\n').at(-1)!.length + 1 },
      });
    expect(await sandbox.check('javascript', 'if (true) {\nreturn { a: 1 };', 'anyone')).toEqual([{ line: 2, column: 17, message }]);
    expect(await fail('const x = ;\nreturn { x };')).toMatchObject({ line: 1, message: expect.stringContaining('unexpected token') });
    for (const open of ['return `a', 'return "a', '/* a', 'return /a']) {
      const error = await fail(open);
      expect(error).toMatchObject({ type: 'SyntaxError', line: 1 });
      expect(error!.message).not.toBe(message);
    }
  });

  it('items that need too much memory, and others between them that succeed', async () => {
    const code = `if (json.greedy) { const all = []; for (;;) all.push(new Uint8Array(1048576).fill(1)); } output.fine = true;`;
    const data = Array.from({ length: ALL ? 16 : 8 }, (_, index) => ({ greedy: index % 2 === 0 }));
    const { results } = await sandbox.run(job('javascript', code, data, { itemTimeoutMs: 60_000, timeoutMs: 110_000 }));
    expect(results.map(({ error, output: made }) => error?.type ?? made)).toEqual(
      data.map(({ greedy }) => (greedy ? 'MemoryError' : { fine: true })),
    );
  });

  it('Intl over the real one', async () => {
    const code = `const when = new Date(Date.UTC(2024, 5, 1, 12));
      return {
        number: new Intl.NumberFormat('de-DE').format(1234.5), date: new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'Europe/Amsterdam' }).format(when),
        parts: new Intl.NumberFormat('en').formatToParts(1.5).map((part) => part.type), plural: new Intl.PluralRules('en').select(1),
        sorted: ['z', 'ä', 'a'].sort(new Intl.Collator('de').compare), local: (1234.5).toLocaleString('nl'), day: when.toLocaleDateString('en-US'),
        compared: 'a'.localeCompare('b'), list: new Intl.ListFormat('en').format(['a', 'b']),
      };`;
    expect(await output(code)).toEqual({
      number: '1.234,5',
      date: '1 June 2024',
      parts: ['integer', 'decimal', 'fraction'],
      plural: 'one',
      sorted: ['a', 'ä', 'z'],
      local: '1.234,5',
      day: '6/1/24',
      compared: -1,
      list: 'a and b',
    });
  });

  it('no timers, no modules, no code out of text, no host', async () => {
    const names = [
      'setTimeout',
      'setInterval',
      'queueMicrotask',
      'require',
      'process',
      'eval',
      'Function',
      'globalThis',
      'fetch',
      'WebAssembly',
      'SharedArrayBuffer',
    ];
    expect(await output(`return { ${names.map((name) => `${name}: typeof ${name}`).join(', ')} };`)).toEqual(
      Object.fromEntries(names.map((name) => [name, 'undefined'])),
    );
  });

  it('a fresh engine for every item, whatever the one before did to its own', async () => {
    const code = `const before = {
        leaked: typeof leaked, prototype: [1].map === Array.prototype.map && [2].map((n) => n + 1)[0], math: Math.max(1, 2), random: typeof Math.random(),
        text: 'a'.toLocaleString?.name, deleted: typeof Map, counted: new Map([[1, 2]]).size, number: (1234.5).toLocaleString('en'), frozen: Object.isFrozen(Object.prototype),
      };
      leaked = 1;
      if (json.n % 3 === 1 && json.n !== 7) { Array.prototype.map = () => [0]; Math.max = () => 9; Math.random = 1; Object.freeze(Object.prototype); Intl = null; Map = null; }
      if (json.n % 3 === 2) { const held = []; for (let n = 0; n < json.n * 2000; n += 1) held.push({ n, text: 'x'.repeat(n % 100) }); leaked = held; }
      if (json.n === 7) { const late = () => { Promise.resolve().then(late); }; late(); }
      return before;`;
    const data = Array.from({ length: ALL ? 60 : 15 }, (_, n) => ({ n }));
    const { results } = await sandbox.run(job('javascript', code, data, { version: 'fresh', itemTimeoutMs: 1_500 }));
    const fine = results.filter(({ success }) => success);
    // what it broke is missing to itself
    expect(results.flatMap(({ success }, n) => (success ? [] : [n]))).toEqual(data.map(({ n }) => n).filter((n) => n % 3 === 1));
    expect(results[7]!.error?.type).toBe('TimeoutError');
    for (const { output: seen } of fine)
      expect(seen).toEqual({
        leaked: 'undefined',
        prototype: 3,
        math: 2,
        random: 'number',
        text: 'toLocaleString',
        deleted: 'function',
        counted: 1,
        number: '1,234.5',
        frozen: false,
      });
  });

  it('random numbers, other ones for each item', async () => {
    const code = 'return { first: Math.random(), many: Array.from({ length: 2000 }, () => Math.random()) };';
    const { results } = await sandbox.run(job('javascript', code, Array(20).fill({}), { version: 'random' }));
    const drawn = results.map(({ output: seen }) => seen as { first: number; many: number[] });
    expect(new Set(drawn.map(({ first }) => first)).size).toBe(20);
    const all = drawn.flatMap(({ many }) => many);
    expect(all.every((number) => number >= 0 && number < 1)).toBe(true);
    // the mean of 40,000 lies within five of its standard deviations
    expect(Math.abs(all.reduce((sum, number) => sum + number, 0) / all.length - 0.5)).toBeLessThan(5 * Math.sqrt(1 / 12 / all.length));
  });

  it('promises that settle, and prints as logs', async () => {
    expect(await output('return Promise.resolve(1).then((one) => ({ one }));')).toEqual({ one: 1 });
    const { results } = await sandbox.run(job('javascript', "console.log('a', { b: 1 }, [2]); console.warn(3); return {};", [{}]));
    expect(results[0]!.logs).toEqual(['a {"b":1} [2]', '3']);
  });

  it('values that JSON lacks', async () => {
    const code =
      'const c = {}; return { nan: NaN, inf: -1 / 0, big: 12n, huge: 2n ** 70n, set: new Set([1]), map: new Map([["a", 1]]), typed: new Float32Array([1, NaN]), date: new Date(0), none: undefined, f: () => 1 };';
    expect(await output(code)).toEqual({
      nan: null,
      inf: null,
      big: 12,
      huge: '1180591620717411303424',
      set: [1],
      map: { a: 1 },
      typed: [1, null],
      date: '1970-01-01T00:00:00.000Z',
    });
    const { results } = await sandbox.run(job('javascript', 'const a = {}; a.a = a; return a;', [{}]));
    expect(results[0]!.error).toMatchObject({ type: 'OutputError', message: expect.stringContaining('refers to itself') });
  });
});
