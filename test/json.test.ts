import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { isHeldByDouble, readExactJson, readFullJson, readJson, readLongJson, printLongNumbers } from '../src/json.ts';
import { seedRandomTests } from './support/random.ts';

beforeAll(seedRandomTests);

/** Texts that are read one after the other, and what the last one of each says. */
const HISTORIES: readonly { texts: readonly string[]; says: [string, unknown][] }[] = [
  { texts: ['[{"n":1,"\\\\":1}]', '{"n":1,"\\n":2}'], says: [['n', 1], ['\n', 2]] }, // prettier-ignore
  { texts: ['{"q":1,"\\\\":1}', '{"q":1,"\\u00b5":2}'], says: [['q', 1], ['µ', 2]] }, // prettier-ignore
  { texts: ['{"d":1,"\\\\":1}', '{"d":1,"\\"":2}'], says: [['d', 1], ['"', 2]] }, // prettier-ignore
  // the escape need not come first, and the key need not be short
  { texts: ['{"t":1,"a\\\\":1}', '{"t":1,"a\\n":2}'], says: [['t', 1], ['a\n', 2]] }, // prettier-ignore
  { texts: ['{"u":1,"\\\\nab":1}', '{"u":1,"\\nabc":2}'], says: [['u', 1], ['\nabc', 2]] }, // prettier-ignore
  { texts: ['[{"z":1,"\\\\":1},{"z":1,"b":1}]', '{"z":1,"\\t" : 2}'], says: [['z', 1], ['\t', 2]] }, // prettier-ignore
];

