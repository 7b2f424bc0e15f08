/** What those who do not manage an anonymised experiment could learn of who is behind a pseudonym. */
import { afterAll, beforeAll, expect, test } from 'vitest';
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
const bind = async (as: Call, experimentId: string) => {
  made += 1;
  const device = (await as('POST', '/api/v1/devices', { body: { serialNumber: `SEEN-${made}`, deviceType: 'ambyte' } })).body;
  expect((await as('POST', `/api/v1/devices/${device.id}/credentials`)).status).toBe(201);
  expect((await as('POST', `/api/v1/devices/${device.id}/onboard`, { body: { experimentIds: [experimentId] } })).status).toBe(200);
  return device as { id: string };
};

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
