import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { readInstant, isPlainInstant } from '../../src/ingest/messages/decode/instant.ts';
import { decodePayload, MESSAGE_CAPS, readPayload } from '../../src/ingest/messages/decode/payload.ts';
import { PlainMeasurement } from '../../src/ingest/messages/decode/plain-measurement.ts';
import { readPlainMeasurement } from '../../src/ingest/messages/decode/plain-message.ts';
import { seedRandomTests } from '../support/random.ts';
import { hostileBytes, messageText } from '../support/messages.ts';

beforeAll(seedRandomTests);

const FIELDS = [
  ...['index', 'timestamp', 'samples', 'ownId', 'sha256', 'timezone', 'protocolId', 'workbookVersionId'],
  ...['workbookRunId', 'macroContext', 'macros', 'questions', 'annotations', 'userId', 'deviceId', 'deviceName'],
  ...['deviceVersion', 'deviceFirmware', 'deviceBattery', 'latitude', 'longitude'],
] as const;

/** Whether the bytes are plain; when they are, they say the same both ways. */
function sameBothWays(bytes: Buffer): boolean {
  const plain = readPlainMeasurement(bytes, MESSAGE_CAPS);
  if (!plain) return false;
  const long = decodePayload(bytes);
  expect(long).toHaveLength(1);
  const [one] = long;
  if (one?.kind !== 'measurement') throw new Error(JSON.stringify(one));
  expect(Object.keys(one).sort()).toEqual(['kind', ...FIELDS].sort());
  expect(Object.fromEntries(FIELDS.map((name) => [name, plain[name]]))).toEqual(
    Object.fromEntries(FIELDS.map((name) => [name, one[name]])),
  );
  const read = readPayload(bytes);
  expect(read).toHaveLength(1);
  expect(read[0]).toBeInstanceOf(PlainMeasurement);
  return true;
}

