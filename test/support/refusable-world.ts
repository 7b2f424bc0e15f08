/** What has to be there for every control of the console that sends something to be seen, made by the API and by the people whom it concerns. */
import type { Page } from 'playwright-core';
import { expect, vi } from 'vitest';
import type { ConsoleSite } from './console-site.ts';
import type { Call } from './server.ts';
import { uploadTable } from './uploads.ts';

/** What addresses name in braces. */
export type Places = Readonly<Record<string, string>>;

const SOURCES = ['spad', 'leaf_temperature'].map((columnName, at) => ({ role: 'xy'[at]!, columnName }));

/** Sends from the page, as whoever is signed in there: accounts and organizations are managed by sessions. */
async function sendFrom(page: Page, path: string, body: object): Promise<{ id: string }> {
  const answer = await page.evaluate(
    async ([where, what]) => {
      const got = await fetch(`/api/v1${where}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: what });
      return { status: got.status, body: (await got.json()) as { id: string } };
    },
    [path, JSON.stringify(body)] as const,
  );
  expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body;
}

const senderOf =
  (call: Call) =>
  async (path: string, body: object = {}, method: 'POST' | 'PATCH' = 'POST') => {
    const made = await call(method, `/api/v1${path}`, { body });
    expect(made.status, `${path}: ${made.text}`).toBeLessThan(300);
    return made.body as { id: string } & Record<string, string>;
  };

async function makeDevices(send: ReturnType<typeof senderOf>, organizationId: string, experiment: string) {
  const make = async (serialNumber: string) => (await send('/devices', { serialNumber, deviceType: 'multispeq', organizationId })).id;
  const [device, newDevice, group] = [
    await make('BUSY-1'),
    await make('BUSY-2'),
    (await send('/device-groups', { name: 'Busy group' })).id,
  ];
  await send(`/devices/${device}/credentials`);
  await send(`/devices/${device}/onboard`, { experimentIds: [experiment] });
  await send(`/device-groups/${group}/devices`, { deviceIds: [device] });
  return { device, newDevice, group };
}

async function makeLibrary(send: ReturnType<typeof senderOf>, sample: string) {
  const macroOf = async (name: string, more: object = {}) =>
    (await send('/macros', { name, language: 'javascript', code: 'return {};', ...more })).id;
  const [macro, openMacro, runMacro] = [await macroOf('Busy macro'), await macroOf('Open macro'), await macroOf('Run macro')];
  await send(`/macros/${openMacro}/visibility`, { visibility: 'public' }, 'PATCH');
  const protocolOf = async (name: string) => (await send('/protocols', { name, family: 'generic', code: [{}] })).id;
  const [protocol, newProtocol] = [await protocolOf('Busy protocol'), await protocolOf('Unlinked')];
  await send(`/protocols/${protocol}/macros`, { macroIds: [macro] });
  await send(`/experiments/${sample}/macros/${runMacro}/run`, { onNew: true });
  const workbook = (await send('/workbooks', { name: 'Busy workbook' })).id;
  await send(`/experiments/${sample}/workbook/attach`, { workbookId: workbook });
  const cells = [{ id: 'note', type: 'markdown', content: 'Changed.' }];
  await send(`/workbooks/${workbook}`, { cells }, 'PATCH');
  await send(`/experiments/${sample}/workbook/upgrade`);
  await send(`/workbooks/${workbook}`, { cells: [] }, 'PATCH');
  return { macro, openMacro, runMacro, protocol, newProtocol, workbook };
}

interface People {
  owner: Page;
  stranger: Page;
  /** Id of a member of the sample's laboratory. */
  memberId: string;
  /** Where webhooks are called. */
  receiver: string;
}

async function makeOrganizations({ owner, stranger, memberId, receiver }: People, call: Call, organizationId: string) {
  const send = senderOf(call);
  const publicOne = async (name: string, slug: string) => {
    const { id } = await sendFrom(owner, '/auth/organization/create', { name, slug });
    await sendFrom(owner, '/auth/organization/update', { organizationId: id, data: { visibility: 'public' } });
    return id;
  };
  const openLab = await publicOne('Open Lab', 'open-lab');
  await publicOne('Wide Lab', 'wide-lab');
  await sendFrom(stranger, `/organizations/${openLab}/join-requests`, {});
  const invite = (email: string) => sendFrom(owner, '/auth/organization/invite-member', { email, role: 'member', organizationId });
  await invite('stranger@leaf-lab.example');
  await invite('invited@field.example');
  const team = await sendFrom(owner, '/auth/organization/create-team', { name: 'Busy team', organizationId });
  await sendFrom(owner, '/auth/organization/add-team-member', { organizationId, teamId: team.id, userId: memberId });
  const hooks = `/organizations/${organizationId}/webhooks`;
  const webhook = await send(hooks, { url: receiver, kinds: ['experiment.created'] });
  await send(`${hooks}/${webhook.id}/test`);
  await vi.waitUntil(async () => (await call('GET', `/api/v1${hooks}/${webhook.id}/deliveries`)).text.includes('"delivered"'), {
    timeout: 60_000,
  });
  return { lab: `/organizations/${organizationId}`, openLab: `/organizations/${openLab}`, webhook: webhook.id };
}

async function makeExperiments({ owner, stranger }: People, send: ReturnType<typeof senderOf>) {
  const of = async (name: string, more: object = {}) => (await send('/experiments', { name, ...more })).id;
  const [busy, open, closed] = [await of('Busy'), await of('Open', { visibility: 'public' }), await of('Closed')];
  await send(`/experiments/${closed}`, { status: 'archived' }, 'PATCH');
  await sendFrom(stranger, `/experiments/${open}/join-requests`, {});
  await sendFrom(owner, '/invitations', { resourceType: 'experiment', resourceId: busy, email: 'invited@field.example', tier: 'viewer' });
  const columns = [{ id: 'a', name: 'plot', type: 'string' }];
  const plots = { name: 'Busy plots', columns, rows: [], identifierColumnId: 'a', experimentQuestionId: 'plot' };
  const metadata = (await send(`/experiments/${busy}/metadata`, { metadata: plots })).metadataId!;
  const dashboard = (await send(`/experiments/${busy}/dashboards`, { name: 'Busy dashboard' })).id;
  return { busy, open: `/experiments/${open}`, closed: `/experiments/${closed}`, metadata, dashboard };
}

/** Uploads a file of which a record cannot be stored. */
async function uploadPartly(call: Call, uploads: string): Promise<string> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: 'partly' })) form.append(field, value);
  form.append('files', new Blob(['a,b\n1,2\n3\n4,5\n']), 'partly.csv');
  const uploadId = String((await call('POST', uploads, { body: form })).body.uploadId);
  await vi.waitUntil(async () => (await call('GET', `${uploads}/${uploadId}`)).body.status === 'partial', { timeout: 60_000 });
  return uploadId;
}

async function makeData(call: Call, send: ReturnType<typeof senderOf>, sample: string) {
  const under = `/experiments/${sample}`;
  const table = await uploadTable(call, sample, 'busy', 'spad,leaf_temperature\n1,2\n3,4\n');
  const { rows } = (
    (await call('GET', `/api/v1${under}/data`, { query: { tableName: table } })).body as [{ data: { rows: { id: string }[] } }]
  )[0].data;
  const row = rows[0]!.id;
  const annotation = { type: 'comment', content: { type: 'comment', text: 'Busy' } };
  await send(`${under}/data/annotations/bulk`, { tableName: table, rowIds: [row], annotation });
  await send(`${under}/data/exports`, { tableName: table, format: 'csv' });
  const dataConfig = { tableName: table, dataSources: SOURCES.map((source) => ({ tableName: table, ...source })) };
  const stored = await send(`${under}/visualizations`, {
    name: 'Busy chart',
    chartFamily: 'basic',
    chartType: 'scatter',
    config: {},
    dataConfig,
  });
  const uploads = `/api/v1${under}/data/uploads`;
  const listed = (await call('GET', uploads)).body as unknown as { uploads: { uploadId: string }[] };
  const upload = listed.uploads[0]!.uploadId;
  const chart = `${under}/tables/${table}/chart?type=scatter&sources=${encodeURIComponent(JSON.stringify(SOURCES))}`;
  return {
    table: `${under}/tables/${table}`,
    row: `${under}/tables/${table}?row=${row}`,
    chart,
    storedChart: `${chart}&saved=${stored.id}`,
    partialUpload: await uploadPartly(call, uploads),
    upload,
  };
}

/** Makes it all beside the sample. */
export async function makeRefusable(site: ConsoleSite, people: People): Promise<Places> {
  const send = senderOf(site.owner);
  const sample = site.experimentId;
  const experiments = await makeExperiments(people, send);
  return {
    ...experiments,
    experiment: `/experiments/${experiments.busy}`,
    sample: `/experiments/${sample}`,
    ...(await makeDevices(send, site.organizationId, experiments.busy)),
    ...(await makeLibrary(send, sample)),
    ...(await makeOrganizations(people, site.owner, site.organizationId)),
    ...(await makeData(site.owner, send, sample)),
  };
}
