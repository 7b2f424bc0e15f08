/** Firmware that is published for a kind of device, on the page of a device: asked for once somebody wants to know. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksRight, type Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';

const release = (tag: string, more: object = {}) => ({
  tag_name: tag,
  name: null,
  draft: false,
  prerelease: false,
  published_at: '2026-01-02T12:04:05Z',
  html_url: `https://github.example/r/${tag}`,
  body_html: null,
  assets: [{ name: 'firmware.bin', size: 2_048, browser_download_url: `https://github.example/${tag}.bin` }],
  ...more,
});

let asked = 0;
let github: Server;
let site: Console;
let owner: Visitor;
beforeAll(async () => {
  github = createServer((_, response) => {
    asked += 1;
    response.end(JSON.stringify([release('v2.0.0-rc.1', { prerelease: true }), release('v1.10.0'), release('v1.9.0')]));
  });
  await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
  const { port } = github.address() as AddressInfo;
  site = await startConsole({ GITHUB_API_URL: `http://127.0.0.1:${port}`, FIRMWARE_AMBYTE_REPOSITORY: 'field/ambyte' });
  owner = await site.visitAs('owner');
});
afterAll(async () => {
  await site.stop();
  github.close();
});

const openPage = async (deviceType: string) => {
  const { body } = await site.owner('POST', '/api/v1/devices', { body: { serialNumber: `FW-${deviceType}`, deviceType } });
  await owner.page.goto(`${site.baseUrl}/devices/${String(body.id)}`);
  await owner.page.getByRole('heading', { name: 'Firmware' }).waitFor();
};

test('the releases of a kind are listed, the newest marked, with their files', async () => {
  const { page, complaints } = owner;
  await openPage('ambyte');
  const summary = page.getByText('Published firmware');
  await summary.waitFor();
  expect(asked).toBe(0);
  await summary.focus();
  await page.keyboard.press('Enter');
  const releases = page.getByRole('group').filter({ has: summary }).getByRole('listitem');
  await releases.nth(2).waitFor();
  expect(asked).toBe(1);
  expect((await releases.allInnerTexts()).map((text) => text.split(/\s+/).slice(0, 2))).toEqual([
    ['v2.0.0-rc.1', 'to'],
    ['v1.10.0', 'newest'],
    ['v1.9.0', expect.any(String)],
  ]);
  expect(await releases.nth(1).getByRole('link', { name: 'v1.10.0' }).getAttribute('href')).toBe('https://github.example/r/v1.10.0');
  expect(
    await releases
      .nth(1)
      .getByRole('link', { name: /^firmware\.bin/ })
      .getAttribute('href'),
  ).toBe('https://github.example/v1.10.0.bin');
  await looksRight(page, 'firmware-desk');
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  expect(complaints).toEqual([]);
});

test('a kind without any says so, and one that has no firmware of its own has no such list', async () => {
  const { page, complaints } = owner;
  const before = complaints.length;
  await openPage('minipar');
  await page.getByText('Published firmware').click();
  await page.getByText('No firmware is published for this kind of device.').waitFor();
  // the browser itself tells of an answer of 404
  expect(complaints.slice(before).filter((text) => !/404 \(Not Found\) \S+\/firmware\/minipar\//.test(text))).toEqual([]);
  await openPage('generic');
  expect(await page.getByText('Published firmware').count()).toBe(0);
});
