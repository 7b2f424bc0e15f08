import { createHmac, hash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import pg from 'pg';
import { Authenticator } from '../support/authenticator.ts';
import { Browser, signIn } from '../support/browser.ts';
import { nextCode } from '../support/outbox.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '100000' });
});
afterAll(() => site.stop());

/** Every value of every row of every table, as text, jobs included. */
async function dump(): Promise<Map<string, string[]>> {
  const client = new pg.Client({ connectionString: site.database.url });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    "select format('%I.%I', table_schema, table_name) as name from information_schema.tables where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')",
  );
  const found = new Map<string, string[]>();
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from ${name} t`);
    found.set(
      name,
      rows.flatMap(({ row }) => Object.values(row).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))),
    );
  }
  await client.end();
  return found;
}

/** A value as a thief might present it: as it is, and as the bytes that its hex stands for. */
function spellings(value: string): string[] {
  const bytes = /^\\x([0-9a-f]+)$/.exec(value)?.[1];
  if (bytes === undefined) return [value];
  const buffer = Buffer.from(bytes, 'hex');
  return [value, bytes, buffer.toString('base64url'), buffer.toString('base64'), buffer.toString('latin1')];
}

test('nothing in a full dump of the database signs in', async () => {
  const address = 'victim@example.com';
  const victim = await signIn(site, address);
  const { key } = (await victim.call('POST', '/api/v1/auth/api-key/create', { name: 'mine' })).body as { key: string };
  const authenticator = new Authenticator(site.server.baseUrl.replace('127.0.0.1', 'localhost'));
  const made = authenticator.create((await victim.call('GET', '/api/v1/auth/passkey/generate-register-options')).body);
  expect((await victim.call('POST', '/api/v1/auth/passkey/verify-registration', { response: made })).status).toBe(200);
  // a ceremony and a code that are open
  const thief = new Browser(site.server.baseUrl);
  const asked = (await thief.call('GET', '/api/v1/auth/passkey/generate-authenticate-options')).body as { challenge: string };
  await thief.call('POST', '/api/v1/auth/email-otp/send-verification-otp', { email: address, type: 'sign-in' });
  const code = await nextCode(site, address, 1);
  const token = victim.cookies.get('fieldlake.session_token')!;
  const browserId = victim.cookies.get('fieldlake.browser')!.split('.')[0]!;

  const tables = await dump();
  expect([...tables.keys()]).toEqual(
    expect.arrayContaining(['public.sessions', 'public.api_keys', 'public.sign_in_codes', 'public.passkeys', 'pgboss.job_common']),
  );
  const values = [...tables.values()].flat();
  for (const secret of [token, key, asked.challenge, browserId, (await site.context()).config.secret.toString('hex')])
    expect(values.filter((value) => value.includes(secret))).toEqual([]);
  // the code stands nowhere as a value of its own; a six-digit run inside a digest is chance
  expect(values.filter((value) => new RegExp(`(^|[^0-9a-f])${code}([^0-9a-f]|$)`).test(value) && !/^\d{4}-\d\d-\d\dT/.test(value))).toEqual(
    [],
  );

  const identities = [
    'public.sessions',
    'public.api_keys',
    'public.sign_in_codes',
    'public.known_browsers',
    'public.ceremonies',
    'public.passkeys',
    'public.budgets',
  ];
  const candidates = new Set(
    identities.flatMap((name) => (tables.get(name) ?? []).flatMap(spellings)).filter((value) => /^[\x21-\x7e]{4,}$/.test(value)),
  );
  expect(candidates.size).toBeGreaterThan(20);
  const statusOf = async (headers: Record<string, string>) =>
    (await fetch(`${site.server.baseUrl}/api/v1/experiments`, { headers })).status;
  expect(await statusOf({ cookie: `fieldlake.session_token=${token}` })).toBe(200);
  expect(await statusOf({ 'x-api-key': key })).toBe(200);
  for (const value of candidates) {
    if (!/[;,"\\]/.test(value)) expect(await statusOf({ cookie: `fieldlake.session_token=${value}` })).toBe(401);
    expect([401, 403]).toContain(await statusOf({ 'x-api-key': value }));
    expect([401, 403]).toContain(await statusOf({ 'x-api-key': `flk_${value}` }));
  }
});

test('all million codes, tried against the dumped rows, give nothing', async () => {
  const address = 'guess@example.com';
  const browser = new Browser(site.server.baseUrl);
  await browser.call('POST', '/api/v1/auth/email-otp/send-verification-otp', { email: address, type: 'sign-in' });
  const code = await nextCode(site, address, 0);
  const client = new pg.Client({ connectionString: site.database.url });
  await client.connect();
  const { rows } = await client.query<{ digest: Buffer; salt: Buffer; browser: Buffer }>(
    'select digest, salt, browser from sign_in_codes where address = $1',
    [address],
  );
  await client.end();
  const [row] = rows;
  const salt = row!.salt.toString('hex');
  // whoever knows how digests are made, and has every byte of the row, but not the key
  const digest = row!.digest.toString('hex');
  const guesses = (given: string) => [
    hash('sha256', given),
    createHmac('sha256', row!.salt).update(given).digest('hex'),
    createHmac('sha256', Buffer.alloc(32)).update(`${address}\n\n${salt}\n${given}`).digest('hex'),
  ];
  let hits = 0;
  for (let number = 0; number < 1_000_000; number += 1) {
    const given = String(number).padStart(6, '0');
    if (hash('sha256', `${address}\n\n${salt}\n${given}`) === digest) hits += 1;
    // the real code among them, and the slower spellings for a sample
    if (given === code || number % 100 === 0) hits += guesses(given).filter((guess) => guess === digest).length;
  }
  expect(hits).toBe(0);
  expect((await browser.call('POST', '/api/v1/auth/sign-in/email-otp', { email: address, otp: code })).status).toBe(200);
});
