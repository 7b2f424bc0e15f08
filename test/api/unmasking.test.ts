/** What those who do not manage an anonymised experiment could learn of who is behind a pseudonym. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { grant } from '../support/cast.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
let viewer: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
  viewer = site.as(site.cast.viewer);
});
afterAll(() => site.stop());

const PSEUDONYM = /^Contributor-[0-9A-F]{16}$/;
/** An experiment to which the viewer contributes. */
const experiment = async (anonymizeContributors: boolean) => {
  const body = { name: 'Field', organizationId: site.cast.leafLab, anonymizeContributors };
  const id = (await owner('POST', '/api/v1/experiments', { body })).body.id as string;
  await grant(site.db, { id, type: 'experiment' }, { user: site.cast.viewer.id }, 'viewer');
  return id;
};
let made = 0;
/** A device that this person registered, and bound to the experiment. */
const bind = async (as: Call, experimentId: string, more: object = {}) => {
  made += 1;
  const device = (await as('POST', '/api/v1/devices', { body: { serialNumber: `SEEN-${made}`, deviceType: 'ambyte', ...more } })).body;
  expect((await as('POST', `/api/v1/devices/${device.id}/credentials`)).status).toBe(201);
  expect((await as('POST', `/api/v1/devices/${device.id}/onboard`, { body: { experimentIds: [experimentId] } })).status).toBe(200);
  return device as { id: string; thingName: string };
};
const send = (experimentId: string, clientId: string, namedId: string, n: number) => {
  const body = Buffer.from(JSON.stringify({ timestamp: `2026-05-01T10:0${n}:00Z`, sample: { n }, user_id: namedId }));
  return storeMessages(site.db, [{ experimentId, clientId, body }]);
};
const rowsOf = async (id: string) =>
  (await viewer('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'raw_data', orderBy: 'timestamp' } })).body[0].data
    .rows as any[];

// most of each is waiting, and each has an experiment of its own
test.concurrent('who bound a device is named by the pseudonym that its rows have', async ({ expect }) => {
  const [open, hidden] = [await experiment(false), await experiment(true)];
  const devicesOf = async (as: Call, id: string) => (await as('GET', `/api/v1/experiments/${id}/devices`)).body;
  await bind(owner, open);
  expect(await devicesOf(viewer, open)).toMatchObject([{ addedBy: site.cast.owner.id }]);

  const device = await bind(owner, hidden);
  expect(await devicesOf(viewer, hidden)).toMatchObject([{ device: { id: device.id }, addedBy: expect.stringMatching(PSEUDONYM) }]);
  expect(await devicesOf(owner, hidden)).toMatchObject([{ addedBy: site.cast.owner.id }]);
  await bind(viewer, hidden);
  expect(await devicesOf(viewer, hidden)).toMatchObject([{ addedBy: site.cast.viewer.id }, { addedBy: expect.stringMatching(PSEUDONYM) }]);
});

test.concurrent('a contributor learns no pseudonym by a device that sends in the name of others', async ({ expect }) => {
  const [open, hidden] = [await experiment(false), await experiment(true)];
  const [theirs, told] = [await bind(viewer, open), await bind(viewer, hidden)];
  await send(open, theirs.thingName, site.cast.member.id, 1);
  await expect.poll(() => rowsOf(open)).toMatchObject([{ contributor: { id: site.cast.member.id } }]);

  await send(hidden, told.thingName, site.cast.member.id, 1);
  await send(hidden, told.thingName, site.cast.viewer.id.toUpperCase(), 2);
  await expect.poll(async () => (await rowsOf(hidden)).map(({ device }) => device !== null)).toEqual([true, true]);
  const [another, own] = await rowsOf(hidden);
  expect(another).toMatchObject({ contributor: null, data: { n: 1 } });
  expect(own.contributor.id).toMatch(PSEUDONYM);
  expect(own.contributor.id).toBe(own.device.owner);
});

test.concurrent('a device that somebody bound who manages the experiment names whom it measured for', async ({ expect }) => {
  const id = await experiment(true);
  const device = await bind(owner, id, { organizationId: site.cast.leafLab });
  await send(id, device.thingName, site.cast.member.id, 1);
  const pseudonym = expect.stringMatching(PSEUDONYM);
  await expect.poll(() => rowsOf(id)).toMatchObject([{ contributor: { id: pseudonym }, device: { owner: pseudonym } }]);
  const [row] = await rowsOf(id);
  expect(row.contributor.id).not.toBe(row.device.owner);
});

test.concurrent('the device table does not say by which client somebody sent, since its id holds theirs', async ({ expect }) => {
  const id = await experiment(true);
  const { id: userId } = site.cast.member;
  await grant(site.db, { id, type: 'experiment' }, { user: userId }, 'viewer');
  const sent = (clientId: string, from: object, n: number) => {
    const body = Buffer.from(JSON.stringify({ timestamp: `2026-05-01T10:0${n}:00Z`, sample: { n }, device_id: `D${n}` }));
    return storeMessages(site.db, [{ experimentId: id, clientId, body, ...from }]);
  };
  await sent('ambyte_SEEN', {}, 1);
  await sent(`u-${userId}-phone`, { userId }, 2);
  const query = { tableName: 'device', columns: 'device_id,client_id', orderBy: 'device_id' };
  const read = async () => (await viewer('GET', `/api/v1/experiments/${id}/data`, { query })).body[0].data.rows;
  await expect.poll(read).toEqual([
    { device_id: 'D1', client_id: 'ambyte_SEEN' },
    { device_id: 'D2', client_id: null },
  ]);
});
