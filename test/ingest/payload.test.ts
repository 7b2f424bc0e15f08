import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { readInstant } from '../../src/ingest/messages/decode/instant.ts';
import { listChildren, readStrictJson } from '../../src/ingest/messages/decode/json.ts';
import type { Measurement, RefusalReason } from '../../src/ingest/messages/decode/payload.ts';
import { decodePayload, MESSAGE_CAPS } from '../../src/ingest/messages/decode/payload.ts';
import { seedRandomTests } from '../support/random.ts';

beforeAll(seedRandomTests);

const AT = '2026-05-01T12:00:00.5+02:00';
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const packed = (value: unknown) => gzipSync(bytes(value)).toString('base64');

function one(value: unknown): Measurement {
  const [first, ...rest] = decodePayload(Buffer.isBuffer(value) ? value : bytes(value));
  expect(rest).toEqual([]);
  if (first?.kind !== 'measurement') throw new Error(JSON.stringify(first));
  return first;
}
const reasons = (value: unknown, caps = MESSAGE_CAPS): (RefusalReason | 'fine')[] =>
  decodePayload(Buffer.isBuffer(value) ? value : bytes(value), caps).map((entry) => (entry.kind === 'refusal' ? entry.reason : 'fine'));

describe('a measurement message', () => {
  test('every known field', () => {
    const got = one({
      timestamp: AT,
      timezone: 'Europe/Amsterdam',
      sample: { phi2: 0.7 },
      protocol_id: 'questions',
      workbook_version_id: 'wv',
      workbook_id: 'w',
      workbook_run_id: 'r',
      macro_context: '{"a":1}',
      macros: [{ id: 'm', name: 'n', filename: 'f' }],
      questions: [{ question_label: 'l', question_text: 't', question_answer: 'a' }],
      annotations: [],
      user_id: 'u',
      device_id: 'd',
      device_name: 'name',
      device_version: '2',
      device_firmware: '2.311',
      device_battery: 88,
      output: 'text',
      latitude: 52.1,
      longitude: '4.3',
      id: 'own',
      unknown_key: 1,
    });
    expect(got).toMatchObject({
      timestamp: '2026-05-01T10:00:00.500000Z',
      samples: ['{"phi2":0.7}'],
      ownId: 'own',
      timezone: 'Europe/Amsterdam',
      protocolId: 'questions',
      workbookVersionId: 'wv',
      workbookRunId: 'r',
      macroContext: '{"a":1}',
      macros: '[{"id":"m","name":"n","filename":"f"}]',
      annotations: '[]',
      userId: 'u',
      deviceId: 'd',
      deviceName: 'name',
      deviceVersion: '2',
      deviceFirmware: '2.311',
      deviceBattery: 88,
      latitude: 52.1,
      longitude: 4.3,
    });
  });

  test('a wrong optional value reads as null', () => {
    const got = one({ timestamp: AT, latitude: 91, device_battery: 'low', macros: 'x', device_name: { a: 1 } });
    expect(got).toMatchObject({ latitude: null, deviceBattery: null, macros: null, deviceName: null });
  });

  test('samples: text, object, burst, gzip+base64; digits survive', () => {
    expect(one(`{"timestamp":"${AT}","sample":{"big":12345678901234567890.10}}`).samples).toEqual(['{"big":12345678901234567890.10}']);
    expect(one({ timestamp: AT, sample: '[{"a":1},{"a":2}]' })).toMatchObject({ samples: ['{"a":1}', '{"a":2}'] });
    expect(one({ timestamp: AT, sample: [{ a: '[,]"' }, [1, 2], 'x'] }).samples).toEqual(['{"a":"[,]\\""}', '[1,2]', '"x"']);
    expect(one({ timestamp: AT, sample: packed([{ a: 1 }]), _sample_encoding: 'gzip+base64' }).samples).toEqual(['{"a":1}']);
    expect(one({ timestamp: AT, sample: [] })).toMatchObject({ samples: [] });
    expect(one({ timestamp: AT })).toMatchObject({ samples: [] });
  });

  test('NaN and infinities read as null, inside strings they stay', () => {
    expect(one(`{"timestamp":"${AT}","sample":{"a":NaN,"b":-Infinity,"c":"NaN","d":[nan,-inf]}}`).samples).toEqual([
      '{"a":null,"b":null,"c":"NaN","d":[null,null]}',
    ]);
    expect(one({ timestamp: AT, sample: '{"a": NaN}' }).samples).toEqual(['{"a": null}']);
  });

  test('numbers that no double holds read as text, those that one holds as they are written', () => {
    const sample = (value: string) => one(`{"timestamp":"${AT}","sample":{"a":${value}}}`).samples[0];
    const digits = '9'.repeat(309);
    for (const large of ['1e400', '-1E+309', digits, `-${digits}.5`, `${'9'.repeat(220)}e99`, '1.5e0400', `1${'0'.repeat(308)}e5`])
      expect(sample(large)).toBe(`{"a":"${large}"}`);
    for (const held of ['1e308', '-1.5E+0000300', '1e-400', `0.${digits}e300`, '9'.repeat(308), `1${'0'.repeat(308)}`, '"1e400"'])
      expect(sample(held)).toBe(`{"a":${held}}`);
    expect(one(`{"timestamp":"${AT}","sample":"[1e400,{\\"b\\":1e5}]","macros":[{"id":"m","output":{"a":1e999}}]}`)).toMatchObject({
      samples: ['"1e400"', '{"b":1e5}'],
      macros: '[{"id":"m","output":{"a":"1e999"}}]',
    });
  });

  test('half surrogate pairs become replacement characters, whole ones stay', () => {
    expect(one(`{"timestamp":"${AT}","sample":{"a":"\\ud800","b":"\\ud83c\\udf31","c":"\\\\ud800"}}`).samples).toEqual([
      '{"a":"\ufffd","b":"\\ud83c\\udf31","c":"\\\\ud800"}',
    ]);
  });

  test('identity: the hash of the text, the same zipped or not', () => {
    const text = JSON.stringify({ timestamp: AT, sample: { a: 1 } });
    expect(one(text).sha256).toBe(createHash('sha256').update(text).digest('hex'));
    expect(one(gzipSync(text)).sha256).toBe(one(text).sha256);
    expect(one(text).ownId).toBeNull();
  });

  test('member names that hold escapes are told apart, whatever names came before', () => {
    for (const name of ['\\', '\n', '"', '\\nab', '\nabc', 'a\\', 'a\t']) {
      const sample = { n: 1, [name]: { deep: 1 } };
      const json = readStrictJson(JSON.stringify(sample), MESSAGE_CAPS);
      if (typeof json === 'string') throw new Error(json);
      expect(json.value).toEqual(sample);
      expect([...json.members().keys()]).toEqual([name]);
    }
  });

  test('hostile member names are data', () => {
    const got = one(`{"timestamp":"${AT}","__proto__":{"sample":[1]},"constructor":1}`);
    expect(got.samples).toEqual([]);
    expect(({} as Record<string, unknown>)['sample']).toBeUndefined();
  });
});

