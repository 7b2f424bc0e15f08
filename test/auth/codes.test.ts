import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createUser } from '../../src/api/account/account.service.ts';
import { cutAddress } from '../../src/auth/budgets.ts';
import { sql } from '../../src/database/sql.ts';
import { Authenticator } from '../support/authenticator.ts';
import { Browser, signIn } from '../support/browser.ts';
import { lettersTo, nextCode, nextLetter } from '../support/outbox.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '100000', TRUST_PROXY_HOPS: '1' });
});
afterAll(() => site.stop());

const SEND = '/api/v1/auth/email-otp/send-verification-otp';
const ENTER = '/api/v1/auth/sign-in/email-otp';
const fresh = () => new Browser(site.server.baseUrl);
const send = (browser: Browser, email: string, headers: Record<string, string> = {}) =>
  browser.call('POST', SEND, { email, type: 'sign-in' }, headers);
const enter = (browser: Browser, email: string, otp: string, headers: Record<string, string> = {}) =>
  browser.call('POST', ENTER, { email, otp }, headers);

async function codeFor(email: string, browser = fresh()): Promise<string> {
  const had = lettersTo(site, email).length;
  expect((await send(browser, email)).status).toBe(200);
  return nextCode(site, email, had);
}
const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

let serial = 0;
const address = () => `code${(serial += 1)}@example.com`;

describe('a one-time code', () => {
  test('works once, at its address only', async () => {
    const email = address();
    const code = await codeFor(email.toUpperCase());
    expect((await enter(fresh(), address(), code)).body.code).toBe('INVALID_OTP');
    expect(await enter(fresh(), ` ${email} `, code)).toMatchObject({ status: 200, body: { user: { email, emailVerified: true } } });
    expect(await enter(fresh(), email, code)).toMatchObject({ status: 400, body: { code: 'INVALID_OTP', message: expect.any(String) } });
  });

  test('dies after three wrong tries, and after five minutes', async () => {
    const email = address();
    const code = await codeFor(email);
    for (let tries = 0; tries < 3; tries += 1) expect((await enter(fresh(), email, other(code))).body.code).toBe('INVALID_OTP');
    expect(await enter(fresh(), email, code)).toMatchObject({ status: 403, body: { code: 'TOO_MANY_ATTEMPTS' } });
    expect((await enter(fresh(), email, code)).body.code).toBe('INVALID_OTP');
    const late = await codeFor(email);
    await site.database.db.run(sql('t')`update sign_in_codes set expires_at = now() where address = ${email}`);
    expect((await enter(fresh(), email, late)).body.code).toBe('OTP_EXPIRED');
    expect((await enter(fresh(), email, late)).body.code).toBe('INVALID_OTP');
    const last = await codeFor(email);
    expect((await enter(fresh(), email, last)).status).toBe(200);
  });

  test('only the newest counts', async () => {
    const email = address();
    const first = await codeFor(email);
    const second = await codeFor(email);
    if (first !== second) expect((await enter(fresh(), email, first)).body.code).toBe('INVALID_OTP');
    expect((await enter(fresh(), email, second)).status).toBe(200);
  });

  test('guesses in parallel are counted one by one', async () => {
    const email = address();
    const code = await codeFor(email);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => enter(fresh(), email, String(index).padStart(6, '0'))));
    expect(answers.filter(({ body }) => body.code === 'INVALID_OTP').length).toBeGreaterThanOrEqual(3);
    expect((await enter(fresh(), email, code)).status).toBe(400);
    const [used] = await site.database.db.rows<{ used: number }>(
      sql('t')`select max(used) as used from budgets where kind = 'code-tries-day'`,
    );
    expect(used!.used).toBeLessThanOrEqual(20);
  });

  test('an address has a budget that resends and places do not reset, while its owner gets in by everything else', async () => {
    const email = address();
    const owner = await signIn(site, email);
    const authenticator = new Authenticator(site.server.baseUrl.replace('127.0.0.1', 'localhost'));
    const response = authenticator.create((await owner.call('GET', '/api/v1/auth/passkey/generate-register-options')).body);
    expect((await owner.call('POST', '/api/v1/auth/passkey/verify-registration', { response })).status).toBe(200);

    // an attacker with an address of the network for every request
    let tried = 0;
    let refused = 0;
    const from = () => ({ 'x-forwarded-for': `203.0.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}` });
    const attacker = fresh();
    for (let round = 0; round < 12; round += 1) {
      await site.database.db.run(sql('t')`delete from budgets where kind = 'code-sends'`);
      if ((await send(attacker, email, from())).status !== 200) refused += 1;
      for (let guess = 0; guess < 3; guess += 1) {
        const answer = await enter(attacker, email, '000000', from());
        if (answer.body.code === 'INVALID_OTP') tried += 1;
        if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(80_000);
      }
    }
    expect(tried).toBe(20);
    expect(refused).toBe(0);

    // the owner's own letter comes after all that the attacker caused
    await nextLetter(site, email, 12);
    const code = await codeFor(email, owner);
    await owner.call('POST', '/api/v1/auth/sign-out', {});
    expect((await enter(owner, email, code)).status).toBe(200);
    const options = (await owner.call('GET', '/api/v1/auth/passkey/generate-authenticate-options')).body;
    expect((await owner.call('POST', '/api/v1/auth/passkey/verify-authentication', { response: authenticator.get(options) })).status).toBe(
      200,
    );
    // a browser of somebody else is not a known one here
    const stranger = await signIn(site, address());
    await site.database.db.run(sql('t')`delete from budgets where kind = 'code-sends'`);
    await send(stranger, email);
    expect((await enter(stranger, email, '000000')).status).toBe(429);
  });

  test('at most five go to an address in ten minutes, and twenty a day, whatever is done with them', async () => {
    const email = address();
    for (let sent = 0; sent < 5; sent += 1) expect((await send(fresh(), email)).status).toBe(200);
    const refused = await send(fresh(), email);
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', message: expect.any(String) } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(500);
    for (let sent = 5; sent < 20; sent += 1) {
      await site.database.db.run(sql('t')`delete from budgets where kind = 'code-sends'`);
      expect((await send(fresh(), email)).status).toBe(200);
    }
    await site.database.db.run(sql('t')`delete from budgets where kind = 'code-sends'`);
    expect((await send(fresh(), email)).status).toBe(429);
  });

  test('are sent again once the clock of Postgres was set back by an hour', async () => {
    const email = address();
    for (let sent = 0; sent < 5; sent += 1) expect((await send(fresh(), email)).status).toBe(200);
    expect((await send(fresh(), email)).status).toBe(429);
    // as the budget stands once the clock was set back
    await site.database.db.run(sql('t')`update budgets set ends_at = ends_at + interval '1 hour' where kind = 'code-sends'`);
    expect((await send(fresh(), email)).status).toBe(200);
  });

  test('known and unknown addresses are answered alike', async () => {
    const known = address();
    await createUser(site.database.db, { email: known, firstName: 'Known', lastName: 'Person', verified: true });
    const unknown = address();
    const answersOf = async (email: string) => {
      const browser = fresh();
      const strip = ({ status, body }: { status: number; body: Record<string, unknown> }) => ({ status, body: { ...body, instance: '' } });
      const answers = [strip(await send(browser, email)), strip(await enter(browser, email, '12345'))];
      for (let wrong = 0; wrong < 4; wrong += 1) answers.push(strip(await enter(browser, email, '000000')));
      return answers;
    };
    expect(await answersOf(known)).toEqual(await answersOf(unknown));
  });

  test('what is not an address, or would be more than one, is refused', async () => {
    for (const email of [
      '',
      'nobody',
      'a@b',
      'a@@b.example',
      'a,b@c.example',
      'a b@c.example',
      '<a@b.example>',
      'a@b.example\r\nbcc: c@d.example',
      `${'x'.repeat(255)}@b.example`,
    ])
      expect((await send(fresh(), email)).status, email).toBe(400);
    expect((await fresh().call('POST', SEND, { email: 'a@b.example', type: 'forget-password' })).status).toBe(400);
    expect((await fresh().call('POST', SEND, { email: 'a@b.example' })).body.code).toBe('VALIDATION_ERROR');
  });

  test('proving an address ends the sessions of whoever held it unproven', async () => {
    const email = address();
    const { id } = await createUser(site.database.db, { email, firstName: 'Not', lastName: 'Proven', verified: false });
    await site.database.db.run(sql('t')`
      insert into sessions (id, user_id, token_hash, method, expires_at) values (gen_random_uuid(), ${id}, ${Buffer.alloc(32)}, 'email', now() + interval '1 day')`);
    const browser = await signIn(site, email);
    expect((await browser.call('GET', '/api/v1/auth/get-session')).body.user).toMatchObject({ id, emailVerified: true });
    expect((await browser.call('GET', '/api/v1/auth/list-sessions')).body).toHaveLength(1);
  });
});

