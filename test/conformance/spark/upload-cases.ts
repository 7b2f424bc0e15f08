/** Files that two engines are to make the same tables of: the fixtures, what the tests of ingestion send, and files drawn at random. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { random, type Random } from '../../lakehouse/oracle/data.ts';
import { AWKWARD_WORDS } from '../../support/words.ts';
import { HOSTILE } from './harsh.ts';

export interface SentFile {
  path: string;
  bytes: string | Buffer;
}

/** The uploads that one table gets, one after the other. */
export interface UploadCase {
  name: string;
  uploads: readonly { kind: string; files: readonly SentFile[] }[];
}

const FIXTURES = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'uploads');

const fixtures = (): UploadCase[] =>
  readdirSync(FIXTURES).map((name) => ({
    name,
    uploads: [{ kind: name.slice(name.lastIndexOf('.') + 1), files: [{ path: name, bytes: readFileSync(join(FIXTURES, name)) }] }],
  }));

const csv = (name: string, ...bodies: (string | Buffer)[]): UploadCase => ({
  name,
  uploads: bodies.map((bytes, at) => ({ kind: 'csv', files: [{ path: `${at}.csv`, bytes }] })),
});
const ndjson = (name: string, ...bodies: string[]): UploadCase => ({
  name,
  uploads: bodies.map((bytes, at) => ({ kind: 'ndjson', files: [{ path: `${at}.ndjson`, bytes }] })),
});

/** Values that a column of text holds, and that must stay what they are. */
const COLUMNS: readonly (readonly string[])[] = [
  ['007', '1'],
  ['+5', '6'],
  ['-12a', '-12'],
  ['0x10', '1'],
  ['1_000', '1'],
  [' 5', '6'],
  ['.5', '5.'],
  ['inf', '1'],
  ['NaN', '1'],
  ['1e400', '1'],
  ['1e-400', '1'],
  ['1'.repeat(39), '1'],
  ['2024-02-30', '2024-02-28'],
  ['2024-1-1', '2024-01-01'],
  ['02/03/2024', '2024-01-01'],
  ['infinity', '2024-01-01'],
  ['2024-01-01T00:00:00.123456789Z', '2024-01-01T00:00:00Z'],
  ['2024-01-01T24:00:00Z'],
  ['2024-01-01', '2024-01-01T00:00:00'],
  ['2024-01-01T00:00:00', '2024-01-01T00:00:00Z'],
  ['true', 'false'],
  ['0.12345678901234567891', '1.5'],
  ['12345678901234567890', '-1'],
  ['9007199254740993', '0.5'],
  ['0.30000000000000004', '1'],
  ['0.1000000000000000055', '1'],
  ['123456789.123456789', '-0.1234567890123456'],
  ['1E5', '-2.50e-3', '0e0', '1.0e-7', '5e-324', '1.7976931348623157e308'],
  ['-0', '0.0', '-0.0', '1.50', '7.00'],
  ['2147483647', '-2147483648'],
  ['2147483648', '0'],
  ['9223372036854775807', '-9223372036854775808'],
  ['9007199254740992', '-9007199254740992'],
  ['9223372036854775808', '1'],
  ['2024-01-02T03:04:05Z', '2024-01-02 03:04:05.123456+02:00', '2024-02-29T23:59:59.9-1130', '2024-01-02T03:04+05', '0001-01-01T00:00:00Z'],
  ['2024-01-02 03:04', '2024-01-02T03:04:05.5', '2024-02-29T23:59:59.999999', '1969-12-31 23:59:59.999999'],
  ['2024-02-30T10:00', '2024-02-29T10:00'],
  ['9999-12-31', '0001-01-01', '1969-12-31', '1582-10-10'],
  ['0000-01-01', '2024-01-01'],
  ['1582-10-10T00:00:00Z', '1582-10-10 12:00:00-00:30'],
];

const field = (value: string | null) => (value === null ? '' : `"${value.replaceAll('"', '""')}"`);

/** A file with each of the lists as a column, `turned` places on. */
const sheet = (turned: number, more: readonly string[] = []): string => {
  const columns = COLUMNS.map((_, at) => [...(COLUMNS[(at + turned) % COLUMNS.length] ?? []), ...more]);
  const rows = Array.from({ length: Math.max(...columns.map(({ length }) => length)) }, (_, row) =>
    columns.map((values) => field(values[row] ?? null)).join(','),
  );
  return `${[columns.map((_, at) => `v${at}`).join(','), ...rows.map((row) => `x,${row}`)].join('\n').replace(/^/, 'w,')}\n`;
};

