import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { job, open } from './machine.ts';

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
