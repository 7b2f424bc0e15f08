import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { eventually } from '../support/crashes.ts';
import { rawSocket } from '../support/raw-http.ts';

let site: BuiltSite;
beforeAll(async () => {
  site = await startBuiltSite({ BODIES_MB: '128', BODY_SECONDS: '300', BODY_STALL_SECONDS: '300' });
});
afterAll(() => site.stop());

const BATCH = '/api/v1/macros/execute-batch';
const CODE = '/api/v1/auth/email-otp/send-verification-otp';
const ITEMS = JSON.stringify({ items: [{ id: 'a', macro_id: crypto.randomUUID(), data: {} }] });

/** A JSON text behind so many megabytes of blanks, of which a thousandth is sent. */
const spacious = (text: string, megabytes: number) => gzipSync(`${' '.repeat(megabytes * 1_000_000)}${text}`);
const LARGE = spacious(ITEMS, 60);

/** Sends a body but for its last byte, on a connection of its own. */
async function begin(path: string, body: Buffer, key?: string) {
  const socket = await rawSocket(site.server.baseUrl);
  socket.on('error', () => undefined);
  const named = key === undefined ? '' : `x-api-key: ${key}\r\n`;
  const about = `content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n`;
  socket.write(`POST ${path} HTTP/1.1\r\nhost: fieldlake.test\r\n${named}${about}connection: close\r\n\r\n`);
  socket.write(body.subarray(0, -1));
  return socket;
}

/** Waits for the head and the body of an answer. */
async function answerOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'end');
  socket.destroy();
  return Buffer.concat(chunks).toString();
}

async function finish(socket: Socket, body: Buffer): Promise<string> {
  socket.write(body.subarray(-1));
  return answerOf(socket);
}

const whole = async (path: string, body: Buffer, key?: string) => finish(await begin(path, body, key), body);
const statusOf = (answer: string) => Number(answer.split(' ')[1]);

/** Asks until the answer has this status: what was sent before is read, or what was left is given back. */
const becomes = (status: number, ask: () => Promise<string>) => eventually(ask, (answer) => statusOf(answer) === status, 40_000);

/**
 * Has the server hold a body until others are refused for it. Where two bodies are read at the same time, both can be refused, the one that is to be held a
 * little later; it is held when the next is refused as well.
 */
async function hold(status: number, ask: () => Promise<string>, key: string) {
  let held = await begin(BATCH, LARGE, key);
  for (;;) {
    await becomes(status, async () => (held.bytesRead === 0 ? ask() : `HTTP/1.1 ${status}`));
    await setTimeout(1_000);
    const refused = held.bytesRead === 0 ? await ask() : '';
    if (statusOf(refused) === status && held.bytesRead === 0) return { held, refused };
    held.destroy();
    held = await begin(BATCH, LARGE, key);
  }
}

test('the bodies that a process holds are bounded, together and of one sender', async () => {
  const { stranger, viewer, member } = site.cast;
  expect(statusOf(await whole(BATCH, LARGE, stranger.apiKey))).toBe(200);

  const another = () => whole(BATCH, spacious(ITEMS, 9), stranger.apiKey);
  const { held, refused } = await hold(429, another, stranger.apiKey);
  expect(refused).toContain('"code":"CALLER_BUSY"');
  expect(refused).toMatch(/^retry-after: \d/im);
  expect(statusOf(await whole(BATCH, gzipSync(ITEMS), stranger.apiKey))).toBe(200);
  expect(statusOf(await whole(BATCH, spacious(ITEMS, 9), viewer.apiKey))).toBe(200);

  const { held: others, refused: full } = await hold(503, () => whole(BATCH, spacious(ITEMS, 20), member.apiKey), viewer.apiKey);
  expect(full).toContain('"code":"OVERLOADED"');
  expect(statusOf(await whole(BATCH, gzipSync(ITEMS), member.apiKey))).toBe(200);

  // an answer gives back what its body held, and so does a sender who leaves
  expect(statusOf(await finish(held, LARGE))).toBe(200);
  expect(statusOf(await whole(BATCH, spacious(ITEMS, 20), member.apiKey))).toBe(200);
  expect(statusOf(await another())).toBe(200);
  others.destroy();
  await becomes(200, () => whole(BATCH, LARGE, viewer.apiKey));
});

test('who is not signed in is one sender, by their address', async () => {
  const asked = JSON.stringify({ email: 'someone@example.com', type: 'sign-in' });
  const large = spacious(asked, 9);
  expect(statusOf(await whole(CODE, large))).toBe(200);
  const sockets: Socket[] = [];
  const refused = await becomes(429, async () => {
    sockets.push(await begin(CODE, large));
    return whole(CODE, spacious('{', 9));
  });
  expect(refused).toContain('"code":"CALLER_BUSY"');
  expect(statusOf(await whole(CODE, gzipSync(asked)))).toBe(200);
  expect(statusOf(await whole(BATCH, spacious(ITEMS, 9), site.cast.owner.apiKey))).toBe(200);
  for (const socket of sockets) socket.destroy();
});