describe('one payload, several messages', () => {
  const good = { timestamp: AT };
  test('an array, NDJSON, each zipped', () => {
    expect(reasons([good, good])).toEqual(['fine', 'fine']);
    expect(reasons(`${JSON.stringify(good)}\n\r\n${JSON.stringify(good)}\n`)).toEqual(['fine', 'fine']);
    expect(reasons(gzipSync(JSON.stringify([good, 1])))).toEqual(['fine', 'not-an-object']);
    expect(reasons('\ufeff' + JSON.stringify(good))).toEqual(['fine']);
  });
  test('no line is lost among many blank ones', () => {
    const lines = (many: number, blank: number) => Array.from({ length: many }, () => JSON.stringify(good)).join('\n'.repeat(1 + blank));
    expect(reasons(lines(100, 0))).toHaveLength(100);
    expect(reasons(lines(100, 500))).toHaveLength(100);
    expect(reasons(gzipSync(lines(10_001, 2)))).toEqual(['too-many-messages']);
  });
  test('a bad line is refused alone', () => {
    expect(reasons(`${JSON.stringify(good)}\n{"timestamp":\n${JSON.stringify(good)}`)).toEqual(['fine', 'json-invalid', 'fine']);
  });
  test('elements keep the hash they would have alone', () => {
    const [a] = decodePayload(bytes(`[ {"timestamp":"${AT}"} ]`));
    expect(a?.kind === 'measurement' && a.sha256).toBe(one(`{"timestamp":"${AT}"}`).sha256);
    const wild = `{"timestamp":"${AT}","sample":{"a":NaN,"b":-Infinity,"c":1e400}}`;
    const [within, ...more] = decodePayload(Buffer.from(`[${wild},{"timestamp":"${AT}"}]`));
    expect(more).toHaveLength(1);
    expect(within?.kind === 'measurement' && within.sha256).toBe(one(wild).sha256);
  });
});

