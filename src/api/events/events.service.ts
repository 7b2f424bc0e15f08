import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import type { EventKind, SentKind } from './events.model.ts';
import { insertMessages, listSubscribers } from './events.queries.ts';

/** Endpoints that answer and endpoints that fail have separate queues, so that endpoints that hang delay no others. */
export const DELIVER = 'webhooks.deliver';
export const RETRY = 'webhooks.retry';

/** Messages that may wait for one endpoint. Further ones are not sent by themselves. */
const MOST_WAITING = 10_000;

export interface Happened {
  kind: EventKind;
  experimentId: string;
  /** Ids, states and counts. Texts that people wrote are left out: they are read through the API, where access is checked. */
  facts?: Readonly<Record<string, string | number | null>>;
}

interface Addressee {
  endpointId: string;
  isFailing: boolean;
}

/** Enqueues the sending of what waits for an endpoint. */
export const wake = (ctx: Pick<Context, 'jobs'>, { endpointId, isFailing }: Addressee, tx?: Transaction) =>
  ctx.jobs.enqueue(isFailing ? RETRY : DELIVER, { endpointId }, { key: endpointId, ...(tx && { tx }) });

/**
 * Puts a message for each endpoint into the queue, in the transaction that the message tells of. Answers the messages' ids, each of which is its `webhook-id`.
 */
async function queueMessages(
  ctx: Pick<Context, 'jobs'>,
  tx: Transaction,
  kind: SentKind,
  messages: readonly { to: Addressee & { isFull?: boolean }; data: object }[],
): Promise<string[]> {
  if (messages.length === 0) return [];
  const timestamp = new Date().toISOString();
  const rows = messages.map(({ to, data }) => ({
    id: randomUUIDv7(),
    endpointId: to.endpointId,
    payload: JSON.stringify({ type: kind, timestamp, data }),
    isDropped: to.isFull === true,
  }));
  await insertMessages(tx, kind, rows);
  for (const [queue, isFailing] of [
    [DELIVER, false],
    [RETRY, true],
  ] as const) {
    const woken = messages.filter(({ to }) => to.isFailing === isFailing).map(({ to: { endpointId } }) => endpointId);
    await ctx.jobs.enqueueAll(
      queue,
      woken.map((endpointId) => ({ payload: { endpointId }, key: endpointId })),
      tx,
    );
  }
  return rows.map(({ id }) => id);
}

/** Puts one message for one endpoint into the queue, in the transaction that the message tells of. Answers the message's id, which is its `webhook-id`. */
export async function enqueueMessage(
  ctx: Pick<Context, 'jobs'>,
  tx: Transaction,
  to: Addressee,
  { kind, data }: { kind: SentKind; data: object },
): Promise<string> {
  const [id = ''] = await queueMessages(ctx, tx, kind, [{ to, data }]);
  return id;
}

/** Tells the endpoints of an experiment's organization what has happened to the experiment. They are told only if and when this transaction commits. */
export async function publishEvent(ctx: Pick<Context, 'jobs'>, tx: Transaction, { kind, experimentId, facts }: Happened): Promise<void> {
  const subscribers = await listSubscribers(tx, experimentId, kind, MOST_WAITING);
  await queueMessages(
    ctx,
    tx,
    kind,
    subscribers.map((to) => ({ to, data: { organizationId: to.organizationId, experimentId, ...facts } })),
  );
}
