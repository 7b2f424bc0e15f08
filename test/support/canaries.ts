import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

const BUILD = join(import.meta.dirname, '..', '..', 'build');
const LOGS = join(BUILD, 'test-logs');
const SECRETS = join(BUILD, 'test-secrets.txt');
const noted = new Set<string>();

/** Forgets what an earlier run noted and logged. */
export function forgetSecrets(folder = LOGS, secrets = SECRETS): void {
  rmSync(folder, { recursive: true, force: true });
  rmSync(secrets, { force: true });
  mkdirSync(folder, { recursive: true });
}

/** Settings of a server in a test: everything is logged, into a file that is searched when the run has ended. */
export const testLog = (): { LOG_LEVEL: string; LOG_FILE: string } => ({ LOG_LEVEL: 'debug', LOG_FILE: join(LOGS, `${randomUUID()}.log`) });

/** Remembers a secret that a test saw: a code, a cookie, a key, the signature of a URL. */
export function noteSecret(secret: string): void {
  if (noted.has(secret)) return;
  noted.add(secret);
  appendFileSync(SECRETS, `${secret}\n`);
}

const LONG = 24;
/** What the database holds opens nothing, and is no secret when a test tries it. */
const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** Remembers the keys and signed addresses that an answer holds. */
export function noteSecretsOf(text: string): void {
  for (const [, signature = ''] of text.matchAll(/[?&]signature=([\w%.~-]{24,})/g)) noteSecret(decodeURIComponent(signature));
  for (const [key] of text.matchAll(/\bflk?_[\w-]{24,}/g)) noteSecret(key);
}

/** Remembers what a request was sent with, and the cookies of its answer. */
export function noteCredentials(headers: Headers): void {
  const key = headers.get('x-api-key') ?? '';
  if (key.length >= LONG && !isId(key)) noteSecret(key);
  for (const cookie of [...(headers.get('cookie') ?? '').split(';'), ...headers.getSetCookie().map((each) => each.split(';')[0] ?? '')]) {
    const value = decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1).trim());
    if (value.length >= LONG && !isId(value)) noteSecret(value);
  }
}

interface Searched {
  secrets: number;
  lines: number;
  leaks: string[];
}

/** Every noted secret in every log line. A code of six digits counts where text could hold it, not as a bare number of the line. */
export function searchLogs(folder = LOGS, file = SECRETS): Searched {
  const secrets = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
  const searched: Searched = { secrets: secrets.size, lines: 0, leaks: [] };
  for (const name of readdirSync(folder))
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n')) {
      if (line === '') continue;
      searched.lines += 1;
      for (const token of line.replace(/(?<=":)\d+(\.\d+)?(?=[,}])/g, '').split(/[^\w.~+/=-]+|(?<=[?&]\w+)=/))
        if (secrets.has(token) || secrets.has(token.replace(/^.*[=/]/, ''))) searched.leaks.push(line.slice(0, 500));
    }
  return searched;
}
