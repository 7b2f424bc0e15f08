/** A proxy on a socket of this machine between a client and the real thing, which does to every connection what networks do. */
import { createConnection, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { findFreePort } from './free-port.ts';

export type Fault =
  | { kind: 'none' }
  /** Nobody listens. */
  | { kind: 'refused' }
  /** Connections are taken and reset, those that stand already too. */
  | { kind: 'reset' }
  /** Connections are taken, and nothing passes any more in either direction. */
  | { kind: 'silent' }
  /** Every piece of an answer comes so much later. */
  | { kind: 'late'; ms: number }
  /** So many bytes of answers pass, then the connection is reset. */
  | { kind: 'cut'; bytes: number }
  /** So many bytes of answers pass, then the connection is ended as if that were all. */
  | { kind: 'truncated'; bytes: number }
  /** What the client says passes; when it says this, the connection is reset instead of an answer. */
  | { kind: 'unanswered'; saying: string }
  /** Something else answers, once the client has spoken. */
  | { kind: 'answers'; text: string };

interface Pair {
  client: Socket;
  target: Socket;
  passed: number;
  /** It has said what gets no answer. */
  hasSaid?: boolean;
}

export interface FaultProxy {
  readonly port: number;
  /** How often a fault was met, by kind. */
  readonly met: Map<Fault['kind'], number>;
  /** What happens from now on; connections that were harmed are gone. */
  set(fault: Fault): Promise<void>;
  close(): Promise<void>;
}

/** An answer of a proxy that is none of the target's: its words must reach nobody. */
export const badGateway = (status: number): Fault => {
  const body = `<html><title>${status}</title>upstream secret-host-17.internal said no</html>`;
  const head = `HTTP/1.1 ${status} Bad\r\ncontent-type: text/html\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
  return { kind: 'answers', text: `${head}${body}` };
};

/** Starts a proxy in front of a port or a unix socket. */
export async function startFaultProxy(target: NetConnectOpts): Promise<FaultProxy> {
  let fault: Fault = { kind: 'none' };
  const pairs = new Set<Pair>();
  const met: FaultProxy['met'] = new Map();
  const meet = () => met.set(fault.kind, (met.get(fault.kind) ?? 0) + 1);

  const end = (pair: Pair, how: 'reset' | 'end') => {
    pairs.delete(pair);
    if (how === 'reset') pair.client.resetAndDestroy();
    else pair.client.end();
    pair.target.destroy();
  };

  const toTarget = (pair: Pair, bytes: Buffer) => {
    if (fault.kind === 'silent') return void meet();
    if (fault.kind === 'answers') {
      meet();
      pair.client.write(fault.text);
      return end(pair, 'end');
    }
    if (fault.kind === 'unanswered' && bytes.includes(fault.saying)) pair.hasSaid = true;
    pair.target.write(bytes);
  };

  const toClient = (pair: Pair, bytes: Buffer) => {
    if (fault.kind === 'silent' || fault.kind === 'answers') return;
    if (fault.kind === 'unanswered' && pair.hasSaid) {
      meet();
      return end(pair, 'reset');
    }
    if (fault.kind === 'late') {
      meet();
      return void setTimeout(() => pair.client.writable && pair.client.write(bytes), fault.ms);
    }
    if (fault.kind !== 'cut' && fault.kind !== 'truncated') return void pair.client.write(bytes);
    const room = fault.bytes - pair.passed;
    pair.passed += bytes.length;
    if (room > 0) pair.client.write(bytes.subarray(0, room));
    if (bytes.length < room) return;
    meet();
    end(pair, fault.kind === 'cut' ? 'reset' : 'end');
  };

  const take = (client: Socket) => {
    if (fault.kind === 'reset') {
      meet();
      return void client.resetAndDestroy();
    }
    const pair: Pair = { client, target: createConnection(target), passed: 0 };
    pairs.add(pair);
    client.on('data', (bytes: Buffer) => toTarget(pair, bytes));
    pair.target.on('data', (bytes: Buffer) => toClient(pair, bytes));
    for (const [one, other] of [
      [client, pair.target],
      [pair.target, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('end', () => fault.kind !== 'silent' && other.end());
      one.on('close', () => {
        // the other side hears nothing of it, until the fault is over
        if (fault.kind === 'silent') return;
        pairs.delete(pair);
        other.end();
      });
    }
  };

  let server: Server | undefined;
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server = createServer(take);
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
  const unlisten = async () => {
    const closing = server;
    server = undefined;
    if (closing) await new Promise((resolve) => closing.close(resolve));
  };
  const port = await findFreePort();
  await listen(port);
  const endAll = () => {
    for (const pair of [...pairs]) end(pair, 'reset');
  };

  return {
    port,
    met,
    set: async (next) => {
      const before = fault;
      fault = next;
      for (const pair of pairs) pair.passed = 0;
      // what is half through would be taken for whole
      if (!['none', 'late'].includes(before.kind)) endAll();
      if (next.kind === 'reset' || next.kind === 'refused') {
        meet();
        endAll();
      }
      if (next.kind === 'refused') await unlisten();
      else if (!server) await listen(port);
    },
    close: async () => {
      endAll();
      await unlisten();
    },
  };
}

/** A fault of every kind, with places of its own to cut. */
export function faultsOf(roll: () => number, { lateMs }: { lateMs: number }): Fault[] {
  const bytes = () => Math.floor(roll() ** 3 * 4_000);
  return [
    { kind: 'refused' },
    { kind: 'reset' },
    { kind: 'silent' },
    { kind: 'late', ms: lateMs },
    { kind: 'cut', bytes: bytes() },
    { kind: 'cut', bytes: 1 + Math.floor(roll() * 40) },
    { kind: 'truncated', bytes: bytes() },
    { kind: 'truncated', bytes: 1 + Math.floor(roll() * 40) },
    badGateway(502),
    badGateway(503),
    { kind: 'answers', text: 'HTTP/1.1 500 Oops\r\ncontent-length: 900\r\n\r\nhalf of secret-host-17.internal' },
    { kind: 'answers', text: '\x00\xffgarbage of secret-host-17.internal\r\n' },
  ];
}
