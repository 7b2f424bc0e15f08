/** Names as long as they may be, without a space, on a phone. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../support/chromium.ts';
import { startConsole, type Console } from '../support/console.ts';
import { uploadTable } from '../support/uploads.ts';

const LONG = 'Nachtkerzengewaechs'.repeat(13);

let site: Console;
let owner: Visitor;
beforeAll(async () => {
  site = await startConsole();
  owner = await site.visitAs('owner', 'phone');
});
afterAll(() => site.stop());

async function make(path: string, body: object) {
  const made = await site.owner('POST', `/api/v1${path}`, { body });
  expect(made.status, made.text).toBeLessThan(300);
  return made.body as Record<string, string>;
}

test('no page is wider than the phone', async () => {
  const { page, complaints } = owner;
  // organizations are made by sessions, not by keys
  const data = { name: LONG, slug: 'l'.repeat(63) };
  const founded = await page.request.post(`${site.baseUrl}/api/v1/auth/organization/create`, { data, headers: { origin: site.baseUrl } });
  const organization = (await founded.json()) as { id: string };
  expect(founded.status(), organization.id).toBeLessThan(300);
  const { id = '' } = await make('/experiments', { name: LONG, description: LONG, organizationId: organization.id });
  const table = await uploadTable(site.owner, id, 'N'.repeat(63), `${'column'.repeat(10)},n\n${LONG},1\n`);
  const numbers = await uploadTable(site.owner, id, 'numbers', `${'column'.repeat(10)},n\n1,2\n3,5\n`);
  const dashboard = await make(`/experiments/${id}/dashboards`, { name: LONG, description: LONG });
  await make(`/experiments/${id}/locations`, { locations: [{ name: LONG, latitude: 1, longitude: 2, country: LONG.slice(0, 100) }] });
  const dataSources = [{ tableName: table, columnName: 'n', role: 'y' }];
  const chart = { name: LONG, chartFamily: 'statistical', chartType: 'histogram', config: {} };
  await make(`/experiments/${id}/visualizations`, { ...chart, dataConfig: { tableName: table, dataSources } });
  const macro = await make('/macros', { name: LONG, description: LONG, language: 'python', code: 'output = {}\n' });
  const device = await make('/devices', { serialNumber: 's'.repeat(100), deviceType: 'generic', name: LONG });
  const group = await make('/device-groups', { name: LONG, description: LONG });
  const user = site.sample.users.viewer.id;
  await make(`/experiment/${id}/collaborators`, { granteeType: 'user', granteeId: user, role: 'viewer' });
  await make('/invitations', { resourceType: 'experiment', resourceId: id, email: `${'a'.repeat(60)}@field.example`, tier: 'viewer' });
  const filters = encodeURIComponent(JSON.stringify([{ column: 'n', operator: 'equals', value: LONG }]));
  const wide: string[] = [];
  for (const at of [
    '/',
    `/?search=${LONG.slice(0, 200)}`,
    '/organizations',
    `/organizations/${organization.id}`,
    `/organizations/${organization.id}/settings`,
    ...['', '/uploads', '/charts', '/dashboards', `/dashboards/${dashboard['id']}`, '/exports', '/macros', '/workbook', '/metadata'].map(
      (part) => `/experiments/${id}${part}`,
    ),
    `/experiments/${id}/sharing`,
    `/experiments/${id}/settings`,
    `/experiments/${id}/tables/${table}`,
    `/experiments/${id}/tables/${table}/chart`,
    `/experiments/${id}/tables/${numbers}/chart`,
    `/experiments/${id}/tables/${table}/chart?filters=${filters}`,
    `/experiments/${id}/macros/${macro['id']}`,
    '/library/macros',
    `/library/macros/${macro['id']}`,
    `/library/macros/${macro['id']}/sharing`,
    '/devices',
    `/devices/${device['id']}`,
    '/devices/groups',
    `/devices/groups/${group['id']}`,
    '/account',
  ]) {
    await page.goto(site.baseUrl + at);
    await page.locator('main h1').first().waitFor();
    await page.getByText('One moment…').first().waitFor({ state: 'detached' });
    // names come with later answers; a page that keeps asking is never idle
    await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (width > 390) wide.push(`${at}: ${width}`);
  }
  expect(wide).toEqual([]);
  // the browser tells of the filter that is refused
  expect(complaints.filter((each) => !/status of 400/.test(each))).toEqual([]);
});

test('no page is wider than the phone with letters half as large again', async () => {
  const { page, complaints } = await site.copyOf(owner, 'phone');
  await page.addInitScript("addEventListener('DOMContentLoaded', () => { document.documentElement.style.fontSize = '24px'; })");
  const { experimentId, uploadTableId } = site.sample;
  for (const [at, button] of [
    [`/experiments/${experimentId}/tables/${uploadTableId}/chart`, 'Draw every row by itself'],
    [`/experiments/${experimentId}/settings`, 'Delete the experiment'],
  ] as const) {
    await page.goto(site.baseUrl + at);
    await page.getByRole('button', { name: button }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), at).toBeLessThanOrEqual(0);
  }
  expect(complaints).toEqual([]);
});
