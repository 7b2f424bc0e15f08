import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { job, open } from './machine.ts';

describe('what all items of a batch answer together', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await open({ level: 'embedded', languages: ['javascript'] });
  });
  afterAll(async () => sandbox.close());
  const code = "return { text: 'x'.repeat(json) }";

  it('is cut off at 64 MB, so that no caller fills the memory of the service', async () => {
    const { results, outputBytes } = await sandbox.run(
      job(
        'javascript',
        code,
        Array.from({ length: 12 }, () => 9_000_000),
        // the second that other tests give an item is short for 9 MB on a loaded machine
        { itemTimeoutMs: 20_000 },
      ),
    );
    expect(results.map(({ success, unfinished }) => [success, unfinished])).toEqual([
      ...Array.from({ length: 8 }, () => [true, undefined]),
      ...Array.from({ length: 4 }, () => [false, true]),
    ]);
    expect(results.at(-1)?.error).toEqual({
      type: 'OutputError',
      message: 'The outputs of the batch reached their limit before this item was run.',
    });
    expect(outputBytes).toBeGreaterThan(72_000_000);
    expect(outputBytes).toBeLessThan(72_100_000);
  });

  it('holds no more of what was printed than may be, also where the macro has got hold of what keeps it', async () => {
    const plain = await sandbox.run(job('javascript', "for (let n = 0; n < 700; n += 1) console.log('x'.repeat(99)); return {}", [1]));
    expect(plain.results[0]?.logs).toHaveLength(641);
    const caught = `let kept;
      Object.defineProperty(Array.prototype, '0', { set(value) { kept = this; }, configurable: true });
      console.log('x');
      delete Array.prototype[0];
      for (let n = 0; n < 9; n += 1) kept[n] = 'y'.repeat(60_000);
      return { kept: kept.length };`;
    const { results } = await sandbox.run(job('javascript', caught, [1], { itemTimeoutMs: 20_000 }));
    expect(results).toMatchObject([{ success: true, output: { kept: 9 }, logs: ['y'.repeat(60_000)] }]);
  });

  it('may be less, and what is printed counts', async () => {
    const small = await sandbox.run(job('javascript', 'return {}', [1, 2, 3], { outputBytes: 1_000 }));
    expect(small.results.map(({ success }) => success)).toEqual([true, true, true]);
    const printed = await sandbox.run(job('javascript', "console.log('x'.repeat(2000)); return {}", [1, 2, 3], { outputBytes: 1_000 }));
    expect(printed.results.map(({ success }) => success)).toEqual([true, false, false]);
    const none = await sandbox.run(job('javascript', 'return {}', [1], { outputBytes: 0 }));
    expect(none.results).toMatchObject([{ success: false, unfinished: true }]);
  });
});
