import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { makePerson } from '../support/cast.ts';
import { lettersTo, nextLetter } from '../support/outbox.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

/** The link of a letter, its soft line breaks taken out. */
const linkIn = (letter: string, act: 'confirm' | 'unsubscribe' = 'confirm'): string => {
  const plain = letter.replace(/=\r?\n/g, '').replaceAll('=3D', '=');
  const link = new RegExp(`/newsletter/${act}\\?token=[\\w-]+`).exec(plain)?.[0];
  if (link === undefined) throw new Error('the letter holds no link');
  return link;
};
const forgetBudgets = () => site.db.run(sql('test')`delete from budgets where kind like 'newsletter-%'`);

describe('the newsletter', () => {
  test('POST /api/v1/newsletter/subscribe asks by letter, and POST /api/v1/newsletter/confirm subscribes', async () => {
    const anybody = site.as(null);
    const person = await makePerson(site.db, 'subscriber');
    const me = site.as(person);
    expect((await me('GET', '/api/v1/newsletter/status')).body).toEqual({ status: 'none' });
    const asked = await anybody('POST', '/api/v1/newsletter/subscribe', { body: { email: ' Subscriber@Example.com ' } });
    expect(asked).toMatchObject({ status: 200, body: { success: true } });
    const letter = await nextLetter(site, 'subscriber@example.com', 0);
    expect((await me('GET', '/api/v1/newsletter/status')).body).toEqual({ status: 'pending' });
    expect((await anybody('GET', linkIn(letter), { headers: { accept: 'text/html' } })).status).toBe(200);
    // who only looks at the link has changed nothing
    expect((await me('GET', '/api/v1/newsletter/status')).body).toEqual({ status: 'pending' });
    const link = `/api/v1${linkIn(letter)}`;
    expect((await anybody('GET', link)).status).toBe(405);
    expect((await anybody('POST', link)).body).toEqual({ status: 'subscribed' });
    expect((await me('GET', '/api/v1/newsletter/status')).body).toEqual({ status: 'subscribed' });
    await anybody('POST', '/api/v1/newsletter/subscribe', { body: { email: 'subscriber@example.com' } });
    expect((await me('GET', '/api/v1/newsletter/status')).body).toEqual({ status: 'subscribed' });
    expect((await me('DELETE', '/api/v1/newsletter/subscription')).body).toEqual({ status: 'unsubscribed' });
    expect((await anybody('POST', link)).body).toEqual({ status: 'unsubscribed' });
    const forged = `${link.slice(0, -2)}${link.endsWith('AA') ? 'BB' : 'AA'}`;
    expect(await anybody('POST', forged)).toMatchObject({ status: 400, body: { code: 'NEWSLETTER_LINK_INVALID' } });
    expect(lettersTo(site, 'subscriber@example.com')).toHaveLength(1);
    await forgetBudgets();
  });

  test('POST /api/v1/newsletter/unsubscribe ends it from the letter, by its page and by one click', async () => {
    const anybody = site.as(null);
    const me = site.as(await makePerson(site.db, 'tired'));
    await anybody('POST', '/api/v1/newsletter/subscribe', { body: { email: 'tired@example.com' } });
    const letter = (await nextLetter(site, 'tired@example.com', 0)).replace(/=\r?\n/g, '').replaceAll('=3D', '=');
    expect(letter).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
    const oneClick = /^List-Unsubscribe:\s*<[^>]*?(\/api\/v1\/newsletter\/unsubscribe\?token=[\w-]+)>/m.exec(letter)?.[1] ?? '';
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const confirm = `/api/v1${linkIn(letter)}`;
    // a token is good for one thing only
    expect((await anybody('POST', oneClick.replace('unsubscribe?', 'confirm?'))).status).toBe(400);
    expect((await anybody('POST', confirm.replace('confirm?', 'unsubscribe?'))).status).toBe(400);
    const confirmed = await anybody('POST', confirm, { headers: form, body: '' });
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'subscribed' } });
    expect((await me('GET', '/api/v1/newsletter/status')).body).toEqual({ status: 'subscribed' });
    expect((await anybody('GET', linkIn(letter, 'unsubscribe'), { headers: { accept: 'text/html' } })).status).toBe(200);
    expect((await me('GET', '/api/v1/newsletter/status')).body).toEqual({ status: 'subscribed' });
    const left = await anybody('POST', oneClick, { headers: form, body: 'List-Unsubscribe=One-Click' });
    expect(left).toMatchObject({ status: 200, body: { status: 'unsubscribed' } });
    expect((await me('GET', '/api/v1/newsletter/status')).body).toEqual({ status: 'unsubscribed' });
    expect((await anybody('POST', confirm)).body).toEqual({ status: 'unsubscribed' });
    await forgetBudgets();
  });

  test('answers alike for every address, refuses what is none, and five a minute from one place', async () => {
    const anybody = site.as(null);
    expect((await anybody('POST', '/api/v1/newsletter/subscribe', { body: { email: 'not an address' } })).status).toBe(400);
    expect((await anybody('POST', '/api/v1/newsletter/subscribe', { body: {} })).status).toBe(400);
    const answers = [];
    for (let turn = 0; turn < 6; turn += 1)
      answers.push(await anybody('POST', '/api/v1/newsletter/subscribe', { body: { email: 'often@example.com' } }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(Number(answers[5]?.headers.get('retry-after'))).toBeGreaterThan(0);
    await nextLetter(site, 'often@example.com', 2);
    expect(lettersTo(site, 'often@example.com')).toHaveLength(3);
    await forgetBudgets();
  });

  test('POST /api/v1/newsletter/subscription subscribes a proven address at once, another by letter', async () => {
    const me = site.as(site.cast.viewer);
    expect((await me('POST', '/api/v1/newsletter/subscription')).body).toEqual({ status: 'subscribed' });
    const { db } = site;
    const unproven = await makePerson(db, 'unproven');
    await db.run(sql('test')`update users set email_verified = false where id = ${unproven.id}`);
    expect((await site.as(unproven)('POST', '/api/v1/newsletter/subscription')).body).toEqual({ status: 'pending' });
    await nextLetter(site, 'unproven@example.com', 0);
    expect((await site.as(null)('POST', '/api/v1/newsletter/subscription')).status).toBe(401);
    expect((await site.as(null)('GET', '/api/v1/newsletter/status')).status).toBe(401);
  });

  test('DELETE /api/v1/newsletter/subscription is no error for who never had one; a closed account leaves no address', async () => {
    const { db } = site;
    const person = await makePerson(db, 'leaving');
    expect(await site.as(person)('DELETE', '/api/v1/newsletter/subscription')).toMatchObject({
      status: 200,
      body: { status: 'unsubscribed' },
    });
    const count = () =>
      db.one<{ count: number }>(sql('test')`select count(*) as count from newsletter_subscribers where email = 'leaving@example.com'`);
    expect((await count())?.count).toBe(1);
    await db.run(
      sql('test')`update users set email = null, email_verified = false, image = null, deleted_at = now() where id = ${person.id}`,
    );
    expect((await count())?.count).toBe(0);
  });
});

describe('what is new', () => {
  test('GET /api/v1/whats-new/seen and POST /api/v1/whats-new/seen', async () => {
    const me = site.as(site.cast.member);
    expect((await me('GET', '/api/v1/whats-new/seen')).body).toEqual({ lastSeenAt: null });
    const seen = await me('POST', '/api/v1/whats-new/seen', { body: {} });
    expect(seen).toMatchObject({ status: 200, body: { lastSeenAt: expect.stringMatching(/Z$/) } });
    expect((await me('GET', '/api/v1/whats-new/seen')).body).toEqual(seen.body);
    await site.db.run(sql('test')`delete from profiles where user_id = ${site.cast.member.id}`);
    expect((await me('GET', '/api/v1/whats-new/seen')).status).toBe(404);
    expect((await site.as(null)('POST', '/api/v1/whats-new/seen')).status).toBe(401);
  });
});
