import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { isPlainLine, type Glanced } from '../../src/ingest/uploads/read/json-glance.ts';
import { LineWriter, NotPlain, classifyString } from '../../src/ingest/uploads/read/json-lines.ts';
import { BufferedFile } from '../../src/ingest/record-writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'fieldlake-glance-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const seed = Number(process.env['FC_SEED'] ?? Date.now() % 1_000_000);
const ROW = Buffer.from('000000000000');
let made = 0;

const plain = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    '',
    'ok',
    'ü "x"',
    'a\nb',
    'back\\slash',
    '\u0001',
    '2024-02-30',
    '2024-02-29',
    '0000-01-01',
    '2024-13-01',
  ),
  fc.constantFrom(
    '2024-05-06T07:08:09Z',
    '2024-05-06 07:08:09.123456Z',
    '2024-05-06T07:08',
    '2024-05-06T24:00:00Z',
    '2024-05-06T07:08:09.Z',
  ),
  fc.constantFrom(
    0,
    -0,
    2_147_483_647,
    2_147_483_648,
    -2_147_483_648,
    -2_147_483_649,
    9_007_199_254_740_991,
    1e21,
    1e-7,
    0.1,
    999_999_999_999_999,
  ),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ unit: 'binary' }),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);
const value = fc.oneof({ weight: 9, arbitrary: plain }, { weight: 1, arbitrary: fc.constantFrom<unknown>([1], { a: 1 }) });
const keys = fc.uniqueArray(fc.oneof(fc.constantFrom('a', 'b', 'sensor', 'ü', 'a"b'), fc.string({ minLength: 1 })), {
  minLength: 1,
  maxLength: 5,
  selector: (key) => key.toLowerCase(),
});
const SPACES = fc.constantFrom('', '', '', ' ', '  ', '\t');
/** Spellings of numbers that JSON takes or refuses. */
const NUMBERS = fc.constantFrom(
  '1.0',
  '-0.0',
  '01',
  '-',
  '1.',
  '.5',
  '+1',
  '1e5',
  '0.10',
  '123456789012345.5',
  '00',
  '-01',
  '1E2',
  '5 5',
  '0.1000000000000000055',
);
const record = (names: readonly string[]) =>
  fc
    .tuple(
      fc.array(fc.oneof({ weight: 6, arbitrary: value.map((each) => JSON.stringify(each)) }, { weight: 1, arbitrary: NUMBERS }), {
        minLength: names.length,
        maxLength: names.length,
      }),
      fc.array(fc.nat(12), { maxLength: names.length }),
      SPACES,
      SPACES,
    )
    .map(([values, skipped, before, after]) => {
      const parts = names.flatMap((name, at) =>
        skipped.includes(at) ? [] : [`${before}${JSON.stringify(name)}${after}:${before}${values[at] ?? 'null'}${after}`],
      );
      return `{${parts.join(',')}}`;
    });
const damaged = fc.tuple(fc.nat(), fc.constantFrom('', '"', ',', '}', '\\', 'x', '\u0002', ' ')).map(([at, by]) => ({ at, by }));
const file = keys.chain((names) =>
  fc.array(fc.tuple(record(names), fc.option(damaged, { freq: 4 })), { minLength: 1, maxLength: 8 }).map((records) =>
    records.map(([text, damage]) => {
      if (!damage) return text;
      const at = damage.at % (text.length + 1);
      return (text.slice(0, at) + damage.by + text.slice(at + 1)).toWellFormed();
    }),
  ),
);

/** What a writer says of every record, and what it knows in the end; `longWay` has it make values of each. */
async function looked(records: readonly string[], longWay: boolean) {
  const path = join(folder, String((made += 1)));
  const out = await BufferedFile.create(path);
  const writer = new LineWriter(out);
  const said: string[] = [];
  for (const text of records) {
    try {
      // a line break before it is white space, and no record of an export begins with one
      said.push(writer.write(ROW, Buffer.from(longWay ? `\n${text}` : text)) ?? 'written');
    } catch (error) {
      if (!(error instanceof NotPlain)) throw error;
      said.push('not plain');
      break;
    }
  }
  await out.close();
  const stats = writer.fields.map(({ key, classes, n, s, b, j, empty }) => ({ key, classes, n, s, b, j, empty }));
  return { said, stats, written: readFileSync(path, 'utf8').replaceAll(/[\t\n ]/g, '') };
}

test(`a glance says of every record what a closer look says (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(file, async (records) => {
      const [quick, long] = [await looked(records, false), await looked(records, true)];
      if (quick.said.at(-1) !== 'not plain') {
        expect(quick).toEqual(long);
        return;
      }
      // a glance may meet what has to be read the long way before it meets the end of what is no JSON
      const at = quick.said.length - 1;
      expect(quick.said.slice(0, at)).toEqual(long.said.slice(0, at));
      expect(['not plain', 'invalid_json']).toContain(long.said[at]);
    }),
    {
      seed,
      numRuns: Number(process.env['FC_RUNS'] ?? 250),
      examples: [[['{"a":1}', '{"a":"2024-05-06 07:08:09.123456Z,"b":1}', '{"a":2}']]],
    },
  );
});

test.each([
  ['of values', true],
  ['at a glance', false],
])('keys that hold escapes are told apart, whatever keys came before: %s', async (_, longWay) => {
  const keys = ['\\', '\n', '"', '\\nab', '\nabc', 'a\\', 'a\t'];
  const { said, stats } = await looked(
    keys.flatMap((key) => [JSON.stringify({ n: 1, [key]: 2 }), JSON.stringify({ n: 1, [key]: 3 })]),
    longWay,
  );
  expect(said).toEqual(Array(14).fill('written'));
  expect(stats.map(({ key, n }) => [key, n])).toEqual([['n', 14], ...keys.map((key) => [key, 2])]);
});

test('a glance takes the records of an export, and leaves others', () => {
  const found: Glanced = { count: 0, places: [], kinds: [], classes: [] };
  const known = ['at', 'par', 'note'].map((key) => ({ classes: key === 'note' ? 256 : 0, written: Buffer.from(JSON.stringify(key)) }));
  const sees = (text: string) => isPlainLine(Buffer.from(text), known, found, classifyString);
  expect(sees('{"at":"2024-05-06T07:08:09.123Z","par":1.25,"note":"a \\"b\\" ö"}')).toBe(true);
  expect(found.count).toBe(3);
  expect(sees('{"at": null, "note": "x"}')).toBe(true);
  expect(found).toMatchObject({ count: 1, places: [2, expect.anything(), expect.anything()] });
  for (const other of [
    '{"par":1,"at":"x"}',
    '{"par":[1]}',
    '{"par":1e5}',
    '{"new":1}',
    '{"note":"\\ud800"}',
    '{"par":1',
    '{"par":01}',
    '{}',
    '[1]',
    '{"par":1}x',
  ])
    expect(sees(other), other).toBe(false);
});
