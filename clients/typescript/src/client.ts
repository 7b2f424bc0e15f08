import createClient, { type Client } from 'openapi-fetch';
import type { paths } from '../generated/api.ts';
import { problemOf } from './problem.ts';
import { RETRIES, withRetries, type RetrySettings, type Send } from './retry.ts';

export type Fieldlake = Client<paths>;

export interface ClientSettings {
  /** Where the service is, `https://fieldlake.example.org`. */
  baseUrl: string;
  /** Begins with `flk_`. In a browser on the service's own page leave it out: the session's cookie counts. */
  apiKey?: string;
  /** What sends; the platform's `fetch` when absent. Where it throws an UnreachableError, nothing is repeated. */
  fetch?: Send;
  retries?: Partial<RetrySettings>;
}

/**
 * A typed client of every operation, by method and path: `client.GET('/api/v1/experiments', { params: { query: { filter: 'member' } } })`. Each
 * POST gets an Idempotency-Key unless it has one, so that it can be repeated. Errors: ProblemError for every refusal, UnreachableError.
 */
export function connect({ baseUrl, apiKey, fetch = globalThis.fetch, retries }: ClientSettings): Fieldlake {
  const client = createClient<paths>({
    baseUrl,
    fetch: withRetries((request) => fetch(request), { ...RETRIES, ...retries }),
    ...(apiKey === undefined ? {} : { headers: { 'x-api-key': apiKey } }),
  });
  client.use({
    onRequest: ({ request }) => {
      if (request.method === 'POST' && !request.headers.has('idempotency-key')) request.headers.set('idempotency-key', crypto.randomUUID());
      return request;
    },
    onResponse: async ({ response }) => {
      if (!response.ok && response.status !== 304) throw await problemOf(response);
      return response;
    },
  });
  return client;
}

/** The body of an answer. A refusal was thrown before. */
export async function bodyOf<T>(answer: Promise<{ data?: T; response: Response }>): Promise<T> {
  return (await answer).data as T;
}
