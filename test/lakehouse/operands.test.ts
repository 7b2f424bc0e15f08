import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BIGINT, DOUBLE, INT, makeDecimal } from '../../src/lakehouse/terms/catalog.ts';
import type { ColumnType } from '../../src/lakehouse/terms/catalog.ts';
import { readOperand } from '../../src/lakehouse/ask/operands.ts';
import { planRead } from '../../src/lakehouse/plan/planner.ts';
import { parseFilters, readRequest, type Operand } from '../../src/lakehouse/ask/request.ts';
import { source } from './support.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);
const place = (given: Operand, type: ColumnType) => {
  if (type.kind === 'variant' || type.kind === 'struct' || type.kind === 'array') throw new Error(type.kind);
  const found = readOperand(given, { ...type, kind: type.kind } as Parameters<typeof readOperand>[1]);
  if ('expects' in found) throw new Error(found.expects);
  return { value: found.value && String(found.value.value), type: found.value?.type, exact: found.exact };
};

test.each([
  ['2', INT, '2', true],
  ['2.5', INT, '2', false],
  ['-2.5', INT, '-3', false],
  ['2147483648', INT, '2147483647', false],
  ['-2147483649', INT, null, false],
  ['9223372036854775808', BIGINT, '9223372036854775807', false],
  ['-9223372036854775808', BIGINT, '-9223372036854775808', true],
  ['1.25e1', makeDecimal(12, 3), '12.500', true],
  ['14.6405', makeDecimal(12, 3), '14.640', false],
  ['-0.0001', makeDecimal(12, 3), '-0.001', false],
  ['1e9', makeDecimal(12, 3), '999999999.999', false],
  ['99999999999999999999999999999999999999', makeDecimal(38, 0), '99999999999999999999999999999999999999', true],
] as const)('%s among the values of %o', (given, type, value, exact) => {
  expect(place(given, type)).toStrictEqual({ value, type: value === null ? undefined : type, exact });
});

test.each([
  [2 ** 53 - 1, BIGINT, true],
  [-(2 ** 53) + 1, makeDecimal(38, 2), true],
  // 2^53 + 1 is read as this number too
  [2 ** 53, BIGINT, false],
  [-(2 ** 53), makeDecimal(38, 2), false],
  [2n ** 53n + 1n, BIGINT, true],
  ['9007199254740993', BIGINT, true],
  ['9007199254740993', makeDecimal(38, 2), true],
  // every value of the column is less, whatever was sent
  [1e20, BIGINT, true],
  [2 ** 53, INT, true],
])('%s, which may have been rounded, among the values of %o', (given, type, isRead) => {
  expect('expects' in readOperand(given, type as Parameters<typeof readOperand>[1])).toBe(!isRead);
});

const units = (text: string, scale: number) => {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const size = BigInt(whole + fraction.padEnd(scale, '0'));
  return text.startsWith('-') ? -size : size;
};

test('the value is the greatest that is not above what was sent', () => {
  console.log(`operands: FC_SEED=${seed}`);
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
      fc.integer({ min: 0, max: 12 }),
      fc.integer({ min: 1, max: 38 }),
      fc.integer({ min: 0, max: 12 }),
      (digits, scale, precision, columnScale) => {
        fc.pre(columnScale <= precision);
        const text = `${digits < 0n ? '-' : ''}${String(digits < 0n ? -digits : digits)}e-${scale}`;
        const { value, exact } = place(text, makeDecimal(precision, columnScale));
        const [sent, one] = [digits * 10n ** 12n, 10n ** BigInt(scale + 12 - columnScale)];
        const at = (found: bigint) => found * 10n ** BigInt(scale + 12 - columnScale);
        const most = 10n ** BigInt(precision) - 1n;
        if (value === null) return sent < at(-most);
        const found = units(value, columnScale);
        return exact ? at(found) === sent : at(found) < sent && (found === most || at(found) + one > sent);
      },
    ),
    { seed, numRuns: 2000 },
  );
});

test('a filter on what no cell can be is decided without the engine', () => {
  const where = (operator: string, value: unknown) => {
    const plan = planRead(
      source([]),
      readRequest({ columns: 'id', filters: JSON.stringify([{ column: 'int', operator, value }]) }),
      10,
    ).count;
    return plan.kind === 'group' && plan.from.kind === 'filter' ? plan.from.where : null;
  };
  const always = (value: boolean) => ({ kind: 'value', value, type: { kind: 'boolean' } });
  expect(where('equals', 2.5)).toMatchObject(always(false));
  expect(where('not_equals', 2.5)).toMatchObject(always(true));
  expect(where('in', [2.5, 1e12])).toMatchObject(always(false));
  expect(where('not_in', [2.5])).toMatchObject(always(true));
  expect(where('in', [2.5, 3])).toMatchObject({ kind: 'in', values: [{ value: 3 }] });
  expect(where('less_than', -1e12)).toMatchObject(always(false));
  expect(where('greater_than', -1e12)).toMatchObject({ kind: 'missing', negated: true });
  expect(where('less_than', 2.5)).toMatchObject({ how: 'at_most', right: { value: 2 } });
  expect(where('greater_than_or_equal', 2.5)).toMatchObject({ how: 'greater', right: { value: 2 } });
});

test('a long text of digits that is no number is told so, in time that grows as its length does', () => {
  expect(readOperand(`${'1'.repeat(2_000_000)}x`, DOUBLE as Parameters<typeof readOperand>[1])).toEqual({ expects: 'a number' });
});

test.each([
  ['1234567890123456.78', makeDecimal(20, 2), '1234567890123456.78', true],
  ['0.10000000000000001', makeDecimal(20, 2), '0.10', false],
  ['0.1000', makeDecimal(20, 2), '0.10', true],
  ['9007199254740993.0', BIGINT, '9007199254740993', true],
  ['1e-400', INT, '0', false],
  ['1e400', BIGINT, '9223372036854775807', false],
  ['9007199254740993.0', DOUBLE, '9007199254740992', true],
] as const)('%s in the JSON of a filter, among the values of %o', (number, type, value, exact) => {
  const [filter] = parseFilters(`[{"column": "c", "operator": "equals", "value": ${number}}]`);
  expect(place(filter?.value as Operand, type)).toMatchObject({ value, exact });
});
