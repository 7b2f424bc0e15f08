import { expect, test } from 'vitest';
import { changesListed, findChanges } from '../support/console-changes.ts';

test('every change that the console sends is refused by a test, or says why not', () => {
  const { names, calls } = findChanges();
  // one that is written otherwise would have no name
  expect(names).toHaveLength(calls);
  expect(new Set(names).size).toBe(calls);
  expect(calls).toBeGreaterThan(100);
  const listed = changesListed();
  expect(Object.keys(listed).sort()).toEqual(names.sort());
  for (const [name, way] of Object.entries(listed)) expect(typeof way === 'string' ? way : way.at, name).toMatch(/\w/);
});
