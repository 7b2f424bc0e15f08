import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';

const KEYS = ['phi2', 'a b', 'a.b', '"q"', 'Plot №', '温度', '', '__proto__', 'id', 'x'.repeat(300)];
const VALUES = [
  '1',
  '1.5',
  '-0',
  '1e400',
  '12345678901234567890',
  '"NaN"',
  'NaN',
  'true',
  'null',
  '"2026-05-01"',
  '[1,2]',
  '{"a":1}',
  '""',
  '"ü\\u0000"',
];
/** Macros that payloads name. */
export const MACROS = [randomUUID(), randomUUID()];

/** Payloads of messages: mostly sound, in every form that is taken, and some in every way wrong. Macros are named, and of some an output comes along. */
export const payloads = (random: () => number, count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) => payload(random, n, count));

function payload(random: () => number, n: number, count: number): Buffer {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const sample = () =>
    `{${Array.from({ length: 1 + Math.floor(random() * 3) }, () => `${JSON.stringify(pick(KEYS))}:${pick(VALUES)}`).join(',')}}`;
  const time = pick(['2026-05-01T10:00:00Z', '2026-05-01T12:00:00.25+02:00', '1777629600', 'yesterday', '', '1899-01-01T00:00:00Z']);
  const burst = random() < 0.3;
  const parts = [
    ...(random() < 0.95 ? [`"timestamp":${JSON.stringify(time)}`] : []),
    `"timezone":${JSON.stringify(pick(['Europe/Amsterdam', 'Mars/Olympus', '']))}`,
    `"device_id":${JSON.stringify(pick(['d-1', 'd-2', 'ü "3"']))}`,
    ...(random() < 0.2 ? [`"id":"own-${Math.floor(random() * count)}"`] : [`"workbook_run_id":"run ${n}"`]),
    `"sample":${burst ? `[${Array.from({ length: Math.floor(random() * 4) }, sample).join(',')}]` : pick([sample(), sample(), '"not json"', '7', '{"cut":'])}`,
    ...(random() < 0.3
      ? [
          `"macros":[{"id":"${pick(MACROS)}","name":"m","filename":"m.py","output":${burst ? `[${sample()}]` : sample()}},{"id":"${pick(MACROS)}"}]`,
        ]
      : []),
    ...(random() < 0.3 ? [`"questions":[{"question_label":${JSON.stringify(pick(KEYS))},"question_answer":"a"},7]`] : []),
    ...(random() < 0.2 ? ['"latitude":"51.5","longitude":999'] : []),
  ];
  const message = `{${parts.join(',')}}`;
  const text = pick([
    message,
    message,
    message,
    `[${message},${message.replace('{', '{"k":1,')}]`,
    `${message}\n${message.replace('{', '{"l":1,')}`,
    message.slice(0, -3),
    `${message}\n{"cut":`,
    '',
  ]);
  const bytes = Buffer.from(text);
  return random() < 0.1 ? (random() < 0.3 ? gzipSync(bytes).subarray(0, -6) : gzipSync(bytes)) : bytes;
}
