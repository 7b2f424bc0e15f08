import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putPresence } from '../../src/api/messages/measurements.queries.ts';
import { startSession } from '../../src/auth/sessions.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { launchChromium, looksRight, openVisitor } from '../support/chromium.ts';

let browser: Browser;
let site: BuiltSite;
beforeAll(async () => {
  browser = await launchChromium();
  site = await startBuiltSite();
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});

test('an experiment shows what arrived and was not stored, and why', async () => {
  const { owner, leafLab } = site.cast;
  const made = async (path: string, body: object) => (await site.owner('POST', `/api/v1/${path}`, { body })).body;
  const { id } = await made('experiments', { name: 'Field', organizationId: leafLab });
  const blue = await made('devices', { name: 'Blue', serialNumber: 'B-1', deviceType: 'multispeq', organizationId: leafLab });
  expect((await site.owner('POST', `/api/v1/devices/${blue.id}/credentials`, { body: {} })).status).toBe(201);
  expect((await site.owner('POST', `/api/v1/devices/${blue.id}/onboard`, { body: { experimentIds: [id] } })).status).toBe(200);
  const { token } = await startSession(site.db, { userId: owner.id, method: 'email', ipAddress: null, userAgent: null });
  const { context, page, complaints } = await openVisitor(browser);
  await context.addCookies([{ name: 'fieldlake.session_token', value: token, url: site.server.baseUrl }]);
  const panel = page.getByRole('region', { name: 'Not stored' });
  const send = (...payloads: object[]) =>
    storeMessages(
      site.db,
      payloads.map((payload) => ({ experimentId: id, clientId: blue.thingName, body: Buffer.from(JSON.stringify(payload)) })),
    );

  await send({ timestamp: '2026-05-01T10:00:00Z', sample: { n: 1 } });
  await page.goto(`${site.server.baseUrl}/experiments/${id}`);
  await page.getByRole('heading', { name: 'Raw Data' }).waitFor();
  expect(await panel.count()).toBe(0);

  await send({ sample: { n: 2 } }, { sample: { n: 3 } }, { timestamp: 'today', sample: { n: 4 } });
  await expect
    .poll(
      async () => {
        await page.reload();
        await page.getByRole('heading', { name: 'Raw Data' }).waitFor();
        await page.getByRole('link', { name: 'Blue' }).waitFor();
        return (await panel.count()) === 0 ? [] : panel.getByRole('listitem').allInnerTexts();
      },
      { timeout: 60_000 },
    )
    .toEqual([
      expect.stringMatching(/^No timestamp\s+2 measurements of Blue, the last /),
      expect.stringMatching(/^A timestamp that is no time/),
    ]);
  await looksRight(page, 'set-aside');

  // the page of the device says in words why its connection ended
  const event = { thingName: blue.thingName, at: new Date(), session: 's1', broker: 'b1' };
  await putPresence(site.db, { id: randomUUID(), ...event, eventType: 'connected', reason: null });
  await putPresence(site.db, { id: randomUUID(), ...event, eventType: 'disconnected', reason: 'FORBIDDEN_ACCESS' });
  await page.getByRole('link', { name: 'Blue' }).click();
  await page
    .getByRole('region', { name: 'Connections' })
    .getByText(/^refused: it did what it may not/)
    .waitFor();
  expect(complaints).toEqual([]);
});
