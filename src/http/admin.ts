import express, { type Express } from 'express';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';

/** Says what failed in the words of whoever refused it, such as a bucket or Postgres: only operators hear them. */
function tellWhy(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const cause = error.cause ?? (error instanceof ApiError ? error.details.cause : undefined);
  return cause instanceof Error ? `${error.message} ${cause.message}` : error.message;
}

/** What operators see on the second, loopback-only port: metrics, and why the service is or is not ready. */
export function createAdminApp(context: Context): Express {
  const app = express();
  app.disable('x-powered-by');
  app.get('/metrics', async (_request, response) => {
    const { registry, print } = context.metrics;
    response.type(registry.contentType).send(await print());
  });
  app.get('/health/ready', async (_request, response) => {
    const details = Object.fromEntries(
      await Promise.all(
        Object.entries(context.checks).map(async ([name, check]) => {
          const start = performance.now();
          const outcome = await check().then(
            (detail) => ({ ok: true, ...(detail === undefined ? {} : { detail }) }),
            (error: unknown) => ({ ok: false, reason: tellWhy(error) }),
          );
          return [name, { ...outcome, milliseconds: Math.round(performance.now() - start) }] as const;
        }),
      ),
    );
    const ok = context.ready && Object.values(details).every((detail) => detail.ok);
    if (!ok) response.set('Retry-After', '1');
    response.status(ok ? 200 : 503).json({ status: ok ? 'ready' : 'not ready', details });
  });
  return app;
}