/** Each list by itself, and each after, and before, others. */
const lists = (): UploadCase[] => [
  csv('lists', sheet(0)),
  ...[1, 3, 7, 12, 19].map((turned) => csv(`lists, then those ${turned} on`, sheet(0), sheet(turned, ['n/a']), sheet(turned + 5, ['']))),
];

const sent: readonly UploadCase[] = [
  csv(
    'a type for each column',
    'plot,code,v,big,day,at,local,note\n1,007,12.50,9007199254740993,2024-01-02,2024-01-02T03:04:05Z,2024-01-02 03:04,"a ""q""\nb"\n' +
      '2,+12,-0.5,1,2024-02-29,2024-01-02T03:04:05.123456+02:00,2024-01-02T03:04:05.5,\n3,,,,,,,""\n',
  ),
  csv(
    'widened, then odd',
    'i,l,big,d,day,t,none\n1,3000000000,9007199254740993,0.5,2024-01-01,x,\n',
    'i,l,big,d,day,t,none,new\n2.5,1.5,1.5,n/a,2024-01-02T10:00,7,42,1\nn/a,2,2,3,2024-01-03,8,43,2\n',
    'I,L,new\n7,1e300,0.5\n,,\n"",n/a,no\n',
  ),
  csv('a BIGINT and exponents', 'a,b\n9007199254740993,x\n', 'a,b\n1e300,y\n4,z\n'),
  csv(
    'names',
    `id,Temp,temp,,temp__text,"a.b\`c",${'x'.repeat(300)},shutdown_time (s), padded ,fieldlake_row\n1,2,3,4,5,6,7,8,9,10\n`,
    'TEMP,PADDED\nodd,11\n',
  ),
  csv('quotes and NUL', 'a,b\n5" pipe, "x"\nn\0l,a"b"c\n'),
  csv('one column', 'a\nx\n\n""\n'),
  csv('a header alone', 'a,b\n', 'a,b\n1,2\n'),
  csv('refused in many ways', 'a,b\n1,2\n3\n4,5\n6,7,8\n9,"x"y\n1,2\n3,"x\n4,5\n'),
  csv('nothing stored', 'a,b\n1\n2\n'),
  csv('hostile', `k,v\n${HOSTILE.map((text, at) => `${at},${field(text)}\n`).join('')}`),
  csv(
    'hostile names',
    `${HOSTILE.slice(0, 30).map(field).join(',')}\n${HOSTILE.slice(0, 30)
      .map((_, at) => String(at))
      .join(',')}\n`,
  ),
  { name: 'twice', uploads: [0, 1].map(() => ({ kind: 'csv', files: [{ path: 'same.csv', bytes: 'a,b\n1,x\n2\n3,z\n' }] })) },
  {
    name: 'one bad file among good ones',
    uploads: [
      {
        kind: 'csv',
        files: [
          { path: 'good.csv', bytes: 'a\n1\n' },
          { path: 'empty.csv', bytes: '' },
          { path: 'more.csv', bytes: 'a\n2\n' },
        ],
      },
    ],
  },
  ndjson(
    'every digit, kind and key',
    [
      '{"id": 7, "n": 12.50, "t": "007", "ok": true, "at": "2024-01-02T03:04:05Z", "nested": {"a": [1, 2.10]}, "mix": 1}',
      '{"n": 123456789012345678901234, "späť": "x\\ny, \\"z\\"", "ok": false, "mix": 2, "t": ""}',
      '',
      '{"n": 0.1234567890123456789, "nested": [1e2, 12345678901234567890], "mix": "n/a", "nul": "a\\u0000b"}',
    ].join('\n'),
  ),
  ndjson(
    'odd ones of every kind',
    [
      '{"i": 5, "d": 0.12345678901234568, "odd": 1, "flag": true, "nested": {"a": [1, null, "x"]}, "day": "2024-02-29", "s": "\\u00e4\\/\\ud83d\\ude00"}',
      `{"i":-7,"d":1e-7,"odd":"n/a","flag":"maybe","day":"","s":"q\\"\\\\","it's \\"k\\"":"x\\ny"}`,
      '{}',
      '{"i":null,"d":3,"odd":2.5,"flag":false,"day":null,"s":"2024-02-30","big":9007199254740991,"at":"2024-01-02T03:04:05.123+05:30"}',
      '{"day":"2024-12-31","odd":[1],"at":"2024-01-02 03:04:05Z","nested":[{"b":"é"}],"s":7.5, "Ok":"a\\u0000b"}',
    ].join('\r\n'),
    '{"i":1.5,"flag":1,"nested":"text","day":"2024-12-31T10:00:00","odd":{"a":1},"big":1.5,"at":"soon","Ok":[1]}\n{"i":"x","nested":7,"flag":true}',
  ),
  ndjson(
    'what the long way keeps',
    '{"n":1,"n":2}\n{"n":3}',
    '{"a":"x","A":"y"}',
    '{"day":"2024-02-30"}\n{"day":"2024-02-28"}',
    '{"n":1,}\n{"n":NaN}\n{"n":4}\n{"n":01}',
  ),
  ndjson('whole numbers with a point beside an exponent', '{"a":891.0,"b":-0,"c":-12345678901234.0,"e":1.102942449506372e-21}'),
  ndjson(
    'documents that no VARIANT holds as they are',
    '{"a":{"k":1e400,"l":[-1e309,1e308]},"b":1e400}\n{"a":{"k":1,"k":[2]},"b":"1e400"}\n{"a":[{"k":1,"l":2,"k":3}],"b":1}',
  ),
  ndjson(
    'numbers that become text',
    ['12.0', '0.00001', '1e-7', '-3.5e-7', '12.50', '[1.0, {"a" : 2.50}]', ...Array.from({ length: 7 }, () => '')]
      .map((value) => `{"t":${value || '"x"'},"f":${value || 'true'}}`)
      .join('\n'),
  ),
  ndjson(
    'ties and numbers',
    '{"a":1,"b":true,"c":"x"}\n{"a":"x","b":1,"c":[1]}\n{"a":2,"b":false,"c":{"k":1}}',
    '{"a":12345678901234567890,"b":true,"c":1}\n{"a":0.5}',
  ),
  {
    name: 'JSON of every frame',
    uploads: [
      {
        kind: 'json',
        files: [
          { path: 'list.json', bytes: '[{"a": 1, "s": "]},{"}, {"a": 2}]' },
          { path: 'wrapped.json', bytes: ' {"data" : [{"a": 1, "s": "]},{"}, {"a": 2}] }\n' },
          { path: 'one.json', bytes: '\ufeff{"a": 3, "data": [1]}' },
          { path: 'none.json', bytes: '[]' },
        ],
      },
    ],
  },
];

