import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The system takes ports from here on for connections that processes open, also one that was free a moment ago. */
const FIRST_OF_SYSTEM = 32_768;

/** A port of loopback that nothing listens on. */
export async function findFreePort(): Promise<number> {
  const port = randomInt(10_000, FIRST_OF_SYSTEM);
  const server = createServer().listen(port, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (!isFree) return findFreePort();
  server.close();
  await once(server, 'close');
  return port;
}
