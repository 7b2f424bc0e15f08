import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import express, { type Request, type Response } from 'express';
import { measureJson, type JsonLimits, type JsonList, type JsonSize } from '../contract/size.ts';
import { DEEPEST_JSON, exactMember } from '../database/exact-json.ts';
import { errors } from '../errors.ts';
import { readJson, readLongJson } from '../json.ts';

interface BodyLimits extends JsonLimits {
  megabytes: number;
}

const MEMBERS = 10_000;
const USUAL: BodyLimits = { megabytes: 10, values: 250_000, members: MEMBERS, depth: DEEPEST_JSON };
/** Paths that take more. */
const MORE: Readonly<Record<string, BodyLimits>> = {
  '/api/v1/macros/execute-batch': { megabytes: 64, values: 10_000_000, members: MEMBERS, depth: DEEPEST_JSON },
};

const takers = new Map(
  [USUAL, ...Object.values(MORE)].map((limits) => [limits, express.raw({ limit: `${limits.megabytes}mb`, type: () => true })]),
);

type RawRequest = Request & { rawBody?: Buffer; valueCount?: number };

/** The bytes of the body as they came, for fingerprints and signatures. */
export const rawBodyOf = (request: Request): Buffer => (request as RawRequest).rawBody ?? Buffer.alloc(0);

/** How many values the JSON body holds, at most. */
export const valueCountOf = (request: Request): number => (request as RawRequest).valueCount ?? 0;

/** A member of the JSON body as JSON text, with its numbers as they were written; undefined when it is absent. */
export function exactMemberOf(request: Request, name: string): string | undefined {
  const bytes = rawBodyOf(request);
  return bytes.length === 0 ? undefined : exactMember(textOf(bytes), name);
}

/** A character set that JSON is not written in. */
const FOREIGN_CHARSET = /;\s*charset\s*=\s*"?(?!utf-)/i;

interface ParserError {
  type?: unknown;
  status: number;
  /** Bytes, of a body that is too large. */
  limit?: number;
}
const isParserError = (error: unknown): error is ParserError =>
  typeof error === 'object' && error !== null && typeof (error as ParserError).status === 'number';

/** What body-parser throws, as an entry of the catalogue. It passes on what zlib threw with status 400 and no type. */
function refusalOf(error: unknown): Error {
  if (!isParserError(error)) return error instanceof Error ? error : errors.malformedJson();
  if (error.type === 'entity.too.large') return errors.payloadTooLarge(`${(error.limit ?? 0) / 1_048_576} MB`);
  if (error.type === 'encoding.unsupported') return errors.unsupportedEncoding('gzip, deflate, br, zstd or identity');
  if (error.status === 415) return errors.unsupportedMediaType('application/json in UTF-8');
  if (error.type === undefined && error.status === 400) return errors.undecodableBody();
  return errors.malformedJson();
}

export const hasBody = (request: Request) =>
  request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0;

const textOf = (bytes: Buffer) => bytes.toString('utf8').replace(/^\uFEFF/, '');

/** Bytes that are parsed at once; 1 MB of numbers takes about 10 ms. */
const PARSED_AT_ONCE = 1_000_000;

/** Parses a body. What stands after a long one is left to the next turn of the event loop. */
async function parseBody(bytes: Buffer, size: JsonSize): Promise<unknown> {
  if (bytes.length === 0) return {};
  if (bytes.length <= PARSED_AT_ONCE) return readJson(textOf(bytes));
  const { list } = size;
  if (list && list.commas.length > 0 && list.end - list.start > bytes.length / 2) return parsePieces(bytes, list);
  await setImmediate();
  const text = textOf(bytes);
  await setImmediate();
  const body = await readLongJson(text);
  await setImmediate();
  return body;
}

/** Parses a text whose longest list is cut into its items, so that others get their turn in between. */
async function parsePieces(bytes: Buffer, list: JsonList): Promise<unknown> {
  // no body can hold what was drawn just now
  const marker = randomUUID();
  const around = Buffer.concat([bytes.subarray(0, list.start), Buffer.from(JSON.stringify(marker)), bytes.subarray(list.end + 1)]);
  const body = readJson(textOf(around)) as Record<string, unknown>;
  const items: unknown[] = [];
  let parsed = 0;
  for (let index = 0; index <= list.commas.length; index += 1) {
    const from = (list.commas[index - 1] ?? list.start) + 1;
    const to = list.commas[index] ?? list.end;
    items.push(readJson(bytes.toString('utf8', from, to)));
    parsed += to - from;
    if (parsed < PARSED_AT_ONCE) continue;
    parsed = 0;
    await setImmediate();
  }
  // a name that comes again later has the later value
  const name = Object.keys(body).find((key) => body[key] === marker);
  return name === undefined ? body : { ...body, [name]: items };
}

/** Parses a JSON body. Called after the access decision; a missing body reads as `{}`, multipart is left to its route. */
export async function readJsonBody(request: Request, response: Response): Promise<void> {
  if (request.method === 'GET' || request.method === 'HEAD' || request.body !== undefined) return;
  if (!hasBody(request)) {
    request.body = {};
    return;
  }
  if (request.is('multipart/form-data')) return;
  if (!request.is(['application/json', 'application/*+json'])) throw errors.unsupportedMediaType('application/json');
  if (FOREIGN_CHARSET.test(request.get('content-type') ?? '')) throw errors.unsupportedMediaType('application/json in UTF-8');
  const limits = MORE[request.path] ?? USUAL;
  await new Promise<void>((resolve, reject) => {
    takers.get(limits)?.(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(refusalOf(error))));
  });
  const bytes = request.body as Buffer;
  request.body = undefined;
  (request as RawRequest).rawBody = bytes;
  const size = await measureJson(bytes, limits);
  (request as RawRequest).valueCount = size.values;
  try {
    request.body = await parseBody(bytes, size);
  } catch {
    throw errors.malformedJson();
  }
}
