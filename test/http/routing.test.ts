import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type RequestHandler, type Router } from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RegisterRoutes } from '../../src/generated/routes.js';
import { sortRoutes } from '../../src/http/routing.ts';

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
      response
        .set('x-route', path)
        .status(FOUND)
        .json({
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
  byShape = await served(express().use(sortRoutes(naming).handle).use(last));
});
afterAll(() => {
  for (const close of closing) close();
});

async function answered(base: string, method: string, path: string) {
  const response = await fetch(base + path, { method });
  const body = await response.text();
  return { status: response.status, body: response.status === FOUND ? body : null, route: response.headers.get('x-route') ?? '' };
}

const isWord = (segment: string) => !segment.startsWith(':');
/** Whether a path with parameters may stand for another, which names a segment of it in a word. */
const standsFor = (general: string, special: string): boolean => {
  const [one, other] = [general.split('/'), special.split('/')];
  if (one.length !== other.length || general === special) return false;
  return one.every((segment, index) => segment === other[index] || (!isWord(segment) && isWord(other[index] ?? ':')));
};

test('every path of the API, and what is nearly one, finds the route that an ordinary router finds', async () => {
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
  const shadowed = new Set<string>();
  for (const [method, path] of asked) {
    const expected = await answered(ordinary, method, path);
    const plain = (path.split('?')[0] ?? '').replace(/\/$/, '').toLowerCase();
    const special = paths.find((each) => plain === each.replace(/:[a-zA-Z]+/g, 'a%20b').toLowerCase());
    if (special !== undefined && standsFor(expected.route, special)) {
      // the ordinary router takes the word for an id
      expect((await answered(byShape, method, path)).status, `${method} ${path}`).toBe(405);
      shadowed.add(special);
      continue;
    }
    expect(await answered(byShape, method, path), `${method} ${path}`).toEqual(expected);
    if (expected.status === FOUND) found += 1;
  }
  expect(found).toBeGreaterThan(400);
  expect(shadowed).toContain('/api/v1/users/search');
  expect(shadowed.size).toBeGreaterThan(10);
});