/** Values of one kind, now and then one of another. */
const drawn = (r: Random): (() => string | null) => {
  const digits = (count: number) =>
    Array.from({ length: 1 + r.int(count) }, () => String(r.int(10)))
      .join('')
      .replace(/^0+(?=\d)/, '');
  const two = (below: number, from = 0) => String(from + r.int(below)).padStart(2, '0');
  const kinds: readonly (() => string)[] = [
    () => String(r.int(2_000) - 1_000),
    () => `${r.chance(0.5) ? '-' : ''}${digits(19)}`,
    () => `${r.chance(0.5) ? '-' : ''}${digits(3)}.${digits(6)}`,
    () => `${digits(20)}.${digits(18)}`,
    () => `${digits(2)}.${digits(17)}`,
    () => String((r.next() - 0.5) * 10 ** (r.int(40) - 20)),
    () => `${digits(3)}${r.pick(['e', 'E'])}${r.pick(['', '+', '-'])}${r.int(30)}`,
    () => `${1900 + r.int(200)}-${two(12, 1)}-${two(31, 1)}`,
    () =>
      `20${two(30)}-${two(12, 1)}-${two(28, 1)}T${two(24)}:${two(60)}:${two(60)}${r.pick(['', '.5', '.123456'])}${r.pick(['Z', '+02:00', '-1130', '+05'])}`,
    () => `20${two(30)}-${two(12, 1)}-${two(28, 1)} ${two(24)}:${two(60)}${r.pick(['', ':07', ':07.25'])}`,
    () => r.pick(['true', 'false']),
    () => r.pick(AWKWARD_WORDS),
    () => r.pick(HOSTILE),
  ];
  const [own, other] = [r.pick(kinds), r.pick(kinds)];
  const stray = r.pick([0, 0, 0.1, 0.4]);
  return () => (r.chance(0.15) ? null : r.chance(stray) ? other() : own());
};

