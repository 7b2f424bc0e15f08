import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Heard {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A real endpoint on this machine that notes what it is sent. */
export interface Receiver {
  url: string;
  port: number;
  heard: Heard[];
  /** How it answers from now on; 204 at first. */
  answer: (response: ServerResponse, heard: Heard) => void;
  /** Told of every connection. */
  connected: () => unknown;
  /** Resolves once it has heard so many. */
  hears(count: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const heard = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
      receiver.heard.push(heard);
      receiver.answer(response, heard);
    });
  });
  server.on('connection', () => receiver.connected());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    heard: [],
    answer: (response) => response.writeHead(204).end(),
    connected: () => undefined,
    hears: async (count) => {
      for (let tries = 0; tries < 1_200 && receiver.heard.length < count; tries += 1)
        await new Promise((resolve) => {
          setTimeout(resolve, 50);
        });
      if (receiver.heard.length < count) throw new Error(`heard ${receiver.heard.length} of ${count}`);
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
  return receiver;
}
