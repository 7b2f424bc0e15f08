import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { DELIVER, RETRY } from '../events/events.service.ts';
import { deliverTo, forgetOldDeliveries } from './delivering.service.ts';

const delivering =
  (name: string, concurrency: number) =>
  (ctx: Context): JobHandler => ({
    name,
    concurrency,
    run: (payload, signal) => deliverTo(ctx, (payload as { endpointId: string }).endpointId, signal, name === RETRY),
  });

/** Calls endpoints that answered soon the last time. */
export const deliverJob = delivering(DELIVER, 4);

/** Calls endpoints that failed or were slow the last time. Endpoints that hang delay only each other here. */
export const retryJob = delivering(RETRY, 3);

export const forgetDeliveriesJob = (ctx: Context): JobHandler => ({
  name: 'webhooks.forget',
  schedule: '41 3 * * *',
  run: (_payload, signal) => forgetOldDeliveries(ctx, signal),
});