describe('refusals', () => {
  const caps = { bytes: 4_000, decompressed: 20_000, depth: 8, values: 500, messages: 5, samples: 4 };
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  test.each<[string, unknown, RefusalReason]>([
    ['nothing', '', 'empty'],
    ['blank', ' \n', 'empty'],
    ['empty array', '[]', 'empty'],
    ['too many bytes', 'x'.repeat(4_001), 'too-large'],
    ['a gzip bomb', gzipSync(Buffer.alloc(1_000_000)), 'decompressed-too-large'],
    ['two bombs in a row', Buffer.concat([gzipSync(Buffer.alloc(15_000)), gzipSync(Buffer.alloc(15_000))]), 'decompressed-too-large'],
    ['cut gzip', gzipSync(bytes({ timestamp: AT })).subarray(0, 20), 'gzip-invalid'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'not-utf8'],
    ['half an object', '{"timestamp":', 'json-invalid'],
    ['an unclosed string', '{"a', 'json-invalid'],
    ['a scalar', '1', 'not-an-object'],
    ['no time', '{}', 'timestamp-missing'],
    ['null time', { timestamp: null }, 'timestamp-missing'],
    ['local time', { timestamp: '2026-05-01T10:00:00' }, 'timestamp-invalid'],
    ['30 February', { timestamp: '2026-02-30T10:00:00Z' }, 'timestamp-invalid'],
    ['epoch', { timestamp: 1_777_000_000 }, 'timestamp-invalid'],
    ['depth', `{"timestamp":"${AT}","sample":${nested(8)}}`, 'too-deep'],
    ['depth inside text', { timestamp: AT, sample: nested(9) }, 'too-deep'],
    ['values', { timestamp: AT, sample: Array.from({ length: 501 }, () => 1) }, 'too-many-values'],
    ['samples', { timestamp: AT, sample: [1, 2, 3, 4, 5] }, 'too-many-samples'],
    ['scalar sample', { timestamp: AT, sample: 5 }, 'sample-invalid'],
    ['text sample', { timestamp: AT, sample: 'hello' }, 'sample-invalid'],
    ['unknown encoding', { timestamp: AT, sample: 'x', _sample_encoding: 'br' }, 'sample-encoding-unknown'],
    ['not base64', { timestamp: AT, sample: 'x$', _sample_encoding: 'gzip+base64' }, 'sample-base64-invalid'],
    ['not gzip', { timestamp: AT, sample: 'AAAA', _sample_encoding: 'gzip+base64' }, 'sample-gzip-invalid'],
    ['a bomb in the sample', { timestamp: AT, sample: packed(' '.repeat(1_000_000)), _sample_encoding: 'gzip+base64' }, 'sample-too-large'],
    ['too many messages', JSON.stringify(Array.from({ length: 6 }, () => ({ timestamp: AT }))), 'too-many-messages'],
  ])('%s', (_name, value, reason) => {
    expect(reasons(value, caps)).toEqual([reason]);
  });

  test('one budget for all samples of a payload', () => {
    const message = { timestamp: AT, sample: packed([' '.repeat(8_000)]), _sample_encoding: 'gzip+base64' };
    expect(reasons([message, message, message], caps)).toEqual(['fine', 'fine', 'sample-too-large']);
  });

  test('nesting of a million levels ends at the cap', () => {
    expect(reasons(Buffer.from('['.repeat(130_000)))).toEqual(['too-deep']);
    expect(reasons(Buffer.from(`{"timestamp":"${AT}","sample":"${'\\\\'.repeat(60_000)}"}`))).toEqual(['sample-invalid']);
  });
});

