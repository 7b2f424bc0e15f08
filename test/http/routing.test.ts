import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type RequestHandler, type Router } from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RegisterRoutes } from '../../src/generated/routes.js';
import { routesByShape } from '../../src/http/routing.ts';

type Register = (path: string) => unknown;

/** Hands every route of the API, in its order, to `register` of its method. */
function everyRoute(register: (method: string) => Register): void {
  RegisterRoutes(
    Object.fromEntries(['get', 'post', 'put', 'patch', 'delete'].map((method) => [method, register(method)])) as unknown as Router,
  );
}

/** No answer of the API, which counts as one that was seen. */
const FOUND = 418;

/** The routes of the API, each with a handler that says which it is and what it sees of the path. */
function naming(routes: Router): void {
  everyRoute((method) => (path) => {
    const answer: RequestHandler = (request, response) =>
      response.status(FOUND).json({
        route: `${method} ${path}`,
        seen: request.route as unknown,
        params: request.params,
        path: request.path,
        url: request.url,
      });
    (routes as unknown as Record<string, (at: string, handler: RequestHandler) => unknown>)[method]?.(path, answer);
  });
}

const closing: (() => void)[] = [];

async function served(app: Express): Promise<string> {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let ordinary = '';
let byShape = '';
beforeAll(async () => {
  const app = express();
  naming(app);
  const last: RequestHandler = (_request, response) => void response.sendStatus(405);
  ordinary = await served(app.use(last));
  byShape = await served(express().use(routesByShape(naming)).use(last));
});
afterAll(() => {
  for (const close of closing) close();
});

async function answered(base: string, method: string, path: string) {
  const response = await fetch(base + path, { method });
  const body = await response.text();
  return { status: response.status, body: response.status === FOUND ? body : null };
}

test('every path of the API, and what is nearly one, finds the route that an ordinary router finds', { timeout: 120_000 }, async () => {
  const paths: string[] = [];
  everyRoute(() => (path) => paths.push(path));
  expect(paths.length).toBeGreaterThan(200);
  const filled = [...new Set(paths)].map((path) => path.replace(/:[a-zA-Z]+/g, 'a%20b'));
  const nearly = filled.flatMap((path) => [`${path}/`, path.toUpperCase(), `/${path}`, `${path}/more`, path.replace(/\/[^/]*$/, '')]);
  nearly.push(
    '/',
    '//',
    '/api',
    '/api/v1',
    '/api/v1/%65xperiments',
    '/api/v1/:resourceType/x/collaborators',
    '/api/v1/constructor',
    '/api/v1/:/a',
  );
  const asked = [
    ...filled.flatMap((path) =>
      ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => [method, `${path}?x=/y/z`] as const),
    ),
    ...[...new Set(nearly)].map((path) => ['GET', path] as const),
  ];
  let found = 0;
  for (const [method, path] of asked) {
    const expected = await answered(ordinary, method, path);
    expect(await answered(byShape, method, path), `${method} ${path}`).toEqual(expected);
    if (expected.status === FOUND) found += 1;
  }
  expect(found).toBeGreaterThan(400);
});