describe('places', () => {
  test('are an IPv4 address or a /64 of IPv6', () => {
    expect(cutAddress('203.0.113.7')).toBe('203.0.113.7');
    expect(cutAddress('::ffff:203.0.113.7')).toBe('203.0.113.7');
    expect(cutAddress('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
    expect(cutAddress('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64');
    expect(cutAddress('2001:0db8:0001:0002::9')).toBe('2001:db8:1:2::/64');
    expect(cutAddress('::1')).toBe('0:0:0:0::/64');
    expect(cutAddress('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
  });

  test('have a budget of their own, which a forged X-Forwarded-For does not move', async () => {
    const [strict, behind] = await Promise.all([
      startTestServer({ SIGN_INS_PER_MINUTE: '5' }),
      startTestServer({ SIGN_INS_PER_MINUTE: '5', TRUST_PROXY_HOPS: '1' }),
    ]);
    const call = (index: number, headers: Record<string, string>) =>
      new Browser(strict.server.baseUrl).call('POST', SEND, { email: `forged${index}@example.com`, type: 'sign-in' }, headers);
    const statuses: number[] = [];
    for (let index = 0; index < 8; index += 1)
      statuses.push(
        (
          await call(index, {
            'x-forwarded-for': `198.51.100.${index}`,
            'x-real-ip': `198.51.100.${index}`,
            forwarded: `for=198.51.100.${index}`,
          })
        ).status,
      );
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    // behind one proxy, only what that proxy appended is believed
    const through: number[] = [];
    for (let index = 0; index < 8; index += 1)
      through.push(
        (
          await new Browser(behind.server.baseUrl).call(
            'POST',
            SEND,
            { email: `behind${index}@example.com`, type: 'sign-in' },
            { 'x-forwarded-for': `198.51.100.${index}, 203.0.113.9` },
          )
        ).status,
      );
    expect(through).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    await Promise.all([strict.stop(), behind.stop()]);
  });
});
