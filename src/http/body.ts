import express, { type Request, type Response } from 'express';
import { DEEPEST_JSON, depthOf, exactMember } from '../database/exact-json.ts';
import { errors } from '../errors.ts';

const parse = express.json({
  limit: '10mb',
  strict: false,
  verify: (request, _response, buffer) => ((request as RawRequest).rawBody = buffer),
});
const parseLarge = express.json({
  limit: '64mb',
  strict: false,
  verify: (request, _response, buffer) => ((request as RawRequest).rawBody = buffer),
});
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
  await new Promise<void>((resolve, reject) => {
    (LARGE.has(request.path) ? parseLarge : parse)(request, response, (error?: unknown) =>
      error === undefined ? resolve() : reject(error),
    );
  });
}