describe('a plain message', () => {
  test('says from its bytes what it says taken apart', () => {
    let plain = 0;
    let all = 0;
    fc.assert(
      fc.property(messageText(), (text) => {
        all += 1;
        if (sameBothWays(Buffer.from(text))) plain += 1;
      }),
      { numRuns: 2_000 },
    );
    // enough of both for the comparison to say something
    expect(plain / all).toBeGreaterThan(0.15);
    expect(plain / all).toBeLessThan(0.9);
  });

  test('says names as they are, however many and however alike they are to others', () => {
    const letters = ['a', 'b', 'é', 'Ã', '©', '\u00c3\u00a9', '\u{1f331}', 'x'.repeat(64), 'x'.repeat(65)];
    const names = Array.from({ length: 3_000 }, (_, n) => `${letters[n % letters.length] ?? ''}${n % 7 === 0 ? '' : Math.floor(n / 3)}`);
    for (const name of [...names, ...names.toReversed(), ...letters, ...letters]) {
      const bytes = Buffer.from(JSON.stringify({ timestamp: '2026-05-01T00:00:00Z', device_name: name, timezone: name }));
      const plain = readPlainMeasurement(bytes, MESSAGE_CAPS);
      expect([plain?.deviceName, plain?.timezone]).toEqual([name, name]);
    }
  });

  test('with bytes changed, put in and left out is as plain as it is the same', () => {
    let plain = 0;
    fc.assert(
      fc.property(hostileBytes(), (bytes) => {
        if (sameBothWays(bytes)) plain += 1;
      }),
      { numRuns: 4_000 },
    );
    expect(plain).toBeGreaterThan(50);
  });

  test.each([
    [
      'a whole message',
      '{"id":"m-1","timestamp":"2026-05-01T10:00:00.5Z","device_id":7,"latitude":51.98,"sample":{"phi2":0.71,"deep":[{"a b":"\\n"}]}}',
      true,
    ],
    ['white space about it', ' {"timestamp" : "2026-05-01T10:00:00Z" , "sample" : null}\n', true],
    ['letters beyond ASCII', '{"timestamp":"2026-05-01T10:00:00Z","device_name":"Blatt Ü, 葉"}', true],
    ['a key of nobody', '{"timestamp":"2026-05-01T10:00:00Z","firmware_build":[1,{"a":true}]}', true],
    ['lists without elements', '{"timestamp":"2026-05-01T10:00:00Z","macros":[],"questions":[ ],"annotations":[]}', true],
    ['no time', '{"id":"m-1","sample":{"phi2":0.71}}', false],
    ['an offset', '{"timestamp":"2026-05-01T12:00:00+02:00"}', false],
    ['a time that may not be', '{"timestamp":"2026-02-30T12:00:00Z"}', false],
    ['a key twice', '{"timestamp":"2026-05-01T10:00:00Z","device_id":"a","device_id":"b"}', false],
    ['a key in other letters', '{"timestamp":"2026-05-01T10:00:00Z","\\u0069d":"a"}', false],
    ['the name of macros in its sample', '{"timestamp":"2026-05-01T10:00:00Z","sample":{"macros":["a"]}}', false],
    ['macros', '{"timestamp":"2026-05-01T10:00:00Z","macros":[{"id":"a"}]}', false],
    ['a burst', '{"timestamp":"2026-05-01T10:00:00Z","sample":[{"a":1}]}', false],
    ['a sample as text', '{"timestamp":"2026-05-01T10:00:00Z","sample":"{}"}', false],
    ['half a letter', '{"timestamp":"2026-05-01T10:00:00Z","sample":{"a":"\\ud800"}}', false],
    ['NaN', '{"timestamp":"2026-05-01T10:00:00Z","sample":{"a":NaN}}', false],
    ['a latitude at the pole', '{"timestamp":"2026-05-01T10:00:00Z","latitude":90}', false],
    ['a zero with a sign', '{"timestamp":"2026-05-01T10:00:00Z","latitude":-0.0}', false],
    ['an id without a letter', '{"timestamp":"2026-05-01T10:00:00Z","id":""}', false],
    ['an encoding', '{"timestamp":"2026-05-01T10:00:00Z","sample":{},"_sample_encoding":"none"}', false],
    ['something behind it', '{"timestamp":"2026-05-01T10:00:00Z"}{}', false],
  ])('is found with %s', (_name, text, expected) => {
    expect(sameBothWays(Buffer.from(text))).toBe(expected);
  });

  test('is no longer than a cap, no deeper than the engine goes, and UTF-8', () => {
    const text = (sample: string) => Buffer.from(`{"timestamp":"2026-05-01T10:00:00Z","sample":${sample}}`);
    const nested = (depth: number) => text(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect(sameBothWays(nested(20))).toBe(true);
    expect(sameBothWays(nested(40))).toBe(false);
    const long = text(`{"a":"${'x'.repeat(2_000)}"}`);
    expect(readPlainMeasurement(long, { ...MESSAGE_CAPS, bytes: long.length })).toBeDefined();
    expect(readPlainMeasurement(long, { ...MESSAGE_CAPS, bytes: long.length - 1 })).toBeUndefined();
    const fine = text('{"a":"é"}');
    expect(sameBothWays(fine)).toBe(true);
    expect(sameBothWays(Buffer.from(fine.toString('latin1').replace('Ã', ''), 'latin1'))).toBe(false);
  });
});

test('an instant in UTC is found in bytes where its text is one, but for leap days', () => {
  const digits = (least: number, most: number) => fc.integer({ min: least, max: most }).map((n) => String(n).padStart(2, '0'));
  const instant = fc
    .tuple(
      fc.constantFrom('2026', '0000', '0001', '9999', '20a6', '202'),
      digits(0, 13),
      digits(0, 32),
      fc.constantFrom('T', 't', ' '),
      digits(0, 25),
      digits(0, 61),
      digits(0, 61),
      fc.constantFrom('', '.', '.1', '.123456', '.1234567', ',5', '.12x', '.000'),
      fc.constantFrom('Z', 'z', '', '+00:00', 'ZZ'),
    )
    .map(
      ([year, month, day, mark, hour, minute, second, part, zone]) =>
        `${year}-${month}-${day}${mark}${hour}:${minute}:${second}${part}${zone}`,
    );
  const utc = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z$/;
  fc.assert(
    fc.property(instant, fc.nat(3), (text, before) => {
      const bytes = Buffer.from(`${'"'.repeat(before)}${text}"`);
      const isPlain = isPlainInstant(bytes, before, before + text.length);
      expect(isPlain).toBe(utc.test(text) && !/-02-29T/.test(text) && readInstant(text) !== null);
      if (isPlain) expect(readInstant(text)).toBe(`${text.slice(0, 19)}.${text.slice(20, -1).padEnd(6, '0')}Z`);
    }),
    { numRuns: 5_000 },
  );
});
