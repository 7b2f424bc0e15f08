import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quoteLargeIntegers, quoteLargeIntegersIn } from '../../src/lakehouse/terms/large-integers.ts';

const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000_000);
const quote = (json: string) => quoteLargeIntegers(Buffer.from(json)).toString();

test.each([
  ['9007199254740992', '9007199254740992'],
  ['9007199254740993', '"9007199254740993"'],
  ['-9007199254740992', '-9007199254740992'],
  ['-9007199254740993', '"-9007199254740993"'],
  ['[9007199254740993,-18446744073709551617]', '["9007199254740993","-18446744073709551617"]'],
  ['{"a":123456789012345678901234567890123456789012345}', '{"a":"123456789012345678901234567890123456789012345"}'],
  ['{"a": 9007199254740993 , "b":[ 1 ]}', '{"a": "9007199254740993" , "b":[ 1 ]}'],
  // fractions and exponents are doubles as they are written
  [
    '[9007199254740993.5,9007199254740993e0,1e300,0.12345678901234567]',
    '[9007199254740993.5,9007199254740993e0,1e300,0.12345678901234567]',
  ],
  // what stands in texts and names stays
  ['{"9007199254740993":"x,9007199254740993,"}', '{"9007199254740993":"x,9007199254740993,"}'],
  ['{"a":"\\"9007199254740993","b":"\\\\","c":9007199254740993}', '{"a":"\\"9007199254740993","b":"\\\\","c":"9007199254740993"}'],
  ['["\\\\\\"",9007199254740993]', '["\\\\\\"","9007199254740993"]'],
  ['[true,null,-1,1234567890123456]', '[true,null,-1,1234567890123456]'],
  ['', ''],
])('%s', (json, expected) => {
  expect(quote(json)).toBe(expected);
});

/** Characters that stand in numbers, texts and between them. */
const text = fc.string({ unit: fc.constantFrom('"', '\\', '9', '1', '-', '.', 'e', ',', '{', '\n', 'é', '😀'), maxLength: 60 });
const value = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    fc.constantFrom(2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 53n - 1n),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    text,
    fc.constantFrom(null, true, false),
    fc.array(tie('node'), { maxLength: 5 }),
    fc.dictionary(text, tie('node'), { maxKeys: 5 }),
  ),
})).node;

/** JSON text; with `safe` what the answer must say. Knows nothing of the code under test. */
const write = (node: unknown, safe: boolean): string => {
  if (typeof node === 'bigint') {
    const isLarge = node > 2n ** 53n || node < -(2n ** 53n);
    return safe && isLarge ? `"${String(node)}"` : String(node);
  }
  if (Array.isArray(node)) return `[${node.map((each) => write(each, safe)).join(',')}]`;
  if (typeof node !== 'object' || node === null) {
    const made = JSON.stringify(node);
    // as engines do, a double of this size is never written as a whole number
    return typeof node === 'number' && /^-?\d{16,}$/.test(made) ? `${made}.0` : made;
  }
  return `{${Object.entries(node)
    .map(([key, each]) => `${JSON.stringify(key)}:${write(each, safe)}`)
    .join(',')}}`;
};

test('documents of any kind, in lines that are cut anywhere', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(value, { maxLength: 5 }),
      fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 20 }),
      async (nodes, sizes) => {
        const lines = Buffer.from(nodes.map((node) => `${write(node, false)}\n`).join(''));
        const expected = nodes.map((node) => `${write(node, true)}\n`).join('');
        expect(quoteLargeIntegers(lines).toString()).toBe(expected);
        const chunks: Buffer[] = [];
        for (let at = 0, next = 0; at < lines.length; next += 1) {
          const size = 1 + (sizes[next % sizes.length] ?? 0);
          chunks.push(lines.subarray(at, at + size));
          at += size;
        }
        const passed = await buffer(quoteLargeIntegersIn(Readable.from(chunks, { objectMode: false })));
        expect(passed.toString()).toBe(expected);
      },
    ),
    { seed, numRuns: 500 },
  );
});

test('a source that fails is no end, and what is given up is given up', async () => {
  const failing = Readable.from(
    (function* () {
      yield Buffer.from('{"a":9007199254740993}\n');
      throw new Error('the engine failed');
    })(),
    { objectMode: false },
  );
  await expect(buffer(quoteLargeIntegersIn(failing))).rejects.toThrow('the engine failed');
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.from('{"a":9007199254740993}\n');
    })(),
    { objectMode: false },
  );
  for await (const chunk of quoteLargeIntegersIn(endless)) {
    expect(String(chunk)).toBe('{"a":"9007199254740993"}\n');
    break;
  }
  await expect.poll(() => endless.destroyed).toBe(true);
});

test('a text of quotes and backslashes takes no longer than it is long', () => {
  const start = performance.now();
  const json = JSON.stringify({ a: '"\\'.repeat(1_000_000), b: 1 }).replace('"b":1', '"b":9007199254740993');
  expect(quote(json)).toBe(json.replace('9007199254740993', '"9007199254740993"'));
  expect(performance.now() - start).toBeLessThan(5_000);
});
