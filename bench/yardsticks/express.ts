// A bare Express route that answers one experiment by one indexed statement: what a route can cost at least. With `--dressed`, behind a request id, a log
// line, security headers and timing, as ours is. Prints its port.
import { randomUUID } from 'node:crypto';
import { openSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import express from 'express';
import helmet from 'helmet';
import pg from 'pg';
import { pino } from 'pino';

const [url = '', mode] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 20 });
const log = pino({ base: null }, pino.destination({ fd: openSync('/dev/null', 'w'), sync: false }));
const app = express();
app.disable('x-powered-by');
app.set('etag', false);
if (mode === '--dressed') {
  app.use((request, response, next) => {
    const start = performance.now();
    const requestId = request.get('x-request-id') ?? randomUUID();
    response.setHeader('X-Request-Id', requestId);
    const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => typeof response;
    response.writeHead = ((...args: unknown[]) => {
      response.setHeader('Server-Timing', `total;dur=${(performance.now() - start).toFixed(2)}`);
      return writeHead(...args);
    }) as typeof response.writeHead;
    response.once('close', () =>
      log.info({ requestId, method: request.method, status: response.statusCode, milliseconds: performance.now() - start }),
    );
    next();
  });
  app.use(helmet({ contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"] } } }));
}
app.get('/experiments/:id', async (request, response) => {
  const { rows } = await pool.query({
    name: 'one',
    text: 'select document from bench_documents where id = $1',
    values: [request.params.id],
  });
  response.json((rows[0] as { document: unknown }).document);
});
const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`));
