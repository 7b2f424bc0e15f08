import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import { signWebhook } from '../../auth/proofs/webhooks.ts';
import { callOut } from '../../callouts/call.ts';
import type { Context } from '../../context.ts';
import { wake } from '../events/events.service.ts';
import {
  disableEndpoint,
  failWaiting,
  findDue,
  forgetDeliveries,
  insertAttempt,
  listWaitingEndpoints,
  noteFailure,
  noteSuccess,
  releaseEndpoint,
  settleMessage,
  takeEndpoint,
  type AttemptOutcome,
  type DueMessage,
  type TakenEndpoint,
} from './deliveries.queries.ts';
import { openSecret } from './webhooks.service.ts';

/** Seconds to wait after the first, second, … failed attempt of a message. When the attempt after the last wait fails too, the message has failed. */
const RETRY_AFTER = [5, 30, 120, 600, 3_600, 10_800, 28_800, 86_400];
const LONGEST_HOLD = 60;
const DISABLE = { failures: 10, seconds: 3 * 86_400 };
const GONE = 410;
/** An endpoint that takes longer to accept a message is called among those that fail. */
const SLOW_MS = 1_000;
/** After so many messages, or so long, an endpoint gives way to others. */
const AT_ONCE = 50;
const TURN_MS = 10_000;
/** How long an endpoint is claimed: longer than a turn, and the longest call that may begin at its end (30 s). */
const CLAIM_SECONDS = 45;
const KEPT_PER_ENDPOINT = 1_000;

const jittered = (seconds: number) => seconds * (0.9 + Math.random() * 0.2);

/** Calls an endpoint. Without a secret of it that opens under the service's own nothing is sent. */
async function call(ctx: Context, endpoint: TakenEndpoint, { id, payload }: DueMessage, signal: AbortSignal): Promise<AttemptOutcome> {
  const secrets = [endpoint.secret, endpoint.oldSecret].flatMap((sealed) => (sealed === null ? [] : (openSecret(ctx, sealed) ?? [])));
  if (secrets.length === 0) return { statusCode: null, failure: 'secret-lost', milliseconds: 0 };
  const headers = {
    ...signWebhook(id, payload, secrets),
    'content-type': 'application/json',
    'user-agent': `fieldlake/${ctx.openapi.version}`,
  };
  const { allowLoopback, timeoutMs } = ctx.config.webhooks;
  return callOut(endpoint.url, { headers, body: payload, timeoutMs, allowLoopback, signal });
}

/** Records the outcome of a call and its consequences. */
const record = (ctx: Context, endpoint: TakenEndpoint, message: DueMessage, outcome: AttemptOutcome): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    // the endpoint is locked before its messages, as in every transaction that changes both; otherwise they could deadlock
    const called =
      outcome.failure === null
        ? await noteSuccess(tx, endpoint.id, outcome.milliseconds > SLOW_MS)
        : await noteFailure(tx, endpoint, Math.min(2 ** Math.min(endpoint.failures, 10), LONGEST_HOLD));
    // how an address fails that was replaced during the call says nothing of the new one, to which the message still goes
    if (!called) return;
    await insertAttempt(tx, { ...outcome, id: randomUUIDv7(), messageId: message.id });
    // whoever disabled the endpoint during the call has ended its messages
    const after = called.isEnabled ? RETRY_AFTER[message.attempts] : undefined;
    const isDelivered = outcome.failure === null;
    await settleMessage(tx, message.id, { isDelivered, retryInSeconds: after === undefined ? null : jittered(after) });
    if (isDelivered) return;
    const isGone = outcome.statusCode === GONE;
    if (!isGone && !(called.failures >= DISABLE.failures && called.failingSeconds >= DISABLE.seconds)) return;
    const reason = isGone ? 'It answered 410 Gone.' : 'Every attempt of the last three days failed.';
    if ((await disableEndpoint(tx, endpoint.id, reason)) === 0) return;
    await failWaiting(tx, endpoint.id);
    const details = { webhookId: endpoint.id, reason };
    await audit(tx, null, { action: 'webhook.disabled', organizationId: endpoint.organizationId, details });
  });

/**
 * Sends the messages that are due for one endpoint, one after the other. After a failure the endpoint is left alone for a while. Does nothing when another
 * worker is calling it, and leaves one that was slow to the queue of those that fail, unless the call comes from there. A crash leaves messages waiting, so
 * that each is sent at least once.
 */
export async function deliverTo(ctx: Context, endpointId: string, signal: AbortSignal, isRetry: boolean): Promise<void> {
  const endpoint = await takeEndpoint(ctx.db, endpointId, CLAIM_SECONDS);
  if (!endpoint) return;
  if (endpoint.isSlow && !isRetry) {
    await releaseEndpoint(ctx.db, endpoint);
    return wake(ctx, { endpointId, isFailing: true });
  }
  const end = performance.now() + TURN_MS;
  try {
    for (let sent = 0; sent < AT_ONCE && performance.now() < end && !signal.aborted; sent += 1) {
      const message = await findDue(ctx.db, endpointId);
      if (!message) return;
      const outcome = await call(ctx, endpoint, message, signal);
      await record(ctx, endpoint, message, outcome);
      if (outcome.failure !== null || (!isRetry && outcome.milliseconds > SLOW_MS)) return;
    }
  } catch (error) {
    // a call that was cut off by a stop is no attempt
    if (!signal.aborted) throw error;
  } finally {
    await releaseEndpoint(ctx.db, endpoint);
  }
}

/** Queues endpoints whose next try has come. */
export async function wakeEndpoints(ctx: Context): Promise<void> {
  for (const waiting of await listWaitingEndpoints(ctx.db, 200)) await wake(ctx, waiting);
}

const BATCH = 5_000;

export async function forgetOldDeliveries(ctx: Context, signal: AbortSignal): Promise<void> {
  const keep = { days: ctx.config.webhooks.keepDays, most: KEPT_PER_ENDPOINT, atOnce: BATCH };
  while (!signal.aborted && (await forgetDeliveries(ctx.db, keep)) === BATCH);
}
