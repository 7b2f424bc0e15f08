import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printError, splitBatches } from '../../src/api/macro-runs/running.ts';

test('an output is measured in bytes of UTF-8, at most a mebibyte with its braces', () => {
  const said = (text: string) => printError({ success: true, output: { text } });
  const around = '{"text":""}'.length;
  const fits = 'ü'.repeat((1_048_576 - around - 1) / 2);
  expect(said(fits)).toBeNull();
  expect(said(`${fits}aa`)).toBe('The output has 1048577 bytes; a table keeps 1048576 at most.');
  expect(said('a'.repeat(1_048_576 - around))).toBeNull();
});

test('batches keep the order of their items, and the bounds but for one that is larger by itself', () => {
  const items = fc.array(fc.record({ byteCount: fc.nat(50) }), { maxLength: 60 });
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 100 }), (given, most, bytes) => {
      const batches = splitBatches(given, { items: most, bytes });
      expect(batches.flat()).toEqual(given);
      for (const batch of batches) {
        expect(batch.length).toBeGreaterThan(0);
        expect(batch.length).toBeLessThanOrEqual(most);
        const total = batch.reduce((sum, { byteCount }) => sum + byteCount, 0);
        if (batch.length > 1) expect(total).toBeLessThanOrEqual(bytes);
      }
    }),
  );
});
