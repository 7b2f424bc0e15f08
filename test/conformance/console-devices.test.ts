import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { messageOf } from '../../scripts/devices/messages.ts';
import { launchChromium, looksRight, openVisitor } from '../support/chromium.ts';
import { startConsoleSite, type ConsoleSite } from '../support/console-site.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
/** Refusals that tests bring about; and a page asks again and again, perhaps once more while what it shows is removed. */
const EXPECTED = /409 \(Conflict\)|412 \(Precond|ERR_|404 \(Not Found\) \S+\/device(-group)?s\//;

interface Bundle {
  certificatePem: string;
  privateKey: string;
  /** Only in what the console makes. */
  authorityPem?: string;
}

let browser: Browser;
let site: ConsoleSite;
beforeAll(async () => {
  browser = await launchChromium();
  site = await startConsoleSite();
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});

const at = (path: string) => `${site.server.baseUrl}${path}`;
const idIn = (page: Page) => /devices\/([\w-]{36})/.exec(page.url())![1]!;
const call = async (method: string, path: string, body?: object) => {
  const answer = await site.owner(method, `/api/v1${path}`, body === undefined ? {} : { body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body as unknown as Record<string, never>;
};

/** Measurements of a device that are counted by now: its messages are stored one after the other. */
const countMeasured = async (id: string): Promise<number> => {
  const [from, to] = [-7, 1].map((days) => encodeURIComponent(new Date(Date.now() + days * 86_400_000).toISOString()));
  const { throughput } = (await call('GET', `/devices/${id}/monitoring?from=${from}&to=${to}&bucket=day`)) as unknown as {
    throughput: { count: number }[];
  };
  return throughput.reduce((sum, { count }) => sum + count, 0);
};

/** Connects as an instrument does, with what was handed out for it. */
const connectAs = ({ certificatePem, privateKey, authorityPem }: Bundle, thingName: string, endpoint: string) =>
  connectAsync(`mqtts://${endpoint}`, {
    clientId: thingName,
    cert: certificatePem,
    key: privateKey,
    ca: authorityPem ?? readFileSync(join(site.dataDir, 'iot', 'ca.pem'), 'utf8'),
    reconnectPeriod: 0,
  });

/** A registered device with a certificate and measurements, made without the console. */
async function makeDevice(serialNumber: string, name: string, place: { latitude: number; longitude: number }): Promise<string> {
  const device = (await call('POST', '/devices', {
    serialNumber,
    deviceType: 'multispeq',
    name,
    organizationId: site.organizationId,
  })) as unknown as {
    id: string;
    thingName: string;
  };
  const bundle = (await call('POST', `/devices/${device.id}/credentials`, {})) as unknown as Bundle;
  const config = (await call('POST', `/devices/${device.id}/onboard`, { experimentIds: [site.experimentId] })) as unknown as {
    endpoint: string;
    experiments: { topicPrefix: string }[];
  };
  const messages = Array.from({ length: 3 }, (_, n) => ({
    ...messageOf({ instrument: 'multispeq', serialNumber, name }, n, `${serialNumber}-${n}`, new Date(Date.now() - n * 3_600_000)).body,
    ...place,
    device_firmware: '1.2.0',
    device_battery: 60 + n * 10,
  }));
  const client = await connectAs(bundle, device.thingName, config.endpoint);
  for (const message of messages)
    await client.publishAsync(`${config.experiments[0]!.topicPrefix}/2.0/leaf`, JSON.stringify(message), { qos: 1 });
  await client.endAsync();
  return device.id;
}

test('registers an instrument, certifies and binds it, and sees what it measures', async () => {
  const { page, complaints, context } = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(page, 'stranger@leaf-lab.example');
  await page.getByRole('link', { name: 'Devices', exact: true }).click();
  await page.getByRole('heading', { name: 'No device yet' }).waitFor();
  await looksRight(page, 'devices-empty-desk');
  await context.clearCookies();
  await site.openAsOwner(page);
  await page.getByRole('link', { name: 'Devices', exact: true }).click();
  await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor();

  // a serial number that is taken is refused, and what was typed stays
  await call('POST', '/devices', { serialNumber: 'E8:4B:00:01', deviceType: 'multispeq', organizationId: site.organizationId });
  await page.getByRole('link', { name: 'Register a device' }).first().click();
  await page.getByLabel('Serial number', { exact: true }).fill('E8:4B:00:01');
  await page.getByLabel('Name', { exact: true }).fill('Blue');
  await page.getByLabel('Belongs to').selectOption(site.organizationId);
  await page.getByRole('button', { name: 'Register the device' }).click();
  await page
    .getByRole('alert')
    .getByText(/E8:4B:00:01|registered/)
    .first()
    .waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Blue');
  await looksRight(page, 'devices-register-desk');
  await page.getByLabel('Serial number', { exact: true }).fill('E8:4B:00:02');
  await page.getByRole('button', { name: 'Register the device' }).click();
  await page.getByRole('heading', { name: 'Blue', level: 1 }).waitFor();
  const id = idIn(page);

  // its certificate is shown once: who would leave without it is asked
  await page.getByText('A device is bound once it has a certificate.').waitFor();
  const connect = page.getByRole('region', { name: 'Connect' });
  await connect.getByText(/needs a certificate/).waitFor();
  await connect.getByText(/needs an experiment/).waitFor();
  await page.getByRole('button', { name: 'Get a certificate' }).click();
  await page.getByText(/shown once and kept nowhere/).waitFor();
  await page.getByRole('link', { name: 'All devices' }).click();
  await page.getByRole('alertdialog', { name: 'The certificate is not downloaded' }).waitFor();
  await page.getByRole('button', { name: 'Stay here' }).click();
  // the bundle names where to publish once the device is bound, and says so before
  const noTopic = page.getByText('bind it on this page first');
  await noTopic.waitFor();
  await looksRight(page, 'device-certified-desk');
  await page.getByLabel('Experiment', { exact: true }).selectOption(site.experimentId);
  await page.getByRole('button', { name: 'Bind', exact: true }).click();
  await noTopic.waitFor({ state: 'detached' });
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download the bundle' }).click()]);
  type Whole = Bundle & { thingName: string; host: string; port: number; topics: string[] };
  const bundle = JSON.parse(readFileSync(await download.path(), 'utf8')) as Whole;
  expect(bundle.privateKey).toContain('PRIVATE KEY');
  expect(bundle.topics).toEqual([await connect.getByText(/\{sensor\}$/).textContent()]);

  // bound, it may publish with what was downloaded, and the page shows what arrives;
  // what to connect to and where to publish stands there also after a reload
  await connect.getByText(/\{sensor\}$/).waitFor();
  await page.reload();
  const told = (name: string) => connect.locator('dt', { hasText: name }).locator('+ dd').textContent();
  const topic = /^(\S+)\/\{version/.exec((await connect.getByText(/\{sensor\}$/).textContent())!)![1]!;
  expect(await connect.getByText(/needs/).count()).toBe(0);
  expect([bundle.thingName, bundle.host, String(bundle.port)]).toEqual([
    await told('MQTT client id'),
    await told('Host'),
    await told('Port'),
  ]);
  const [authority] = await Promise.all([page.waitForEvent('download'), connect.getByRole('link', { name: 'Download ca.pem' }).click()]);
  expect(authority.suggestedFilename()).toBe('ca.pem');
  expect(readFileSync(await authority.path(), 'utf8')).toBe(bundle.authorityPem);
  await looksRight(page, 'device-connect-desk');
  const messages = Array.from({ length: 5 }, (_, n) => ({
    ...messageOf(
      { instrument: 'multispeq', serialNumber: 'E8:4B:00:02', name: 'Blue' },
      n,
      `blue-${n}`,
      new Date(Date.now() - n * 7_200_000),
    ).body,
    device_firmware: n < 2 ? '2.1' : '2.0',
    latitude: 51.9851,
    longitude: 5.6641,
  }));
  const client = await connectAs(bundle, bundle.thingName, `${bundle.host}:${bundle.port}`);
  for (const message of messages) await client.publishAsync(`${topic}/2.0/leaf`, JSON.stringify(message), { qos: 1 });
  await expect.poll(() => countMeasured(id), { timeout: 90_000 }).toBe(5);
  await page.reload();
  await page.getByText('connected', { exact: true }).first().waitFor();
  await page.locator('.drawing svg').waitFor();
  await page.getByText('5', { exact: true }).first().waitFor();
  const recent = page.getByRole('region', { name: 'Last data' });
  await expect.poll(() => recent.getByRole('listitem').count()).toBe(5);
  await recent.getByText('What was measured').first().click();
  await recent.locator('pre').first().waitFor();
  await page.getByRole('region', { name: 'Connections' }).getByText('connected', { exact: true }).waitFor();
  // the newest first
  const ran = page.getByRole('region', { name: 'Firmware' }).getByRole('listitem');
  expect(await ran.locator('.serial').allTextContents()).toEqual(['2.1', '2.0']);
  expect(await ran.locator('.number').allTextContents()).toEqual(['2 measurements', '3 measurements']);
  await looksRight(page, 'device-desk');
  await page.getByRole('link', { name: 'a month' }).click();
  await page.waitForURL(/days=31/);

  // a rotated certificate ends the old connection; a revoked one cuts the device off
  await page.getByRole('button', { name: 'Replace it' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  const gone = new Promise<void>((resolve) => client.once('close', () => resolve()));
  await page.getByRole('button', { name: 'Revoke it' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke it' }).click();
  await page.getByText('The certificate is revoked.').waitFor();
  await gone;
  await page.getByRole('button', { name: 'Get a certificate' }).click();
  await page.getByText(/shown once and kept nowhere/).waitFor();
  await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Only the private key' }).click()]);
  await page.getByRole('button', { name: 'Replace it' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Replace it' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Replace it' }).waitFor({ state: 'detached' });
  await page.getByText(/shown once and kept nowhere/).waitFor();
  await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download the bundle' }).click()]);

  // a change of somebody else is not overwritten, and what was typed stays
  await page.reload();
  await page.getByLabel('Name', { exact: true }).fill('Mine');
  await call('PATCH', `/devices/${id}`, { name: HOSTILE });
  await page.getByRole('button', { name: 'Rename' }).click();
  await page
    .getByRole('alert')
    .getByText(/Somebody changed this while you edited it/)
    .waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Mine');
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Rename' }).click();
  await page
    .getByRole('alert')
    .getByText(/cannot be reached/)
    .waitFor();
  await context.setOffline(false);
  await page.reload();
  await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Blue');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByText('The device has its new name.').waitFor();

  // taken off the experiment by who contributes to it, then removed
  await page.getByRole('button', { name: /^Take off/ }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Take off' }).click();
  await page.getByText(/bound to no experiment/).waitFor();
  await page.getByRole('button', { name: 'Remove the device' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove the device' }).click();
  await page.getByText('The device is removed.').waitFor();
  await page.waitForURL(/\/devices$/);
  expect(complaints).toEqual([]);
  await context.close();
});

test('shows the fleet as a list and on a map, filtered by the address', async () => {
  const made = [
    await makeDevice('E8:4B:00:11', 'Wageningen', { latitude: 51.986, longitude: 5.664 }),
    await makeDevice('E8:4B:00:12', HOSTILE, { latitude: 51.9853, longitude: 5.6644 }),
    await makeDevice('E8:4B:00:13', 'Berlin', { latitude: 52.46, longitude: 13.3 }),
  ];
  for (const id of made) await expect.poll(() => countMeasured(id), { timeout: 90_000 }).toBe(3);
  for (const size of ['desk', 'phone'] as const) {
    const { page, complaints, context } = await openVisitor(browser, size);
    await site.signIn(page, 'owner@leaf-lab.example');
    if (size === 'phone') {
      await page.getByRole('button', { name: /your account/ }).click();
      await page.getByRole('menuitem', { name: 'Devices' }).click();
    } else await page.getByRole('link', { name: 'Devices', exact: true }).click();
    await page.getByRole('listitem').filter({ hasText: 'Berlin' }).getByText('3 measurements in a week').waitFor();
    await page.getByRole('link', { name: HOSTILE }).waitFor();
    await looksRight(page, `devices-${size}`);
    await page.getByRole('link', { name: 'Map', exact: true }).click();
    await page.locator('.map .drawing svg').waitFor();
    expect(await page.locator('.map .mark-symbol path').count()).toBe(2);
    expect(await page.locator('.map .mark-shape path').count()).toBeGreaterThan(150);
    await looksRight(page, `devices-map-${size}`);
    expect(new URL(page.url()).searchParams.get('view')).toBe('map');

    // by keyboard alone: look a device up, open it
    await page.goto(at('/devices'));
    await page.getByLabel('Name or serial number').focus();
    await page.keyboard.type('berl');
    await page.keyboard.press('Enter');
    await page.waitForURL(/search=berl/);
    expect(await page.getByLabel('Search experiments').inputValue()).toBe('');
    await page.getByText('1 device', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Berlin' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Berlin', level: 1 }).waitFor();
    await page.locator('.drawing svg').waitFor();
    await looksRight(page, `device-look-up-${size}`);
    await page.goto(at('/devices?search=nothing&type=ambyte'));
    await page.getByText('Nothing fits').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  }
});

test('a viewer sees no control, and who loses the right is told so', async () => {
  const { id } = (await call('POST', '/devices', { serialNumber: 'E8:4B:00:21', deviceType: 'ambyte', name: 'Shared' })) as unknown as {
    id: string;
  };
  const { page, context } = await openVisitor(browser, 'phone');
  await site.signIn(page, 'viewer@leaf-lab.example');
  const { user } = await page.evaluate(async () => (await (await fetch('/api/v1/auth/get-session')).json()) as { user: { id: string } });
  const grant = (role: string) => call('POST', `/device/${id}/collaborators`, { granteeType: 'user', granteeId: user.id, role });
  await grant('admin');
  await page.goto(at(`/devices/${id}`));
  await page.getByLabel('Name', { exact: true }).fill('Mine now');
  await grant('viewer');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page
    .getByRole('alert')
    .getByText(/Ask somebody who manages it/)
    .waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Mine now');
  await page.reload();
  await page.getByText('It has none, so it cannot connect.').waitFor();
  expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
  expect(await page.getByRole('main').getByRole('textbox').count()).toBe(0);
  await looksRight(page, 'device-viewer-phone');
  await context.close();
});

test('groups devices, and does to all of them what is done to one', async () => {
  const { page, complaints, context } = await openVisitor(browser, 'desk', EXPECTED);
  await site.signIn(page, 'owner@leaf-lab.example');
  await page.goto(at('/devices/new'));
  await page.getByLabel('Serial number', { exact: true }).fill('F0:01\nF0:02\nE8:4B:00:11');
  await page.getByLabel('Type').selectOption('multispeq');
  await page.getByLabel('Group for them').fill('North field');
  await page.getByRole('button', { name: 'Register 3 devices' }).click();
  await page
    .getByRole('alert')
    .getByText(/E8:4B:00:11: /)
    .waitFor();
  expect(await page.getByLabel('Serial number', { exact: true }).inputValue()).toContain('F0:02');
  await page.goto(at('/devices/groups'));
  await looksRight(page, 'device-groups-desk');
  await page.getByLabel('Name', { exact: true }).fill('South field');
  await page.getByRole('button', { name: 'Make the group' }).click();
  await page.getByText('The group is made.').waitFor();
  await page.getByRole('link', { name: 'North field' }).click();
  await page.getByRole('heading', { name: 'Its devices' }).waitFor();
  await page.getByLabel('Device to add').selectOption({ label: 'Berlin' });
  await page.getByRole('button', { name: 'Add a device' }).click();
  await page.getByText('The device is in the group.').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Berlin' }).getByText('3 measurements in a week').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Berlin' }).getByText('Firmware 1.2.0').waitFor();
  await page.getByRole('link', { name: 'Berlin' }).click();
  const glance = page.getByRole('region', { name: 'At a glance' });
  await glance.getByText('1.2.0').waitFor();
  // the battery is that of the newest measurement, and no mean
  expect(await glance.innerText()).toMatch(/Battery\s+60\s/);
  await page.goBack();

  // one of them has a certificate already: the other two get theirs
  await page.getByRole('button', { name: 'Get certificates' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Get certificates' }).click();
  await page.getByText('2 done, 1 refused.').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download the bundle' }).click()]);
  expect((JSON.parse(readFileSync(await download.path(), 'utf8')) as object[]).length).toBe(2);
  await looksRight(page, 'device-group-desk');
  await page.getByLabel('Experiment', { exact: true }).selectOption(site.experimentId);
  await page.getByRole('button', { name: 'Bind all' }).click();
  await page.getByText('3 done, 0 refused.').waitFor();
  await page.getByRole('button', { name: 'Replace certificates' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Replace certificates' }).click();
  await page.getByRole('button', { name: 'Download the bundle' }).click();
  await page.getByRole('button', { name: 'Revoke certificates' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke certificates' }).click();
  await page.getByRole('listitem').filter({ hasText: 'F0:01' }).getByText('certificate revoked').waitFor();
  await page.getByRole('button', { name: 'Take out F0:02' }).click();
  await page.getByText('2 devices', { exact: true }).waitFor();

  // what somebody else changed is not overwritten
  const group = /groups\/([\w-]{36})/.exec(page.url())![1]!;
  await page.getByLabel('Name', { exact: true }).fill('Mine');
  await call('PATCH', `/device-groups/${group}`, { description: 'theirs' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('alert')
    .getByText(/Somebody changed this while you edited it/)
    .waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Mine');
  await page.getByRole('button', { name: 'Save mine over it' }).click();
  await page.getByText('The group is changed.').waitFor();
  expect(await call('GET', `/device-groups/${group}`)).toMatchObject({ name: 'Mine' });
  await page.getByRole('button', { name: 'Delete the group' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the group' }).click();
  await page.getByText('The group is deleted.').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
