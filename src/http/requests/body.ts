import { randomUUID } from 'node:crypto';
import type { Transform } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Request } from 'express';
import { cutAddress } from '../../auth/budgets.ts';
import { measureJson, type JsonLimits, type JsonList, type JsonSize } from '../../contract/size.ts';
import { DEEPEST_JSON, readExactMember } from '../../database/exact-json.ts';
import { ApiError, errors } from '../../errors.ts';
import { readJson, readLongJson } from '../../json.ts';
import { getContext, getExchange } from '../exchange.ts';

interface BodyLimits extends JsonLimits {
  megabytes: number;
  /** Whether the digits of long numbers are taken from the text by `readBodyMember`. */
  isReadTwice?: boolean;
}

const MEMBERS = 10_000;
const USUAL: BodyLimits = { megabytes: 10, values: 250_000, members: MEMBERS, items: 250_000, depth: DEEPEST_JSON };
/** Paths with bounds of their own. The code of a protocol is read twice, to keep the digits of its numbers, which takes 1.5 ms for a thousand values. */
const OTHERS: readonly [RegExp, BodyLimits][] = [
  [/^\/api\/v1\/macros\/execute-batch$/, { ...USUAL, megabytes: 64, values: 10_000_000, items: 10_000 }],
  [/^\/api\/v1\/protocols(\/|$)/, { ...USUAL, megabytes: 2, values: 25_000, isReadTwice: true }],
];

type RawRequest = Request & { rawBody?: Buffer; valueCount?: number };

/** The bytes of the body as they came, for fingerprints and signatures. */
export const getRawBody = (request: Request): Buffer => (request as RawRequest).rawBody ?? Buffer.alloc(0);

/** How many values the JSON body holds, at most. */
export const getValueCount = (request: Request): number => (request as RawRequest).valueCount ?? 0;

/** A member of the JSON body as JSON text, with its numbers as they were written; undefined when it is absent. */
export function readBodyMember(request: Request, name: string): string | undefined {
  const bytes = getRawBody(request);
  return bytes.length === 0 ? undefined : readExactMember(textOf(bytes), name);
}

/** A character set that JSON is not written in. */
const FOREIGN_CHARSET = /;\s*charset\s*=\s*"?(?!utf-)/i;