/** A JSON value as it is made, so that what its text says is known without reading it. */
type Made = { literal: string; value: unknown } | { list: Made[] } | { members: [string, Made][] };

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\b': '\\b', '\f': '\\f', '\r': '\\r', '/': '\\/' };
const hex = (code: string) => `\\u${code.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** One of the ways in which JSON can write a text. */
function written(text: string, way: () => number): string {
  const one = (unit: string) => {
    const must = unit === '"' || unit === '\\' || unit < ' ';
    const chosen = way() % 4;
    if (unit === '"' || unit === '\\') return chosen === 0 ? hex(unit) : `\\${unit}`;
    if (chosen === 0) return hex(unit);
    return (must || chosen === 1) && unit in SHORT ? SHORT[unit]! : must ? hex(unit) : unit;
  };
  return `"${text.split('').map(one).join('')}"`;
}

function textOf(made: Made, way: () => number): string {
  const gap = () => ['', '', '', ' ', '\n\t'][way() % 5]!;
  if ('literal' in made) return typeof made.value === 'string' ? written(made.value, way) : made.literal;
  const [open, close, parts] =
    'list' in made
      ? ['[', ']', made.list.map((each) => textOf(each, way))]
      : ['{', '}', made.members.map(([key, each]) => `${written(key, way)}${gap()}:${gap()}${textOf(each, way)}`)];
  return `${gap()}${open}${gap()}${parts.join(`${gap()},${gap()}`)}${gap()}${close}${gap()}`;
}

function valueOf(made: Made): unknown {
  if ('literal' in made) return made.value;
  if ('list' in made) return made.list.map(valueOf);
  const object = {};
  for (const [key, each] of made.members)
    Object.defineProperty(object, key, { value: valueOf(each), writable: true, enumerable: true, configurable: true });
  return object;
}

/** The text once for every key that holds an escape, with the key instead that the engine takes for it: as much of its own text as it has characters. */
function* traps(text: string): Generator<string> {
  for (const { 0: found, 1: inside = '', 2: colon = '', index } of text.matchAll(/"((?:[^"\\]|\\.)*)"(\s*:?)/g)) {
    if (!colon.endsWith(':') || !inside.includes('\\')) continue;
    const { length } = JSON.parse(`"${inside}"`) as string;
    yield `${text.slice(0, index)}${JSON.stringify(inside.slice(0, length))}${colon}${text.slice(index + found.length)}`;
  }
}

const letters = fc.constantFrom(
  '\\',
  '\\',
  '\\',
  'n',
  'u',
  '0',
  'a',
  '"',
  '\n',
  '\t',
  '/',
  ':',
  'µ',
  '漢',
  '\ud800',
  '\0',
  ' ',
  ',',
  '{',
  ']',
);
// few keys, so that the objects of one run are like each other
const keys = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: letters, maxLength: 4 }) },
  { weight: 2, arbitrary: fc.constantFrom('a', 'n', 'b', '7', '__proto__', 'constructor', '') },
);
const scalars = fc.oneof(
  fc
    .constantFrom('0', '-0', '1.0', '-12.5e3', '1E400', 'true', 'false', 'null')
    .map((literal) => ({ literal, value: JSON.parse(literal) as unknown })),
  fc.integer().map((value) => ({ literal: String(value), value: value })),
  fc.string({ unit: letters, maxLength: 6 }).map((value) => ({ literal: '', value: value })),
);
const { tree } = fc.letrec<{ tree: Made }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalars,
    fc.array(fc.tuple(keys, tie('tree')), { maxLength: 4 }).map((members) => ({ members })),
    fc.array(tie('tree'), { maxLength: 3 }).map((list) => ({ list })),
  ),
}));

describe('reading JSON', () => {
  test('a key that holds an escape is not read as another that was read before', () => {
    for (const { texts, says } of HISTORIES) {
      for (const text of texts) {
        JSON.parse(text);
        readJson(text);
      }
      expect(Object.entries(readJson(texts.at(-1)!) as object), texts.join(' then ')).toEqual(says);
      expect(Object.entries(readJson(texts.at(-1)!, (value) => value) as object)).toEqual(says);
      expect(Object.entries(readExactJson(texts.at(-1)!) as object)).toEqual(says);
    }
  });

  test("the engine's own parser still misreads them: when this fails, readJson is no longer needed", () => {
    const right = HISTORIES.filter(({ texts, says }) => {
      for (const text of texts) JSON.parse(text);
      return JSON.stringify(Object.entries(JSON.parse(texts.at(-1)!) as object)) === JSON.stringify(says);
    });
    // what this process has read before lets it read some of them right
    expect(right.length).toBeLessThan(HISTORIES.length);
  });

  test('what a text says does not depend on what was read before it', () => {
    let misread = 0;
    fc.assert(
      fc.property(fc.array(tree, { minLength: 1, maxLength: 12 }), fc.infiniteStream(fc.nat(59)), (documents, stream) => {
        const way = () => stream.next().value as number;
        for (const made of documents) {
          const text = textOf(made, way);
          const says = JSON.stringify(valueOf(made));
          for (const trap of traps(text)) JSON.parse(trap);
          if (JSON.stringify(JSON.parse(text)) !== says) misread += 1;
          expect(JSON.stringify(readJson(text)), text).toBe(says);
          expect(JSON.stringify(readJson(text, (value) => value)), text).toBe(says);
        }
      }),
      { numRuns: Number(process.env['FC_RUNS'] ?? 1_000) },
    );
    console.log(`The engine's own parser misread ${misread} of these texts.`);
  });

  test('the engine misreads no text whose keys hold no escape', () => {
    const plain = letters.filter((letter) => !/["\\\n\t\0]/.test(letter));
    fc.assert(
      fc.property(
        fc.array(
          fc.array(fc.tuple(fc.string({ unit: fc.oneof(plain, fc.constantFrom('n', 'u')), maxLength: 4 }), scalars), { maxLength: 5 }),
          { maxLength: 12 },
        ),
        (documents) => {
          for (const members of documents) {
            // a neighbour in whose keys every kind of escape stands
            JSON.parse(`{"n":1,"\\\\":1,"\\\\n${members[0]?.[0].replaceAll(/[\ud800]/g, '') ?? ''}":2}`);
            const text = `{${members.map(([key, made]) => `"${key}":${textOf(made, () => 2)}`).join(',')}}`;
            expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(valueOf({ members })));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a text is JSON where the engine says that it is', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', ',', ':', '"\\n"', '"a"', '"\\\\":', '"a\\', '\\"', '1', '-', '1.0', 'true', 'nul', ' ', '\u00a0', '\\u00', '{"\\n":1}', '"', '\n'); // prettier-ignore
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        let refused: unknown;
        try {
          JSON.parse(text);
        } catch (error) {
          refused = error;
        }
        if (refused instanceof SyntaxError) expect(() => readJson(text)).toThrow(refused.message);
        else readJson(text);
      }),
      { numRuns: 5_000 },
    );
    for (const bad of ['', '{"\\n":1', '{"\\n":1}}', '{"\\n" 1}', '["\\n":1]', '{"\\x":1}'])
      expect(() => readJson(bad)).toThrow(SyntaxError);
  });

  test('keys that say the same are one, wherever an escape stands; order and prototype are those of JSON', () => {
    expect(JSON.stringify(readJson('{"b\\n":1,"\\u0062\\u000a":2,"7":3,"\\u0031":4,"a":5}'))).toBe('{"1":4,"7":3,"b\\n":2,"a":5}');
    const read = readJson('{"__proto__":{"x":1},"\\n":2}') as object;
    expect(Object.keys(read)).toEqual(['__proto__', '\n']);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect('x' in read).toBe(false);
  });

  test('a text may nest as deep as it likes', () => {
    const deep = 100_000;
    let inner = readJson(`${'['.repeat(deep)}{"\\n":1}${']'.repeat(deep)}`);
    for (let level = 0; level < deep; level += 1) [inner] = inner as [unknown];
    expect(inner).toEqual({ '\n': 1 });
  });

  test('numbers keep their digits beside such keys, and are handed out with their text', () => {
    const text = '{"a":1.0,"b\\n":[12345678901234567890,-0,1e2,5],"c":"1.0"}';
    expect(JSON.stringify(readExactJson(text))).toBe(text);
    expect(JSON.stringify(readExactJson(text.replace('\\n', '')))).toBe(text.replace('\\n', ''));
    expect(readJson(text, (_value, source) => source)).toEqual({ a: '1.0', 'b\n': ['12345678901234567890', '-0', '1e2', '5'], c: '1.0' });
  });
});

