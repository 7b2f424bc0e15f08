import fc from 'fast-check';

/** A member of a message as text: mostly such as instruments send, now and then anything. */
const either = (usual: fc.Arbitrary<string>, odd: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 24, arbitrary: usual }, { weight: 1, arbitrary: odd });
const text = (value: fc.Arbitrary<unknown>) => value.map((one) => JSON.stringify(one));

const WORDS = ['', 'multispeq-7', 'Leaf 3', 'Blatt Ü', '葉', 'a,b', 'x\x7fy', '=1+1', '\u2028', '12', 'null'];
const anything = fc.oneof(
  fc.constantFrom(
    'null',
    'true',
    'false',
    '0',
    '-0',
    '1e400',
    '1e5',
    '007',
    '-',
    '[]',
    '[ ]',
    '{}',
    '""',
    'NaN',
    '-Infinity',
    '"\\u0041"',
    '"\\ud800"',
    '"a\\nb"',
  ),
  fc.constantFrom(
    '"2026-05-01T12:00:00+02:00"',
    '"2026-02-30T10:00:00Z"',
    '123456789012345678901234567890',
    '0.1234567890123456789',
    '"\\u0000"',
  ),
  text(fc.json()),
  fc.json(),
);
const word = either(
  fc.oneof(
    text(fc.constantFrom(...WORDS)),
    text(fc.string({ unit: 'grapheme', maxLength: 8 })),
    fc.constantFrom('null', '0', '7', '123456789012345'),
  ),
  anything,
);
const id = either(text(fc.integer({ min: 0, max: 200 }).map((n) => `m-${n}`)), anything);
const timestamp = either(
  fc
    .tuple(fc.integer({ min: Date.UTC(1890, 0), max: Date.UTC(2060, 0) }), fc.constantFrom('ms', 's', 'us'))
    .map(([at, unit]) => new Date(at).toISOString().replace(/\.(\d+)Z$/, unit === 's' ? 'Z' : unit === 'us' ? '.$1987Z' : '.$1Z'))
    .map((iso) => JSON.stringify(iso)),
  anything,
);
const timezone = either(
  text(
    fc.constantFrom(
      'Europe/Amsterdam',
      'America/Sao_Paulo',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'UTC',
      'Nowhere/Land',
      'CET',
      "O'Clock",
      '+02:00',
    ),
  ),
  anything,
);
const number = (most: number) =>
  either(
    fc.oneof(
      fc.double({ min: -most, max: most, noNaN: true }).map((n) => JSON.stringify(n)),
      fc.integer({ min: -most, max: most }).map(String),
      fc.tuple(fc.integer({ min: -most, max: most }), fc.nat(9_999)).map(([whole, part]) => `${whole}.${part}0`),
    ),
    anything,
  );
const inner = fc.oneof(
  fc.constantFrom(
    '{}',
    '{ "phi2" : 0.71, "id":12345678901234567890 }',
    '{"a":{"b":[1,2.50,-3e-2,true,null]}}',
    '{"t":"a\\"b\\\\c\\u00e9"}',
    '{"__proto__":{"a":1}}',
  ),
  text(fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })),
);
const odder = fc.oneof(
  fc.constantFrom('[{"a":1},{"a":2}]', '{"macros":["m"]}', '{"a":NaN}', '{"a":1', '"{}"', '{"a" 1}', '{"a":01}', '{"a":1,}', '[1'),
  anything,
);

const MEMBERS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  id,
  timestamp,
  timezone,
  device_id: word,
  device_name: word,
  device_version: word,
  device_firmware: word,
  device_battery: number(1e6),
  protocol_id: word,
  workbook_id: word,
  workbook_version_id: word,
  workbook_run_id: word,
  user_id: either(text(fc.oneof(fc.uuid(), fc.constant('nobody'))), anything),
  output: word,
  latitude: number(90),
  longitude: number(180),
  sample: either(inner, odder),
  macro_context: either(fc.constant('null'), anything),
  macros: either(
    fc.constantFrom('[]', 'null', '[ ]'),
    fc.oneof(fc.constant('[{"id":"5b3f0a54-9a53-4a5e-8d0e-1f1d2c3b4a59","output":{"a":1}}]'), anything),
  ),
  questions: either(
    fc.constantFrom('[]', 'null'),
    fc.oneof(
      fc.constantFrom('[{"question_label":"Plot","question_answer":"3"}]', '[{"question_label":"b c","question_answer":null}]'),
      anything,
    ),
  ),
  annotations: either(fc.constantFrom('[]', 'null'), anything),
  firmware_build: fc.oneof(word, inner),
};

/** The text of a message: most are plain but for a member or two. */
export const messageText = (): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.shuffledSubarray(
        Object.keys(MEMBERS).filter((key) => key !== 'timestamp'),
        { maxLength: 10 },
      ),
      fc.constantFrom('', '', '', '', ' ', '\n', '\t '),
      fc.nat(30),
    )
    .chain(([keys, space, place]) => {
      const all = place === 30 ? keys : [...keys.slice(0, place % 3), 'timestamp', ...keys.slice(place % 3)];
      const given = fc.tuple(...all.map((key) => MEMBERS[key] ?? anything));
      return given.map((values) => {
        const members = values.map((value, at) => `${space}"${all[at] ?? ''}"${space}:${space}${value}`);
        return `${space}{${members.join(`${space},`)}${space}}${space}`;
      });
    });

const PIECES = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '0',
  '-',
  '.',
  'e',
  ' ',
  '\n',
  '\0',
  '\x01',
  '\x1f',
  '\x7f',
  'u',
  'null',
  'é',
  '\ufeff',
  '"macros"',
  '"id":"x",',
];

/** The bytes of a message with some of them changed, put in or left out. */
export const hostileBytes = (): fc.Arbitrary<Buffer> =>
  fc
    .tuple(
      messageText(),
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.nat(3),
          fc.oneof(
            fc.constantFrom(...PIECES).map((piece) => Buffer.from(piece)),
            fc.uint8Array({ maxLength: 2 }).map((some) => Buffer.from(some)),
          ),
        ),
        {
          maxLength: 2,
        },
      ),
    )
    .map(([whole, changes]) =>
      changes.reduce((bytes, [place, length, piece]) => {
        const at = place % (bytes.length + 1);
        return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + length)]);
      }, Buffer.from(whole)),
    );
