import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { Queryable } from '../../database/database.ts';

export const SEND_NOTICE = 'notices.send';

/**
 * A letter that is to be sent, with what it is about. It holds ids only; the address is looked up when the letter is sent. Therefore nobody whose account is
 * gone is written to, and no address waits in the queue.
 */
export type Notice =
  | { kind: 'organization-invitation'; invitationId: string }
  | { kind: 'resource-invitation'; invitationId: string }
  | { kind: 'organization-join-request'; requestId: string; recipientId: string }
  | { kind: 'organization-join-decision'; requestId: string }
  | { kind: 'experiment-join-request'; requestId: string; recipientId: string }
  | { kind: 'experiment-join-decision'; requestId: string };

/** Queues a notice; it is sent after the transaction has committed, and tried again until it is. */
export const enqueueNotice = (ctx: Context, tx: Queryable, notice: Notice): Promise<void> => ctx.jobs.enqueue(SEND_NOTICE, notice, { tx });

export const enqueueNotices = (ctx: Context, tx: Queryable, notices: readonly Notice[]): Promise<void> =>
  ctx.jobs.enqueueAll(
    SEND_NOTICE,
    notices.map((payload) => ({ payload, key: randomUUID() })),
    tx,
  );
