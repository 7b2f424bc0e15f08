import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

const HOUR = 3_600_000;

/** An experiment and a device, and what monitoring tells of the last day of it. */
async function make(serialNumber: string) {
  const organizationId = site.cast.leafLab;
  const experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Field', organizationId } })).body.id as string;
  const { id, thingName } = (await owner('POST', '/api/v1/devices', { body: { serialNumber, deviceType: 'ambyte', organizationId } })).body;
  const send = (times: readonly string[]) =>
    storeMessages(site.db, [
      { experimentId, clientId: thingName, body: Buffer.from(JSON.stringify(times.map((timestamp, n) => ({ timestamp, sample: { n } })))) },
    ]);
  const query = { from: new Date(Date.now() - 24 * HOUR).toISOString(), to: new Date(Date.now() + 24 * HOUR).toISOString(), bucket: 'day' };
  const told = async () => {
    const { body } = await owner('GET', `/api/v1/devices/${id}/monitoring`, { query });
    const { devices } = (await owner('GET', '/api/v1/devices/monitoring', { query })).body;
    return {
      last: (await owner('GET', `/api/v1/devices/${id}/activity`)).body.lastDataAt,
      lastInFleet: devices.find((device: any) => device.deviceId === id).lastDataAt,
      recent: body.recentMeasurements.map(({ timestamp }: any) => timestamp),
    };
  };
  return { send, told };
}
const future = Array.from({ length: 60 }, (_, n) => `2099-01-01T00:${String(n).padStart(2, '0')}:00.000Z`);

test.each([false, true])(
  'a clock that was wrong once hides nothing of what is measured after it was set, sent together: %s',
  async (together) => {
    const { send, told } = await make(`WRONG-${together}`);
    const now = new Date(Math.floor(Date.now() / 1_000) * 1_000 - HOUR).toISOString();
    if (!together) {
      await send(future);
      // nothing else is known of it yet
      await expect.poll(told).toEqual({ last: future.at(-1), lastInFleet: future.at(-1), recent: [] });
    }
    await send(together ? [...future, now] : [now]);
    await expect.poll(told).toEqual({ last: now, lastInFleet: now, recent: [now] });
  },
);
