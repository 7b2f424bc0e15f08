import { totalmem } from 'node:os';
import { expect, test } from 'vitest';
import { measureMemory } from '../src/memory.ts';

test('memory is that of the machine, or of a container that has less', () => {
  // without a limit Node says nothing, or a number that no machine has
  expect([measureMemory(0), measureMemory(2 ** 64)]).toEqual([totalmem(), totalmem()]);
  expect(measureMemory(2 ** 28)).toBe(2 ** 28);
  expect(measureMemory()).toBeLessThanOrEqual(totalmem());
});