const jsonOf = (value: string | null, r: Random): string => {
  if (value === null) return 'null';
  const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(value);
  if (value === 'true' || value === 'false' || (isNumber && r.chance(0.9))) return value;
  if (r.chance(0.05)) return r.pick(['[1,{"b":null}]', '{"a":{"c":[0.5,"x"]}}', '[]', '{}']);
  return JSON.stringify(value.toWellFormed());
};

const KEYS = ['a', 'b c', "it's", 'ü', 'x.y', '$', 'par', 'a`b'];

/** Tables of one to three files at random. */
const generated = (seed: number, count: number): UploadCase[] => {
  const r = random(seed);
  return Array.from({ length: count }, (_, at) => {
    const kind = r.pick(['csv', 'ndjson']);
    const uploads = Array.from({ length: 1 + r.int(3) }, (_file, file) => {
      const keys = KEYS.filter(() => r.chance(0.6));
      if (keys.length < 2) keys.push('p', 'q');
      const draw = keys.map(() => drawn(r));
      const rows = Array.from({ length: 1 + r.int(12) }, () => draw.map((one) => one()));
      const body =
        kind === 'csv'
          ? [keys.map(field).join(','), ...rows.map((row) => row.map(field).join(','))].join('\n')
          : rows.map((row) => `{${row.map((value, place) => `${JSON.stringify(keys[place])}:${jsonOf(value, r)}`).join(',')}}`).join('\n');
      return { kind, files: [{ path: `${file}.${kind}`, bytes: `${body}\n` }] };
    });
    return { name: `generated ${at}`, uploads };
  });
};

/** One table of text in which values of every kind follow each other, and one of JSON strings and numbers. */
const spellings = (seed: number, count: number): UploadCase[] => {
  const r = random(seed ^ 0x2545f491);
  const values = Array.from({ length: count }, () => drawn(r)() ?? 'x').map((value) => (r.chance(0.05) ? spoilt(value, r) : value));
  const objects = values.map((value) => `{"v":${jsonOf(value, r)},"w":"x"}`);
  return [
    csv('spellings', `v,w\n${values.map((value) => `${field(value)},x\n`).join('')}`),
    ndjson('spellings in JSON', objects.join('\n')),
  ];
};

/** A value with one character more, less or other. */
const spoilt = (value: string, r: Random): string => {
  const at = r.int(value.length + 1);
  return `${value.slice(0, at)}${r.pick(['', '0', '.', '-', ' ', 'T', ':', '9', 'e', '+', '٣'])}${value.slice(at + r.int(2))}`.toWellFormed();
};

const points = (of: (at: number) => number) => Array.from({ length: 10 }, (_, at) => of(at)).join(',');
const AMBYTE: UploadCase = {
  name: 'Ambyte',
  uploads: [
    {
      kind: 'ambyte',
      files: [
        {
          path: 'Ambyte_12/3/20260501-100000_.txt',
          bytes: [
            ...[
              'AMBYTE\tv2\t1777629600',
              'I1\t5000\t1777629610',
              'INFO START\tAct: 3.5\tDark: 12',
              'P\t5100\t812.5\t1,2,3,4,5,6,7,8,9,10\t4242',
            ],
            ...[
              'L\t5200\t2951\t0\t31.5',
              'INFO END',
              'A\t6000\t6500\tdirk\t1,0,0,10,1,44,7,0',
              `T0\t${points((at) => at)}`,
              `T1\t${points((at) => 400 + at)}`,
            ],
            ...[
              `T2\t${points(() => 100)}`,
              `T3\t${points((at) => 65_536 + 16 * at)}`,
              `T4\t${points((at) => 65_536 + 32 * at)}`,
              'S\t7000\t7900\t2\t300\t50',
            ],
            ...[`T1\t${points((at) => at)}`, 'T2\t1,2', ''],
          ].join('\n'),
        },
      ],
    },
  ],
};

export const uploadCases = (seed: number, count: number): UploadCase[] => [
  ...fixtures(),
  ...sent,
  ...lists(),
  ...generated(seed, count),
  ...spellings(seed, count * 25),
  AMBYTE,
];
