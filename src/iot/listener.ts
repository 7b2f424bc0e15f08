/** Listens for connections with TLS, by a certificate that is renewed meanwhile. Clients may show one, which is looked at later. */
import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Authority, ServerCertificate } from './authority.ts';
import { boundConnections, type Crowd } from './crowd.ts';
import { MQTT_PORT } from './registry.ts';

const RENEW_EVERY_MS = 12 * 3_600_000;
const RENEW_BEFORE_MS = 30 * 86_400_000;

export interface ListenerOptions {
  /** Address to listen on; loopback unless someone decides otherwise. */
  host?: string;
  /** 0 picks a free port. Undefined is `MQTT_PORT`, or a free port where that is taken. */
  port: number | undefined;
  authority: Authority;
  /** Host names and addresses for the certificate, besides localhost and 127.0.0.1. */
  hostnames: readonly string[];
}

interface ListenerHooks {
  onSocket: (socket: TLSSocket) => void;
  /** Connections that were ended since there were too many, at most once a second. */
  onCrowd: () => void;
  onProblem: (cause: unknown) => void;
}

export interface Listener {
  readonly port: number;
  readonly isListening: boolean;
  readonly crowd: Crowd;
  /** Takes no further connections. Resolves when the last one has ended. */
  close(): Promise<void>;
}

const printContext = ({ certificatePem, privateKey }: ServerCertificate, authority: Authority) => ({
  key: privateKey,
  cert: certificatePem,
  ca: authority.certificatePem,
  minVersion: 'TLSv1.2' as const,
  secureOptions: constants.SSL_OP_NO_TICKET,
});

/** Listens once the promise resolves, with at most `connections` at a time, which have `connectSeconds` for their handshake. */
export async function openListener(
  { host = '127.0.0.1', port, authority, hostnames }: ListenerOptions,
  { connections, connectSeconds }: { connections: number; connectSeconds: number },
  hooks: ListenerHooks,
): Promise<Listener> {
  let identity = await authority.signServer(hostnames);
  const server = createServer(
    {
      ...printContext(identity, authority),
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: connectSeconds * 1000,
      highWaterMark: 65_536,
    },
    hooks.onSocket,
  );
  // Node tells of a handshake that takes too long, and leaves the connection open
  server.on('tlsClientError', (_cause, socket) => socket.destroy());
  const crowd = boundConnections(server, connections, hooks.onCrowd);
  server.listen(port ?? MQTT_PORT, host);
  await once(server, 'listening').catch(async (error: unknown) => {
    if (port !== undefined || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    server.listen(0, host);
    await once(server, 'listening');
  });

  async function renew(): Promise<void> {
    if (identity.expires.getTime() - Date.now() > RENEW_BEFORE_MS) return;
    identity = await authority.signServer(hostnames);
    server.setSecureContext(printContext(identity, authority));
  }
  const renewal = setInterval(() => void renew().catch(hooks.onProblem), RENEW_EVERY_MS);

  return {
    port: (server.address() as AddressInfo).port,
    get isListening() {
      return server.listening;
    },
    crowd,
    async close() {
      clearInterval(renewal);
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
