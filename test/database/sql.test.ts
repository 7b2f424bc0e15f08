import { expect, test } from 'vitest';
import { constant, sql } from '../../src/database/sql.ts';

test('a constant stands in the text, and is a whole number', () => {
  expect(sql('some')`select from resources limit ${constant(100)} offset ${20}`).toMatchObject({
    text: 'select from resources limit 100 offset $1',
    values: [20],
  });
  for (const other of [1.5, NaN, Infinity, 2 ** 53, '1; drop table resources' as unknown as number])
    expect(() => constant(other)).toThrow('not a whole number');
});