const DECODERS: Readonly<Record<string, (() => Transform) | null>> = {
  identity: null,
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Bytes that are copied before others have their turn. Copying 60 MB at once, into memory that was not used before, took 44 ms. */
const COPIED_AT_ONCE = 4_000_000;

async function joinChunks(chunks: readonly Buffer[], length: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(length);
  let at = 0;
  let turn = 0;
  for (const chunk of chunks) {
    at += chunk.copy(whole, at);
    if (at - turn < COPIED_AT_ONCE) continue;
    turn = at;
    await setImmediate();
  }
  return whole;
}

/** Begins to count the bytes of a body for whoever sends it. */
function beginBody(request: Request): (length: number) => void {
  if (!request.res) throw new Error('the request has no response');
  const sender = getExchange(request.res).caller?.userId ?? cutAddress(request.ip ?? '');
  return getContext(request).bodies.begin(sender, request.res);
}

/**
 * Reads all bytes of a body and decodes them by its Content-Encoding. body-parser is not used: once a caller has closed its side of the connection, it takes
 * the body to be read already (on-finished asks whether the socket is readable). Errors: 413 beyond the limit, 415 another encoding, 400 what cannot be
 * decoded, and those of `HeldBodies`.
 */
async function readBytes(request: Request, megabytes: number): Promise<Buffer> {
  const limit = megabytes * 1_048_576;
  const encoding = (request.get('content-encoding') ?? 'identity').trim().toLowerCase();
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (decoder === undefined) throw errors.unsupportedEncoding('gzip, deflate, br, zstd or identity');
  if (Number(request.get('content-length') ?? 0) > limit) throw errors.payloadTooLarge(`${megabytes} MB`);
  const noteLength = beginBody(request);
  const stream = decoder?.();
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    if (stream) {
      request.once('error', (error) => stream.destroy(error));
      request.pipe(stream);
    }
    // a refusal must not end the connection
    for await (const chunk of (stream ?? request).iterator({ destroyOnReturn: false })) {
      length += (chunk as Buffer).length;
      if (length > limit) throw errors.payloadTooLarge(`${megabytes} MB`);
      noteLength(length);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    if (stream) request.unpipe(stream);
    stream?.destroy();
    request.resume();
    if (error instanceof ApiError) throw error;
    throw request.complete || stream ? errors.undecodableBody() : errors.malformedJson();
  }
  return joinChunks(chunks, length);
}

/** Whether the body of a request means anything. That of a GET or HEAD is never read. */
export const isBodyRead = ({ method }: Request): boolean => method !== 'GET' && method !== 'HEAD';

export const hasBody = (request: Request) =>
  request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0;

const textOf = (bytes: Buffer) => bytes.toString('utf8').replace(/^\uFEFF/, '');

/** Bytes that are parsed at once; 1 MB of numbers takes about 10 ms. */
const PARSED_AT_ONCE = 1_000_000;

/** Parses a body. For a long one, each step has its own turn of the event loop. */
async function parseBody(bytes: Buffer, size: JsonSize, read: (text: string) => unknown): Promise<unknown> {
  if (bytes.length === 0) return {};
  if (bytes.length <= PARSED_AT_ONCE) return read(textOf(bytes));
  const { list } = size;
  if (list && list.commas.length > 0 && list.end - list.start > bytes.length / 2) return parsePieces(bytes, list, read);
  await setImmediate();
  const text = textOf(bytes);
  await setImmediate();
  const body = await read(text);
  await setImmediate();
  return body;
}

/** Parses a text whose longest list is cut between items, so that others get their turn in between. */
async function parsePieces(bytes: Buffer, list: JsonList, read: (text: string) => unknown): Promise<unknown> {
  // no body can hold an id that was drawn just now
  const marker = randomUUID();
  const around = Buffer.concat([bytes.subarray(0, list.start), Buffer.from(JSON.stringify(marker)), bytes.subarray(list.end + 1)]);
  const body = (await read(textOf(around))) as Record<string, unknown>;
  const items: unknown[] = [];
  let parsed = 0;
  for (let index = 0; index <= list.commas.length; index += 1) {
    const from = (list.commas[index - 1] ?? list.start) + 1;
    const to = list.commas[index] ?? list.end;
    const piece = (await read(`[${bytes.toString('utf8', from, to)}]`)) as unknown[];
    // two commas with nothing between them are no JSON
    if (piece.length === 0) throw new SyntaxError('an item is missing');
    for (const item of piece) items.push(item);
    parsed += to - from;
    if (parsed < PARSED_AT_ONCE) continue;
    parsed = 0;
    await setImmediate();
  }
  // when a name comes again later, its later value counts and the marker is gone
  const name = Object.keys(body).find((key) => body[key] === marker);
  return name === undefined ? body : { ...body, [name]: items };
}

/** Parses a JSON body. Called after the access decision; a missing body reads as `{}`, multipart is left to its route. */
export async function readJsonBody(request: Request): Promise<void> {
  if (!isBodyRead(request) || request.body !== undefined) return;
  if (!hasBody(request)) {
    request.body = {};
    return;
  }
  if (request.is('multipart/form-data')) return;
  if (!request.is(['application/json', 'application/*+json'])) throw errors.unsupportedMediaType('application/json');
  if (FOREIGN_CHARSET.test(request.get('content-type') ?? '')) throw errors.unsupportedMediaType('application/json in UTF-8');
  const limits = OTHERS.find(([path]) => path.test(request.path))?.[1] ?? USUAL;
  const bytes = await readBytes(request, limits.megabytes);
  (request as RawRequest).rawBody = bytes;
  const size = await measureJson(bytes, limits);
  if (!size.isWhole) throw errors.malformedJson();
  (request as RawRequest).valueCount = size.values;
  try {
    request.body = await parseBody(bytes, size, limits.isReadTwice === true ? readJson : readLongJson);
  } catch {
    throw errors.malformedJson();
  }
}
