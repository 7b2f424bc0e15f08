import { STATUS_CODES } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { ApiError, errors } from '../../errors.ts';
import { isStorageFull } from '../../storage/full.ts';
import { translateErrorCode } from './client-codes.ts';
import { getContext, getExchange } from '../exchange.ts';
import { StoredAnswer } from './idempotency.ts';

const MOST_PROBLEMS = 20;
const LONGEST_MESSAGE = 300;
const LARGEST_BODY = 16_000;

const shorten = (text: string) => (text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE - 1)}…` : text);

const STORAGE_RETRY_SECONDS = 60;

/** Whether the process, or the machine, may open no more files; the engine says it in the words of the system. */
const lacksFiles = (error: unknown): boolean =>
  error instanceof Error &&
  (['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '') || /Too many open files/.test(error.message));

/** Turns anything that was thrown into an error of the catalogue. */
function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isStorageFull(error)) return errors.storageFull().with({ cause: error, retryAfter: STORAGE_RETRY_SECONDS });
  if (lacksFiles(error)) return errors.overloaded().with({ cause: error });
  if (error instanceof URIError) return errors.queryRefused('The path is not valid percent-encoded UTF-8.');
  return errors.internal().with({ cause: error });
}

const AUTH_PATH = /^\/api\/v1\/auth(\/|$)/;

/** Adds what the authentication client reads: `message`, and the code under which it knows the problem. */
function forAuthClient(document: Record<string, unknown>): Record<string, unknown> {
  const code = String(document['code']);
  return { ...document, code: translateErrorCode(code), message: document['detail'] };
}

/** Names of statuses. RFC 9110 has named two of them anew. */
const TITLES: Readonly<Record<number, string | undefined>> = { ...STATUS_CODES, 413: 'Content Too Large', 422: 'Unprocessable Content' };

/** Makes the document of a failure: RFC 9457, at most 16 kB. */
export function makeProblemDocument(error: ApiError, requestId: string): Record<string, unknown> {
  const { problems, members } = error.details;
  const document: Record<string, unknown> = {
    type: `https://fieldlake.dev/errors#${error.code.toLowerCase().replaceAll('_', '-')}`,
    title: TITLES[error.status] ?? 'Error',
    status: error.status,
    detail: error.message.slice(0, 2_000),
    instance: `urn:request:${requestId}`,
    code: error.code,
    ...members,
  };
  const shown = (problems ?? []).slice(0, MOST_PROBLEMS).map(({ path, message }) => ({ path: shorten(path), message: shorten(message) }));
  while (shown.length > 0 && JSON.stringify({ ...document, errors: shown }).length > LARGEST_BODY) shown.pop();
  return problems === undefined ? document : { ...document, errors: shown };
}

/** When to ask again after a refusal that names no time. */
const USUAL_PAUSE_SECONDS = 5;

/** Answers with the document of a failure. A 429 or 503 always says when to come back. */
export function writeProblem(response: Response, error: ApiError, requestId: string): void {
  const document = makeProblemDocument(error, requestId);
  const body = AUTH_PATH.test(response.req.path) ? forAuthClient(document) : document;
  for (const name of response.getHeaderNames())
    if (['etag', 'content-disposition', 'link', 'x-total-count'].includes(name)) response.removeHeader(name);
  for (const [name, value] of Object.entries(error.details.headers ?? {})) response.setHeader(name, value);
  const pause = error.details.retryAfter ?? (error.status === 429 || error.status === 503 ? USUAL_PAUSE_SECONDS : undefined);
  if (pause !== undefined) response.setHeader('Retry-After', String(Math.max(1, Math.ceil(pause))));
  if (error.status === 401) response.setHeader('WWW-Authenticate', 'ApiKey realm="fieldlake"');
  response.status(error.status).type('application/problem+json').send(JSON.stringify(body));
}

function answerFailure(error: unknown, request: Request, response: Response): void {
  if (error instanceof StoredAnswer) {
    error.send(response);
    return;
  }
  const { signal, requestId } = getExchange(response);
  if (signal.aborted && (error as Error | undefined)?.name === 'AbortError') {
    // nobody is there to answer, and the line of the request says 499
    response.destroy();
    return;
  }
  const known = asApiError(error);
  const { log } = getContext(request);
  if (known.status >= 500)
    log.error(
      {
        requestId,
        code: known.code,
        ...(known.details.facts ?? { err: known.cause ?? known.details.cause ?? known }),
      },
      known.message,
    );
  if (response.headersSent) {
    // a stream that failed midway is torn down, never ended as if it were whole
    response.destroy();
    return;
  }
  writeProblem(response, known, requestId);
}

/** Turns a failure into an answer, for every route. What fails in here becomes a bare 500, and goes no further. */
export function renderErrors(error: unknown, request: Request, response: Response, _next: NextFunction): void {
  try {
    answerFailure(error, request, response);
  } catch (failed) {
    answerBarely(failed, request, response);
  }
}

/** Answers 500 without the headers that were meant for another answer: any of them may be what failed. */
function answerBarely(failed: unknown, request: Request, response: Response): void {
  try {
    getContext(request).log.error(
      { requestId: getExchange(response).requestId, err: failed },
      'a failure could not be answered as it should',
    );
    if (response.headersSent) {
      response.destroy();
      return;
    }
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.setHeader('X-Request-Id', getExchange(response).requestId);
    writeProblem(response, errors.internal(), getExchange(response).requestId);
  } catch {
    response.destroy();
  }
}
