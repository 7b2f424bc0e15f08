import { setImmediate } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { LARGEST } from '../../ingest/messages/drain.ts';
import type { InboxMessage, ReadMessage } from '../../ingest/messages/store.ts';
import { MESSAGE_CAPS, readPayload, type PayloadCaps } from '../../ingest/messages/decode/payload.ts';
import { LARGEST_OBJECT } from './arrivals.service.ts';

const OBJECT_CAPS: PayloadCaps = {
  bytes: LARGEST_OBJECT,
  decompressed: 2 * LARGEST_OBJECT,
  depth: MESSAGE_CAPS.depth,
  values: 4_000_000,
  messages: 100_000,
  samples: 100_000,
};

/** How many messages are decoded before other work in this process has its turn. */
const AT_ONCE = 250;

async function bytesOf(objects: Pick<Context['objects'], 'get'>, { body, objectKey }: InboxMessage): Promise<Buffer> {
  if (body !== null) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of await objects.get(objectKey ?? '')) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Decodes a message of the inbox by the current decoder. */
export const decodeStored = async (objects: Pick<Context['objects'], 'get'>, message: InboxMessage): Promise<ReadMessage['decoded']> =>
  readPayload(await bytesOf(objects, message), message.objectKey === null ? MESSAGE_CAPS : OBJECT_CAPS);

/** Answers about how many bytes the engine reads for a message. One that came packed may be a thousand times as large as it was. */
const countBytes = (decoded: ReadMessage['decoded']): number =>
  decoded.reduce((sum, one) => {
    if (one.kind === 'refusal' || one.plain) return sum;
    const { samples, macroContext, macros, questions, annotations } = one;
    const ofEach = [macroContext, macros, questions, annotations].reduce((total, text) => total + (text?.length ?? 0), 0);
    return sum + samples.reduce((total, text) => total + text.length, 0) + ofEach * Math.max(1, samples.length);
  }, 0);

/** Takes the first messages of a list apart, up to about the bytes of a batch, and at least one. */
export async function readTogether(
  messages: readonly InboxMessage[],
  readOne: (message: InboxMessage) => Promise<ReadMessage>,
): Promise<ReadMessage[]> {
  const read: ReadMessage[] = [];
  let bytes = 0;
  for (const [at, message] of messages.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
    const one = await readOne(message);
    read.push(one);
    bytes += message.byteCount + countBytes(one.decoded);
    if (bytes >= LARGEST.bytes) break;
  }
  return read;
}
