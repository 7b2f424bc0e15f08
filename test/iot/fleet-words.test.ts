import { expect, test } from 'vitest';
import { devices } from '../../web/src/devices/words.ts';

test.each([
  ['0', 'nothing in a week'],
  ['1', '1 measurement in a week'],
  ['1,200', '1,200 measurements in a week'],
])('%s measurements of a week are counted in words', (count, sentence) => {
  expect(devices.week(count)).toBe(sentence);
});
