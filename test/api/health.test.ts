import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

test('GET /health/time tells one instant three ways, to anybody', async () => {
  const before = Date.now();
  const { status, body } = await site.as(null)('GET', '/health/time');
  expect(status).toBe(200);
  expect(body.utcTimestampMs).toBeGreaterThanOrEqual(before);
  expect(body).toEqual({
    utcTimestampMs: body.utcTimestampMs,
    utcTimestampSec: Math.floor(body.utcTimestampMs / 1000),
    iso: new Date(body.utcTimestampMs).toISOString(),
  });
});

test('GET /health/live and /health/ready say no more than that; another method is 405 with Allow', async () => {
  const call = site.as(null);
  expect((await call('GET', '/health/live')).body).toEqual({ status: 'ok' });
  expect((await call('GET', '/health/ready')).body).toEqual({ status: 'ready' });
  expect(await call('GET', '/api/v1/auth/ok')).toMatchObject({ status: 200, body: { ok: true } });
  const refused = await call('POST', '/health/time');
  expect(refused).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } });
  expect(refused.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  expect((await call('GET', '/health/nothing')).body.code).toBe('ROUTE_NOT_FOUND');
});

test('GET /health/ready says NOT_READY of a service that has not started yet, and is ready when it has', async () => {
  const context = await site.context();
  const starting = createServer(createApp(context)).listen(0, '127.0.0.1');
  await once(starting, 'listening');
  const ask = async () => {
    const answer = await fetch(`http://127.0.0.1:${(starting.address() as AddressInfo).port}/health/ready`);
    return { status: answer.status, body: await answer.json() };
  };
  try {
    context.ready = false;
    expect(await ask()).toMatchObject({ status: 503, body: { code: 'NOT_READY', detail: expect.stringContaining('starting') as string } });
    context.ready = true;
    expect(await ask()).toEqual({ status: 200, body: { status: 'ready' } });
  } finally {
    starting.close();
  }
});
