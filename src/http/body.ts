import express, { type Request, type Response } from 'express';
import { DEEPEST_JSON, depthOf, exactMember } from '../database/exact-json.ts';
import { errors } from '../errors.ts';
import { readJson } from '../json.ts';

const takeText = (limit: string) =>
  express.text({
    limit,
    type: () => true,
    verify: (request, _response, buffer) => ((request as RawRequest).rawBody = buffer),
  });
const take = takeText('10mb');
const takeLarge = takeText('64mb');
const LARGE = new Set(['/api/v1/macros/execute-batch']);

type RawRequest = Request & { rawBody?: Buffer };

/** The bytes of the body as they came, for fingerprints and signatures. */
export const rawBodyOf = (request: Request): Buffer => (request as RawRequest).rawBody ?? Buffer.alloc(0);

/**
 * A member of the JSON body as JSON text, with its numbers as they were written; undefined when it is absent. Errors: bad input when the body
 * nests too deeply to be printed again.
 */
export function exactMemberOf(request: Request, name: string): string | undefined {
  const text = rawBodyOf(request).toString('utf8');
  if (depthOf(text) > DEEPEST_JSON)
    throw errors.invalidInput().with({ problems: [{ path: `body.${name}`, message: `must nest at most ${DEEPEST_JSON} levels deep` }] });
  return exactMember(text, name);
}

/** A character set that JSON is not written in. */
const FOREIGN_CHARSET = /;\s*charset\s*=\s*"?(?!utf-)/i;

const hasBody = (request: Request) => request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0;

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
  await new Promise<void>((resolve, reject) => {
    (LARGE.has(request.path) ? takeLarge : take)(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });
  const text = request.body as string;
  request.body = undefined;
  try {
    request.body = text === '' ? {} : readJson(text);
  } catch {
    throw errors.malformedJson();
  }
}
