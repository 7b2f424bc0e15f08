import type { Context } from '../../context.ts';
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

async function bytesOf(objects: Pick<Context['objects'], 'get'>, { body, objectKey }: InboxMessage): Promise<Buffer> {
  if (body !== null) return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of await objects.get(objectKey ?? '')) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Decodes a message of the inbox by the current decoder. */
export const decodeStored = async (objects: Pick<Context['objects'], 'get'>, message: InboxMessage): Promise<ReadMessage['decoded']> =>
  readPayload(await bytesOf(objects, message), message.objectKey === null ? MESSAGE_CAPS : OBJECT_CAPS);
