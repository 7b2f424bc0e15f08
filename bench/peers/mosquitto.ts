/** mosquitto with TLS and certificates as ours has them, and a subscriber whose session is kept while it is away: every message is queued, in memory, as mosquitto does it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { makeAuthority, openAuthority } from '../../src/iot/authority.ts';
import { generateDeviceKeys } from '../../src/iot/keys.ts';
import { findFreePort } from '../../test/support/free-port.ts';
import { publish, waitForCount } from './devices.ts';
import { PROGRAMS } from './install.ts';
import type { Data, Peer } from './peer.ts';
import { orStop, readVersion, start } from './programs.ts';
import { AT_ONCE, MESSAGES } from './questions.ts';

const configuration = (folder: string, port: number) => `
listener ${port} 127.0.0.1
cafile ${folder}/ca.pem
certfile ${folder}/server.pem
keyfile ${folder}/server.key
require_certificate true
allow_anonymous true
persistence true
persistence_location ${folder}/
max_queued_messages 0
user root
log_type error
`;

export async function startMosquitto(data: Data): Promise<Peer> {
  const program = PROGRAMS.mosquitto();
  const port = await findFreePort();
  const folder = join(data.folder, 'mosquitto');
  mkdirSync(folder);
  const authority = await openAuthority(await makeAuthority());
  const server = await authority.signServer([]);
  writeFileSync(join(folder, 'ca.pem'), authority.certificatePem);
  writeFileSync(join(folder, 'server.pem'), server.certificatePem);
  writeFileSync(join(folder, 'server.key'), server.privateKey);
  writeFileSync(join(folder, 'mosquitto.conf'), configuration(folder, port));
  const running = await start(program, ['-c', join(folder, 'mosquitto.conf')], async () => {
    const socket = connectTcp({ host: '127.0.0.1', port });
    await once(socket, 'connect');
    socket.destroy();
  });
  const connect = async (clientId: string, clean: boolean) => {
    const { privateKey: key, csr } = await generateDeviceKeys();
    const { certificatePem: cert } = await authority.signDevice(csr);
    return connectAsync(`mqtts://127.0.0.1:${port}`, { clientId, clean, key, cert, ca: authority.certificatePem });
  };
  const subscribe = () => connect('subscriber', false);
  const devices = await orStop(running.stop, async () => {
    const first = await subscribe();
    await first.subscribeAsync('bench/#', { qos: 1 });
    await first.endAsync();
    return Promise.all(
      Array.from({ length: AT_ONCE }, async (_, n) => ({ client: await connect(`device-${n}`, true), topic: `bench/${n}` })),
    );
  });
  let batches = 0;
  /** What was published since, as the subscriber finds it; afterwards nothing waits. */
  const take = async (wanted: number) => {
    const subscriber = await subscribe();
    let taken = 0;
    subscriber.on('message', () => (taken += 1));
    const there = await waitForCount(() => Promise.resolve(taken), wanted);
    await subscriber.endAsync();
    return there;
  };
  const time = async () => {
    batches += 1;
    return publish(devices, batches);
  };
  return {
    version: readVersion(program, ['-h']),
    roots: [running.pid],
    stop: async () => {
      await Promise.all(devices.map(({ client }) => client.endAsync(true)));
      await running.stop();
    },
    asked: {
      messages: {
        time: async () => {
          const milliseconds = await time();
          await take(MESSAGES);
          return milliseconds;
        },
        facts: async () => {
          await time();
          return { rows: MESSAGES, sum: await take(MESSAGES) };
        },
      },
    },
  };
}
