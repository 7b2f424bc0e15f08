/** What is new is told once, and the newsletter comes to whoever wants it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner');
});
afterAll(() => site.stop());

const lastSeen = async () => (await site.owner('GET', '/api/v1/whats-new/seen')).body.lastSeenAt as string | null;

test('the menu marks what is new until somebody has seen it', async () => {
  const { page, complaints } = owner;
  expect(await lastSeen()).toBe(null);
  await page.getByRole('button', { name: /your account/ }).click();
  const entry = page.getByRole('menuitem', { name: 'What is new' });
  await entry.getByText('new', { exact: true }).waitFor();
  await looksRight(page, 'news-marked-desk');
  await entry.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What is new' }).waitFor();
  const news = page.getByRole('region', { name: 'What is new' }).getByRole('listitem');
  await news.first().getByText('new', { exact: true }).waitFor();
  await expect.poll(lastSeen).not.toBe(null);
  await looksRight(page, 'news-desk');
  expect(await page.evaluate('document.title')).toBe('What is new · fieldlake');

  await page.reload();
  await news.first().waitFor();
  await page.getByRole('button', { name: /your account/ }).click();
  await entry.waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.getByText('new', { exact: true }).count()).toBe(0);
  expect(complaints).toEqual([]);

  const phone = await site.copyOf(owner, 'phone');
  await phone.page.goto(`${site.baseUrl}/news`);
  await phone.page.getByRole('listitem').first().waitFor();
  await looksRight(phone.page, 'news-phone');
  await phone.page.setViewportSize({ width: 360, height: 800 });
  expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  await phone.context.close();
});

test('news are there where the service does not say what was seen, and nothing is marked', async () => {
  const { page, complaints } = await site.copyOf(owner, 'desk');
  const problem = { title: 'Too many requests', status: 429, detail: 'There were too many requests.', code: 'RATE_LIMITED' };
  const headers = { 'content-type': 'application/problem+json', 'retry-after': '90' };
  const refused = page.waitForResponse(/whats-new\/seen/);
  await page.route('**/whats-new/seen', (route) => route.fulfill({ status: 429, headers, body: JSON.stringify(problem) }));
  await page.goto(`${site.baseUrl}/news`);
  expect((await refused).status()).toBe(429);
  await page.getByRole('listitem').first().waitFor();
  expect(await page.getByText('new', { exact: true }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('the newsletter is asked for and ended on the account page, by keyboard', async () => {
  const { page, complaints } = owner;
  await page.goto(`${site.baseUrl}/account`);
  const part = page.getByRole('region', { name: 'Newsletter' });
  await part.getByText('You are not subscribed.').waitFor();
  await part.getByRole('button', { name: 'Subscribe' }).press('Enter');
  await part.getByText('You are subscribed.').waitFor();
  expect((await site.owner('GET', '/api/v1/newsletter/status')).body).toEqual({ status: 'subscribed' });
  await part.scrollIntoViewIfNeeded();
  await looksRight(page, 'newsletter-desk');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Unsubscribe');
  await page.keyboard.press('Enter');
  await part.getByText('You are not subscribed any more.').waitFor();
  expect((await site.owner('GET', '/api/v1/newsletter/status')).body).toEqual({ status: 'unsubscribed' });
  await page.reload();
  await part.getByRole('button', { name: 'Subscribe' }).waitFor();
  expect(complaints).toEqual([]);
});
