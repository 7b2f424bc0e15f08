import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../../src/json.ts';

/** A request and its answer. */
export interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  /** What the request said: JSON, a form or text. */
  sent?: unknown;
  status: number;
  contentType: string;
  text: string;
}

const BUILD = join(import.meta.dirname, '..', '..', 'build');
const isRecording = process.env['RECORD_EXAMPLES'] === '1';

/** Characters of a body or an answer that is worth reading as an example. */
const LONGEST = 3_000;

const lengthOf = (value: unknown) => JSON.stringify(value ?? null).length;

/** A list cut to the items that say what the others are like: two, or one that is long. */
function cut(answered: unknown): unknown {
  if (!Array.isArray(answered)) return answered;
  const two = answered.slice(0, 2);
  return lengthOf(two) > LONGEST ? two.slice(0, 1) : two;
}

/** How well an exchange shows what an operation does: a list with something in it, in few lines. */
const scoreOf = (length: number) => (length < 40 ? length : length < 1_200 ? 2_000 - length : 1_000 - length / 10);

const best = new Map<string, number>();

/** What a form sent: its fields, and the names of its files. */
const fieldsOf = (form: FormData) => ({
  ...Object.fromEntries([...form].filter(([, value]) => typeof value === 'string')),
  files: [...form].flatMap(([, value]) => (typeof value === 'string' ? [] : [value.name])),
});

function sentBy(sent: unknown): unknown {
  if (sent instanceof FormData) return fieldsOf(sent);
  if (typeof sent !== 'string') return sent;
  try {
    return readJson(sent);
  } catch {
    return undefined;
  }
}

/** Certificates and keys, whose length says nothing. */
const PEM = /-----BEGIN ([A-Z ]+)-----.*?-----END \1-----/gs;

/** Keeps the exchange of each operation that says most in few lines. Only where `npm run examples` asks for it. */
export function noteExample(operationId: string, template: string, { path, sent, status, contentType, ...exchange }: Exchange): void {
  if (!isRecording) return;
  const text = exchange.text.replace(PEM, '-----BEGIN $1-----\\nMIIB…\\n-----END $1-----');
  // a stream of events has no whole to show
  const isText = /^(text\/(?!event-stream)|image\/svg|application\/x-ndjson)/.test(contentType);
  const answered =
    text === ''
      ? undefined
      : contentType.startsWith('application/json')
        ? cut(readJson(text))
        : isText && text.length <= LONGEST
          ? text
          : undefined;
  const body = sentBy(sent);
  const [sentLength, answeredLength] = [lengthOf(body), lengthOf(answered)];
  const score = Math.round(scoreOf(answeredLength) - sentLength / 2 + (path.includes('?') ? 50 : 0));
  if (answeredLength > LONGEST || sentLength > LONGEST || score <= (best.get(operationId) ?? -LONGEST)) return;
  best.set(operationId, score);
  const example = { operationId, template, path, body, status, contentType: contentType.split(';')[0], answered, score };
  mkdirSync(BUILD, { recursive: true });
  appendFileSync(join(BUILD, 'examples-seen.ndjson'), `${JSON.stringify(example)}\n`);
}
