import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NextFunction, Request, Response, Router } from 'express';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import type * as Routes from '../../src/generated/routes.js';
import { expressAuthentication } from '../../src/http/callers/authentication.ts';
import { makeMatrix, probeOperation, type Matrix } from '../support/matrix.ts';
import { guardsOf, servedRows } from '../support/operations.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** The routes of the app that was made last; the app itself keeps them by the shape of their paths. */
const registered = vi.hoisted(() => ({ routes: undefined as Router | undefined }));
vi.mock('../../src/generated/routes.js', async (original) => {
  const { RegisterRoutes } = await original<typeof Routes>();
  return {
    RegisterRoutes: (routes: Router) => {
      RegisterRoutes(routes);
      registered.routes = routes;
    },
  };
});

let site: TestServer;
let matrix: Matrix;
beforeAll(async () => {
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '100000' });
  matrix = await makeMatrix(site);
});
afterAll(() => site.stop());

interface Layer {
  handle: (request: Request, response: Response, next: NextFunction) => unknown;
}
interface RouteLayer {
  route?: { path: string; methods: Record<string, boolean>; stack: Layer[] };
}

/** The same app with one guard taken out of it at a time: each time, at least one cell must turn red. */
test('no guard can be taken out unnoticed', async () => {
  const app = createApp(await site.context());
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const mutant = { ...matrix, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const layers = (registered.routes?.stack ?? []) as unknown as RouteLayer[];
  const signedInOnly: Layer['handle'] = (request, response, next) => {
    expressAuthentication(request, 'caller', [], response).then(() => next(), next);
  };
  // refuses keys by itself as well: letting them in at the door changes no answer
  const refusedTwice = new Set(['GET /api/v1/auth/passkey/generate-register-options']);
  const unnoticed: string[] = [];
  let mutants = 0;
  try {
    for (const row of servedRows(site.openapi)) {
      if (row.asks === 'public') continue;
      const pattern = row.path.replace(/\{(\w+)\}/g, ':$1');
      const guard = layers.find(({ route }) => route?.path === pattern && route.methods[row.method.toLowerCase()])?.route?.stack[0];
      if (!guard) throw new Error(`no route for ${row.method} ${row.path}`);
      const original = guard.handle;
      const without: Layer['handle'][] = [(_request, _response, next) => next()];
      if (guardsOf(row).length > 0 || (row.asks === 'session' && !refusedTwice.has(`${row.method} ${row.path}`)))
        without.push(signedInOnly);
      for (const handle of without) {
        guard.handle = handle;
        mutants += 1;
        if ((await probeOperation(mutant, row)).wrong.length === 0) unnoticed.push(`${row.method} ${row.path}`);
      }
      guard.handle = original;
      if ((await probeOperation(mutant, row)).wrong.length > 0) throw new Error(`the guard of ${row.path} was not put back`);
    }
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  expect(unnoticed).toEqual([]);
  expect(mutants).toBeGreaterThan(100);
});
