/** Two processes with a broker each, over one Postgres and one data folder. */
import { connect, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { eventually } from '../support/crashes.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let first: ServerProcess;
let second: ServerProcess;
let owner: Person;
const clients: MqttClient[] = [];
beforeAll(async () => {
  site = await sharedSite();
  first = await spawnServer(site.environment);
  owner = await makePerson(site.database.db, 'owner');
});
afterAll(async () => {
  for (const client of clients) client.end(true);
  await Promise.all([first.kill('SIGKILL'), second.kill('SIGTERM')]);
  await site.remove();
});

async function ask(server: ServerProcess, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${server.baseUrl}/api/v1/${path}`, {
    method,
    headers: { 'x-api-key': owner.apiKey, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(response.status, `${method} ${path}`).toBeLessThan(300);
  return response.status === 204 ? undefined : response.json();
}

test('devices of both are taken in, and shown as connected until their broker is gone', async () => {
  const experiment = await ask(first, 'POST', 'experiments', { name: 'Two' });
  /** A device that connects to the broker of this process. */
  const join = async (server: ServerProcess, serialNumber: string) => {
    const { id, thingName } = await ask(server, 'POST', 'devices', { serialNumber, deviceType: 'multispeq' });
    const { certificatePem, privateKey } = await ask(server, 'POST', `devices/${id}/credentials`, {});
    const { endpoint } = await ask(server, 'POST', `devices/${id}/onboard`, { experimentIds: [experiment.id] });
    const client = connect(`mqtts://${endpoint}`, {
      clientId: thingName,
      key: privateKey,
      cert: certificatePem,
      rejectUnauthorized: false,
      reconnectPeriod: 0,
    });
    client.on('error', () => undefined);
    clients.push(client);
    await new Promise((resolve, reject) => {
      client.once('connect', resolve);
      client.once('close', reject);
    });
    return { client, thingName };
  };
  const seen = async () =>
    Object.fromEntries(
      (
        await site.database.db.rows<{ name: string; connected: boolean; reason: string | null }>(sql('test')`
          select p.thing_name as name, p.connected, (select e.disconnect_reason from presence_events e where e.thing_name = p.thing_name order by ordinal desc limit 1) as reason
          from device_presence p`)
      ).map(({ name, connected, reason }) => [name, connected || reason]),
    );
  const one = await join(first, 'B-1');
  expect(await eventually(seen, (found) => found[one.thingName] === true, 60_000)).toEqual({ [one.thingName]: true });
  second = await spawnServer(site.environment);
  const other = await join(second, 'B-2');
  const both = { [one.thingName]: true, [other.thingName]: true };
  expect(await eventually(seen, (found) => found[other.thingName] === true, 60_000)).toEqual(both);

  await first.kill('SIGKILL');
  const left = { ...both, [one.thingName]: 'SERVER_ERROR' };
  expect(await eventually(seen, (found) => found[one.thingName] !== true, 60_000)).toEqual(left);
  expect(other.client.connected).toBe(true);
});
