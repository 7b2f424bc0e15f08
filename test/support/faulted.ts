/** Requests to a service whose surroundings fail, and what each answer must be whatever fails. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { errorList } from '../../src/errors.ts';
import type { Person } from './cast.ts';

export interface Asked {
  status: number;
  headers: Headers;
  text: string;
  body: any;
  milliseconds: number;
}

export interface Operation {
  name: string;
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  person?: Person | null;
}

/** Words of drivers, servers and machines, which no answer may hold. */
const INTERNALS =
  /secret-host|E(CONN|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN)|\b127\.0\.0\.1:\d|node_modules|\bat .+\.[jt]s:\d|\bselect .+ from\b|\binsert into\b|pgboss|postgres(?!ql)|Connection terminated|socket hang up|Thrift|Hive|SparkException|NoSuchBucket|SignatureDoes|x-amz|smtp|Bad Gateway|<html/i;
const STATUS_OF = new Map(errorList.map(({ code, status }) => [code, status]));

/** One request, as somebody sends it. Status 0: no answer came. */
export async function ask(baseUrl: string, { method, path, body, headers = {}, person }: Operation): Promise<Asked> {
  const start = performance.now();
  const isForm = body instanceof FormData;
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(person ? { 'x-api-key': person.apiKey } : {}),
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
      milliseconds: performance.now() - start,
    };
  } catch (error) {
    return { status: 0, headers: new Headers(), text: String(error), body: undefined, milliseconds: performance.now() - start };
  }
}

/** Whether an answer is a success, or a refusal that says what it must and no more. Throws when it is neither. */
export function judge(name: string, { status, headers, text, body }: Asked): 'done' | 'later' {
  const what = `${name}: ${status} ${text.slice(0, 400)}`;
  if (status >= 200 && status < 300) return 'done';
  expect([503, 504, 409, 429], what).toContain(status);
  expect(headers.get('content-type'), what).toContain('application/problem+json');
  expect(STATUS_OF.get(body.code), what).toBe(status);
  if (status === 409) expect(body.code, what).toBe('IDEMPOTENCY_IN_PROGRESS');
  if (status !== 504) expect(Number(headers.get('retry-after')), what).toBeGreaterThan(0);
  expect(text, what).not.toMatch(INTERNALS);
  return 'later';
}

/** Sends a request until it succeeds, as a client that was told to come back does. Answers the success and the milliseconds until it. */
export async function untilDone(
  baseUrl: string,
  operation: Operation,
  withinMs = 15_000,
): Promise<{ answer: Asked; milliseconds: number }> {
  const start = performance.now();
  for (;;) {
    const answer = await ask(baseUrl, operation);
    const milliseconds = performance.now() - start;
    if (judge(`${operation.name} again`, answer) === 'done') return { answer, milliseconds };
    if (milliseconds > withinMs) throw new Error(`${operation.name} did not recover: ${answer.status} ${answer.text}`);
    await sleep(200);
  }
}