describe('long numbers', () => {
  const digits = fc.string({ unit: fc.integer({ min: 0, max: 9 }).map(String), minLength: 1, maxLength: 40 });
  const fraction = fc.option(digits, { nil: undefined });
  const number = fc
    .tuple(fc.constantFrom('', '-'), digits, fraction)
    .map(([sign, whole, part]) => `${sign}${whole.replace(/^0+(?=\d)/, '')}${part === undefined ? '' : `.${part}`}`);
  /** As many digits as were written, of the number whose text it is. */
  const valueOfText = (text: string): [bigint, number] => [BigInt(text.replace('.', '')), text.split('.')[1]?.length ?? 0];

  test('are printed as they were written, or a double holds them', async () => {
    await fc.assert(
      fc.asyncProperty(number, async (text) => {
        const body = `{"a":[${text}, ${text}],"b":"${text}"}`;
        const read = readFullJson(body) as { a: unknown[]; b: string };
        expect(await readLongJson(body)).toEqual(read);
        expect(read.b).toBe(text);
        for (const value of read.a) {
          if (JSON.isRawJSON(value)) expect(value.rawJSON).toBe(text);
          else if (text.includes('.')) expect(Math.abs(Number(text) - Number(value))).toBe(0);
          else expect(BigInt(JSON.stringify(value).replace('-0', '0'))).toBe(BigInt(text));
        }
        const [textual] = (printLongNumbers(readFullJson(body)) as { a: unknown[] }).a;
        expect(textual).toEqual(JSON.isRawJSON(read.a[0]) ? text : read.a[0]);
      }),
      { numRuns: 3_000 },
    );
  });

  test('a double holds a number that it would give back, and no other of more than 17 digits', () => {
    fc.assert(
      fc.property(number, (text) => {
        const [units, scale] = valueOfText(text);
        const value = Number(text);
        const isExact =
          scale === 0 ? BigInt(value) === units : Math.abs(value) < 1e20 && valueOfText(value.toFixed(Math.min(scale, 60)))[0] === units;
        const count = units.toString().replace(/^-/, '').replace(/0+$/, '').length;
        if (count < 16 || isExact) expect(isHeldByDouble(text)).toBe(true);
        else if (count > 17 && !text.endsWith('0')) expect(isHeldByDouble(text)).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });

  test('a number of a million digits keeps them', () => {
    for (const text of [`0.${'0'.repeat(1e6)}${'1'.repeat(20)}`, `1${'0'.repeat(1e6)}.5`, '7'.repeat(1e6)])
      expect(readFullJson(`{"n":${text}}`)).toEqual({ n: JSON.rawJSON(text) });
  });

  test('what JavaScript prints stays a number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(readFullJson(`[${JSON.stringify(value)}]`)).toEqual([value === 0 ? 0 : value]);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    '9007199254740993',
    '-9223372036854775808',
    '12345678901234567890',
    '0.1234567890123456789',
    '1234567890.123456789012',
    '1.00000000000000000001e5',
  ])('%s keeps its digits', (text) => {
    expect(readFullJson(`{"n":${text}}`)).toEqual({ n: JSON.rawJSON(text) });
  });

  test.each([
    '9007199254740992',
    '10000000000000000',
    '0.10000000000000001',
    '0.1000000000000000055511151231257827',
    '1.7976931348623157e308',
    '1e400',
  ])('%s is the number that a double holds', (text) => {
    expect(readFullJson(`{"n":${text}}`)).toEqual({ n: Number(text) });
  });
});
