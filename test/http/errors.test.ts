import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request, type Response } from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { ApiError, errorList, errors } from '../../src/errors.ts';
import { renderErrors } from '../../src/http/answers/errors.ts';
import { attachExchange } from '../../src/http/exchange.ts';
import { sendRaw } from '../support/raw-http.ts';

const lines: string[] = [];
let server: Server;
let base = '';
/** What the one route does with its answer. */
let answer: (request: Request, response: Response) => void;

beforeAll(async () => {
  const app = express();
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  app.locals['context'] = { log } satisfies Pick<Context, 'log'>;
  app.use((_request, response, next) => {
    attachExchange(response, { requestId: 'r', startedAt: 0, timings: new Map(), signal: new AbortController().signal });
    next();
  });
  app.get('/', (request, response) => answer(request, response));
  app.get('/good', (_request, response) => void response.json('good'));
  app.use(renderErrors);
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const ask = (method: string, path = '/') =>
  sendRaw(base, `${method} ${path} HTTP/1.1\r\nHost: h\r\n\r\n`, { methods: [method], lingerMs: 50 });

/** Ways to leave an answer that even an error cannot be sent over. */
const TRAPS: Record<string, (response: Response) => void> = {
  'a trailer on an answer without chunks': (response) => response.setHeader('Trailer', 'X-Truncated'),
  'a head that cannot be written': (response) => {
    response.writeHead = () => {
      throw new Error('no head');
    };
  },
  'a header that cannot be removed': (response) => {
    response.setHeader('ETag', '"1"');
    response.removeHeader = () => {
      throw new Error('no removal');
    };
  },
};

test.each(Object.entries(TRAPS))('%s is 500 or a closed connection for its caller, and nothing for others', async (_name, trap) => {
  answer = () => {
    throw errors.conflict();
  };
  expect((await ask('GET')).answers[0]!.status).toBe(409);

  answer = (_request, response) => {
    trap(response);
    throw errors.conflict();
  };
  const said = lines.length;
  for (const method of ['GET', 'HEAD']) {
    const { answers, closed } = await ask(method);
    expect(
      answers
        .map(({ status }) => status)
        .concat(closed ? [0] : [])
        .every((status) => [0, 409, 500].includes(status)),
    ).toBe(true);
    expect(answers.length === 1 || closed).toBe(true);
    expect((await ask('GET', '/good')).answers[0]!.body.toString()).toBe('"good"');
  }
  expect(lines.slice(said).join('')).toContain('a failure could not be answered as it should');
});

test('without another file to open, as the system or the engine says it, the service is overloaded', async () => {
  const said = [
    Object.assign(new Error('EMFILE: too many open files, open'), { code: 'EMFILE' }),
    new Error('IO Error: Cannot open file "lake/1.parquet": Too many open files'),
  ];
  for (const error of said) {
    answer = () => {
      throw error;
    };
    const [given] = (await ask('GET')).answers;
    expect([given?.status, given?.headers['retry-after']]).toEqual([503, '5']);
    expect(given?.body.toString()).toContain('OVERLOADED');
  }
});

test('a trailer that cannot be sent gives a whole 500 without it', async () => {
  answer = (_request, response) => {
    response.setHeader('Trailer', 'X-Truncated');
    response.setHeader('X-Left-Over', 'yes');
    throw errors.conflict();
  };
  const { answers } = await ask('HEAD');
  expect(answers[0]).toMatchObject({
    status: 500,
    headers: { 'x-request-id': 'r', 'content-type': expect.stringContaining('problem+json') },
  });
  expect(answers[0]!.headers['x-left-over']).toBeUndefined();
});

test('every 429 and 503 of the catalogue says in whole seconds when to come back, and no other refusal does', async () => {
  const pauses = new Map<number, Set<string | null>>();
  for (const { status, code } of errorList) {
    answer = () => {
      throw new ApiError(status, code, 'No.');
    };
    const pause = (await fetch(base)).headers.get('retry-after');
    pauses.set(status, (pauses.get(status) ?? new Set()).add(pause));
  }
  for (const [status, said] of pauses) expect([...said], String(status)).toEqual([status === 429 || status === 503 ? '5' : null]);
  expect(pauses.size).toBeGreaterThan(8);
  answer = () => {
    throw errors.rateLimited(7).with({ retryAfter: 6.2 });
  };
  expect((await fetch(base)).headers.get('retry-after')).toBe('7');
});
