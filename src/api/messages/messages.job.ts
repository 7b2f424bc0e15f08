import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { decide } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import { drainMessages, isAround, MOST_TRIES } from '../../ingest/messages/drain.ts';
import { listContributors, forgetMessages, insertContributors, listWaiting } from '../../ingest/messages/store.ts';
import type { InboxMessage, MessageReport, ReadMessage } from '../../ingest/messages/store.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { refreshIdentity } from '../data/identity.service.ts';
import { loadStatus } from '../experiments/experiments.service.ts';
import { enqueueMacros } from '../macro-runs/macro-runs.service.ts';
import { countMeasurements } from './measurements.service.ts';
import { adoptObjects } from './arrivals.service.ts';
import { decodeStored } from './reading.service.ts';

/** Messages that are taken apart before others have their turn in this process. */
const AT_ONCE = 250;
const EXPERIMENTS_AT_ONCE = 100;
/** How long nothing is tried again once something around the service has failed. */
const AROUND_MS = 2_000;
/** Rest after messages were stored: few cost as much as hundreds, and where some came, more will come meanwhile. */
const REST_MS = 1_300;
const DAY = 86_400_000;
const QUARANTINE_DAYS = 90;

/** Why nothing of this sender may be stored in the experiment now; undefined when it may. */
async function refusalOf(ctx: Context, experimentId: string, userId: string | null): Promise<string | undefined> {
  const status = await loadStatus(ctx.db, experimentId);
  if (status === undefined) return 'experiment-unknown';
  if (userId !== null && !(await decide(ctx.db, userId, 'experiment', experimentId, 'contribute')).allow) return 'experiment-denied';
  return status === 'archived' ? 'archived' : undefined;
}

async function readMessages(ctx: Context, experimentId: string, pending: readonly InboxMessage[]): Promise<ReadMessage[]> {
  const refusals = new Map<string | null, string | undefined>();
  const read: ReadMessage[] = [];
  for (const [at, message] of pending.entries()) {
    const { id, userId, tries } = message;
    if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
    if (!refusals.has(userId)) refusals.set(userId, await refusalOf(ctx, experimentId, userId));
    const decoded =
      tries >= MOST_TRIES
        ? [{ kind: 'refusal' as const, index: null, reason: 'processing-failed' }]
        : await decodeStored(ctx.objects, message);
    read.push({ id, arrival: message, decoded, refused: refusals.get(userId) });
  }
  return read;
}

/** Takes messages apart, and makes sure that whose measurements they are has a name. */
async function readBatch(ctx: Context, experimentId: string, pending: readonly InboxMessage[]): Promise<ReadMessage[]> {
  const messages = await readMessages(ctx, experimentId, pending);
  const people = listContributors(messages);
  // names first, so that the first read of the rows shows them
  if (people.length > 0 && ((await insertContributors(ctx.db, experimentId, people)).length > 0 || pending.some(({ tries }) => tries > 0)))
    await refreshIdentity(ctx, experimentId);
  return messages;
}

/** Turns the waiting messages of one experiment into rows, batch by batch; `onStored` is called after each that stored any. */
export async function ingestExperiment(ctx: Context, experimentId: string, signal: AbortSignal, onStored: () => void): Promise<void> {
  const { db, staging, pipelines } = ctx;
  const alongside: typeof countMeasurements = async (tx, id, measurements) => {
    await countMeasurements(tx, id, measurements);
    await enqueueMacros(tx, id, measurements);
  };
  const onReports = (reports: readonly MessageReport[]) => {
    for (const { stored, quarantined, alreadyThere } of reports) {
      ctx.metrics.measurements.inc({ outcome: 'stored' }, stored);
      ctx.metrics.measurements.inc({ outcome: 'quarantined' }, quarantined);
      ctx.metrics.measurements.inc({ outcome: 'already-there' }, alreadyThere);
    }
    if (reports.some(({ stored }) => stored > 0)) onStored();
  };
  const read = (pending: readonly InboxMessage[]) => readBatch(ctx, experimentId, pending);
  await drainMessages({ db, staging, pipelines, alongside }, experimentId, { read, onReports }, signal);
}

/**
 * Turns every waiting message into rows, an experiment after the other. Two processes at it do no harm: a message is stored once. What fails stays where it is
 * for the next time. Whenever some were stored, `onStored` is called.
 */
export async function ingestWaiting(ctx: Context, signal: AbortSignal, onStored: () => void): Promise<void> {
  const waiting = await listWaiting(ctx.db, EXPERIMENTS_AT_ONCE);
  if (waiting.length === 0) return;
  let failedAround = false;
  // each begins elsewhere: two workers at one experiment do its work twice, and one of them in vain
  const start = Math.floor(Math.random() * waiting.length);
  for (const { experimentId } of [...waiting.slice(start), ...waiting.slice(0, start)]) {
    if (signal.aborted) return;
    await ingestExperiment(ctx, experimentId, signal, onStored).catch((error: unknown) => {
      failedAround ||= isAround(error);
      if (!signal.aborted) ctx.log.warn({ err: error, experimentId }, 'messages could not be stored yet');
    });
  }
  if (!failedAround && waiting.length === EXPERIMENTS_AT_ONCE) return;
  await sleep(failedAround ? AROUND_MS : REST_MS, undefined, { signal }).catch(() => undefined);
}

/** Every minute: takes in objects whose arrival was not noticed. */
export const adoptObjectsJob = (ctx: Context): JobHandler => ({
  name: 'messages.adopt',
  schedule: '* * * * *',
  run: async (_payload, signal) => {
    await adoptObjects(ctx, signal);
  },
});

/** Every night: forgets messages that were set aside longer ago than quarantine is kept. */
export const forgetMessagesJob = (ctx: Context): JobHandler => ({
  name: 'messages.forget',
  schedule: '20 2 * * *',
  run: async () => {
    await forgetMessages(ctx.db, new Date(Date.now() - QUARANTINE_DAYS * DAY), (key) => ctx.objects.delete(key));
  },
});
