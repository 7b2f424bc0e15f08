import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import type { EventKind, SentKind } from './events.model.ts';
import { insertMessage, listSubscribers } from './events.queries.ts';

/** Endpoints that answer and endpoints that fail wait in queues of their own, so that the ones that hang stand in nobody's way. */
export const DELIVER = 'webhooks.deliver';
export const RETRY = 'webhooks.retry';

const MOST_WAITING = 10_000;

export interface Happened {
  kind: EventKind;
  experimentId: string;
  /** Ids, states and counts; what people wrote stays behind the API, where access is asked. */
  facts?: Readonly<Record<string, string | number | null>>;
}

/** Sees to it that what waits for an endpoint is sent. */
export const wake = (ctx: Pick<Context, 'jobs'>, { endpointId, isFailing }: { endpointId: string; isFailing: boolean }, tx?: Transaction) =>
  ctx.jobs.enqueue(isFailing ? RETRY : DELIVER, { endpointId }, { key: endpointId, ...(tx && { tx }) });

/** Puts one message for one endpoint into the queue, in the transaction of what it tells. Answers the message's id, which is its `webhook-id`. */
export async function queueMessage(
  ctx: Pick<Context, 'jobs'>,
  tx: Transaction,
  to: { endpointId: string; isFailing: boolean },
  { kind, data }: { kind: SentKind; data: object },
): Promise<string> {
  const id = randomUUIDv7();
  const payload = JSON.stringify({ type: kind, timestamp: new Date().toISOString(), data });
  await insertMessage(tx, { id, endpointId: to.endpointId, kind, payload });
  await wake(ctx, to, tx);
  return id;
}

/** Tells the endpoints of the organization that owns an experiment what has happened to it, if and when this transaction commits. */
export async function publishEvent(ctx: Pick<Context, 'jobs'>, tx: Transaction, { kind, experimentId, facts }: Happened): Promise<void> {
  for (const subscriber of await listSubscribers(tx, experimentId, kind, MOST_WAITING))
    await queueMessage(ctx, tx, subscriber, { kind, data: { organizationId: subscriber.organizationId, experimentId, ...facts } });
}
