// Makes fixtures/contract/examples.json of what the suite has seen (`npm run examples`): one exchange of each operation, without what is secret or differs
// from run to run. An operation that was not seen keeps the example that it has.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkExample, type Example } from './example-check.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SEEN = join(ROOT, 'build', 'examples-seen.ndjson');
const KEPT = join(ROOT, 'fixtures', 'contract', 'examples.json');

interface Seen {
  operationId: string;
  template: string;
  path: string;
  body?: unknown;
  status: number;
  contentType: string;
  answered?: unknown;
  score: number;
}

const TIME = '2026-05-01T12:00:00.000Z';
/** The end of a range: after its beginning. */
const LATER = '2026-05-08T12:00:00.000Z';
const HEX = '0123456789abcdef'.repeat(4);
const PEM = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g;

/** Texts that only their name tells to be secret. */
const SECRET =
  /^(token|secret|signature|challenge|sessionToken|secretAccessKey|accessKeyId|clientDataJSON|attestationObject|authenticatorData|userHandle|rawId|publicKey|credentialID)$/;

/** Makes one example stable: ids are numbered in the order in which they are met. */
function stabiliser(): (value: unknown, name?: string) => unknown {
  const ids = new Map<string, string>();
  const idOf = (found: string) => {
    const known = ids.get(found) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`;
    ids.set(found, known);
    return known;
  };
  const text = (given: string, name: string): string => {
    if (SECRET.test(name)) return 'c2VjcmV0'.repeat(Math.ceil(given.length / 8)).slice(0, given.length);
    if (name === 'otp') return '123456';
    return given
      .replace(PEM, '-----BEGIN $1-----\nMIIB…\n-----END $1-----')
      .replace(/https?:\/\/(127\.0\.0\.1|localhost)(:\d+)?/g, 'https://fieldlake.example')
      .replace(/https?%3A%2F%2F(127\.0\.0\.1|localhost)(%3A\d+)?/g, 'https%3A%2F%2Ffieldlake.example')
      .replace(/localhost:\d+/g, 'fieldlake.example:8883')
      .replace(/127\.0\.0\.1/g, '192.0.2.1')
      .replace(/(X-Amz-[A-Za-z]+|signature|token|state|code|code_challenge|nonce)=[^&"\s]+/g, '$1=example')
      .replace(/\b(flk|whsec)_[A-Za-z0-9_+/=-]+/g, '$1_…')
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, idOf)
      .replace(/\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b/g, (found) => HEX.slice(0, found.length))
      .replace(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, /^(to|expiresAt)$/.test(name) ? LATER : TIME)
      .replace(/[\w.+-]+@[\w.-]+\.\w+/g, (address) => `${address.split('@')[0]!.replace(/[^a-z].*$/i, '')}@example.org`);
  };
  const stable = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string') return text(value, name);
    if (Array.isArray(value)) return value.map((item) => stable(item, name));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [text(key, ''), stable(member, key)]));
  };
  return stable;
}

/** What a path says, by the names of its template. */
function pathValues(template: string, path: string): Record<string, string> {
  const words = path.split('/');
  return Object.fromEntries(
    template
      .split('/')
      .flatMap((word, index) => (word.startsWith('{') ? [[word.slice(1, -1), decodeURIComponent(words[index] ?? '')]] : [])),
  );
}

function exampleOf({ template, path, body, status, contentType, answered }: Seen): Example {
  const stable = stabiliser();
  const [bare = '', query = ''] = path.split('?');
  const parts = {
    path: pathValues(template, bare),
    query: Object.fromEntries(new URLSearchParams(query)),
    ...(body === undefined ? {} : { body }),
  };
  return {
    request: stable(parts) as Example['request'],
    response: { status, ...(answered === undefined ? {} : { contentType, body: stable(answered) }) },
  };
}

const kept = existsSync(KEPT) ? (JSON.parse(readFileSync(KEPT, 'utf8')) as Record<string, Example>) : {};
const seen = readFileSync(SEEN, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Seen);
const chosen = new Map<string, Example>();
const refused = new Map<string, string>();
/** An answer in JSON says most, where an operation has several; a place in a list and an empty body say least, and a question most. */
const scoreOf = ({ score, contentType, path, body }: Seen) =>
  score +
  (contentType === 'application/json' ? 500 : 0) +
  (path.includes('filters=') ? 2_000 : 0) -
  (path.includes('cursor=') ? 1_000 : 0) -
  (JSON.stringify(body) === '{}' ? 2_000 : 0);
for (const exchange of seen.sort((a, b) => scoreOf(b) - scoreOf(a))) {
  if (chosen.has(exchange.operationId)) continue;
  const example = exampleOf(exchange);
  const complaint = checkExample(exchange.operationId, example);
  if (complaint === null) chosen.set(exchange.operationId, example);
  else refused.set(exchange.operationId, complaint);
}
const all = Object.entries({ ...kept, ...Object.fromEntries(chosen) }).sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(KEPT, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
for (const [operationId, complaint] of refused) if (!chosen.has(operationId)) process.stderr.write(`${operationId}: ${complaint}\n`);
process.stdout.write(`${chosen.size} examples are new, ${all.length} in all\n`);