describe('laws', () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .string({
        unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'N', 'a', '1', '\n', 'u', 'd', '8', '0', ' '),
        maxLength: 60,
      })
      .map((text) => Buffer.from(text)),
    fc
      .dictionary(fc.constantFrom('timestamp', 'sample', '_sample_encoding', 'macros', 'latitude', 'id', '__proto__'), fc.anything())
      .map((value) => bytes(JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each)) ?? '')),
    fc.uint8Array({ maxLength: 200 }).map((value) => gzipSync(value)),
  );
  test('any bytes give at least one entry and no throw', () => {
    fc.assert(
      fc.property(anything, (payload) => decodePayload(payload).length > 0),
      { numRuns: 3_000 },
    );
  });

  test('strict JSON is what JSON.parse reads, and its children make it up', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const strict = readStrictJson(text, { depth: 100, values: 100_000 });
        expect(strict).toMatchObject({ value: JSON.parse(text) as unknown });
        const value = JSON.parse(text) as unknown;
        if (typeof value !== 'object' || value === null) return;
        const parts = listChildren(text).map(({ key, start, end }) => [key, JSON.parse(text.slice(start, end)) as unknown] as const);
        if (Array.isArray(value)) expect(parts.map(([, part]) => part)).toEqual(value);
        else expect(new Map(parts as [string, unknown][])).toEqual(new Map(Object.entries(value)));
      }),
      { numRuns: 1_000 },
    );
  });

  test('a text that the parser alone reads is read as one that is looked at', () => {
    const caps = { depth: 6, values: 100_000 };
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"a"',
        '"sample"',
        '"b\\"]"',
        '"\\ud800"',
        '"\\u0041"',
        '1',
        '-2e5',
        '9007199254740993',
        'NaN',
        'Infinity',
      ],
      ...['true', 'null', ' ', '\n', '{"a":[1,{"b":2}]}', '"sample":{"x":"}{"}', '"é"', '[[[[[[]]]]]]', '\\'],
    );
    const texts = fc.oneof(
      fc.json({ maxDepth: 8 }),
      fc.tuple(fc.json({ maxDepth: 4 }), fc.json({ maxDepth: 4 })).map(([a, b]) => `{ "sample" : ${a}, "sample":${b}, "macros" :${a}}`),
      fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
      fc.array(piece, { maxLength: 10 }).map((pieces) => `{"sample":${pieces.join('')}}`),
    );
    let read = 0;
    fc.assert(
      fc.property(texts, (text) => {
        const plain = readStrictJson(text, caps);
        // a cap that the text could pass has every value of it counted
        const counted = readStrictJson(text, { ...caps, values: Math.max(1, text.length - 1) });
        if (typeof plain === 'string' || typeof counted === 'string') {
          if (text.length > 2) expect(plain).toEqual(counted);
          return;
        }
        read += 1;
        expect([plain.text, plain.value, plain.members()]).toEqual([counted.text, counted.value, counted.members()]);
        const { value } = plain;
        if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
        const nested = listChildren(plain.text).filter(({ start }) => '{['.includes(plain.text.charAt(start)));
        expect(plain.members()).toEqual(new Map(nested.map(({ key, start, end }) => [key, plain.text.slice(start, end)])));
      }),
      { numRuns: 3_000 },
    );
    expect(read).toBeGreaterThan(500);
  });

  test('times: every instant comes back the same', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0002-01-01T00:00:00Z'), max: new Date('9998-12-31T00:00:00Z'), noInvalidDate: true }),
        fc.integer({ min: -840, max: 840 }),
        (at, offset) => {
          const local = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, -1);
          const pad = (value: number) => String(Math.trunc(value)).padStart(2, '0');
          const zone = `${offset < 0 ? '-' : '+'}${pad(Math.abs(offset) / 60)}:${pad(Math.abs(offset) % 60)}`;
          expect(readInstant(local + zone)).toBe(at.toISOString().replace('Z', '000Z'));
        },
      ),
    );
    expect(readInstant('2026-05-01 10:00:00,1234567Z')).toBe('2026-05-01T10:00:00.123456Z');
    expect(readInstant('x'.repeat(100_000) + randomBytes(4).toString('hex'))).toBeNull();
  });
});
