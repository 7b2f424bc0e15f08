import { setTimeout as sleep } from 'node:timers/promises';
import { isAllowed } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import { findEarlierNow } from '../../database/clock.ts';
import type { Transaction } from '../../database/database.ts';
import { isAround } from '../../ingest/around.ts';
import { drainMessages, MOST_TRIES } from '../../ingest/messages/drain.ts';
import { forgetMessages } from '../../ingest/messages/forget.ts';
import { listContributors, insertContributors, listWaiting } from '../../ingest/messages/store.ts';
import type { InboxMessage, MessageReport, ReadMessage } from '../../ingest/messages/store.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { refreshIdentity } from '../data/identity.service.ts';
import { findStatus } from '../experiments/experiments.service.ts';
import { enqueueMacros } from '../macro-runs/macro-runs.service.ts';
import { countMeasurements } from './measurements.service.ts';
import { adoptObjects } from './arrivals.service.ts';
import { listNamingLimits } from './registry.queries.ts';
import { decodeStored, readTogether } from './reading.service.ts';

const EXPERIMENTS_AT_ONCE = 100;
/** After so long an experiment gives way to the others that wait. */
const TURN_MS = 2_000;
/**
 * How a round ends in which each experiment has a turn. `idle`: nothing waits. `cut`: a turn was over before all was stored. `full`: more experiments may wait
 * than were looked at.
 */
type RoundEnd = 'idle' | 'cut' | 'full' | 'failed' | 'done';
/**
 * Milliseconds of rest after a round. `failed` is a failure around the service, such as an unreachable database. `done`: storing a few messages costs as much
 * as storing hundreds, and more are likely to come meanwhile.
 */
const REST_MS: Readonly<Record<RoundEnd, number>> = { idle: 0, cut: 0, full: 0, failed: 2_000, done: 1_300 };
/** How long an experiment is left to another process that has it and whose oldest message stays the same: one that stands still is not waited for. */
const LEFT_MS = 15_000;
const DAY = 86_400_000;
const QUARANTINE_DAYS = 90;

/** Tells why messages of this sender may not be stored in the experiment now; undefined when they may. */
async function refusalOf(ctx: Context, experimentId: string, userId: string | null): Promise<string | undefined> {
  const status = await findStatus(ctx.db, experimentId);
  if (status === undefined) return 'experiment-unknown';
  if (userId !== null && !(await isAllowed(ctx.db, userId, 'experiment', experimentId, 'contribute'))) return 'experiment-denied';
  return status === 'archived' ? 'archived' : undefined;
}

/** Takes messages apart, up to about the bytes of a batch, and says which may not be stored. */
async function readMessages(ctx: Context, experimentId: string, pending: readonly InboxMessage[]): Promise<ReadMessage[]> {
  const refusals = new Map<string | null, string | undefined>();
  const devices = new Set(pending.flatMap(({ clientId, userId }) => (userId === null ? (clientId ?? []) : [])));
  const limits = devices.size === 0 ? [] : await listNamingLimits(ctx.db, experimentId, [...devices]);
  const limitOf = new Map(limits.map(({ clientId, ownerId }) => [clientId, { namesOnly: ownerId }]));
  return readTogether(pending, async (message) => {
    const { userId, tries } = message;
    if (!refusals.has(userId)) refusals.set(userId, await refusalOf(ctx, experimentId, userId));
    const decoded =
      tries >= MOST_TRIES
        ? [{ kind: 'refusal' as const, index: null, reason: 'processing-failed' }]
        : await decodeStored(ctx.objects, message);
    return { id: message.id, arrival: { ...message, ...limitOf.get(message.clientId ?? '') }, decoded, refused: refusals.get(userId) };
  });
}

/** Decodes messages, and makes sure that the people whose measurements they hold have names in the lake. */
async function readBatch(ctx: Context, experimentId: string, pending: readonly InboxMessage[]): Promise<ReadMessage[]> {
  const messages = await readMessages(ctx, experimentId, pending);
  const people = listContributors(messages);
  // names first, so that the first read of the rows shows them
  if (people.length > 0 && ((await insertContributors(ctx.db, experimentId, people)).length > 0 || pending.some(({ tries }) => tries > 0)))
    await refreshIdentity(ctx, experimentId);
  return messages;
}

interface Turn {
  signal: AbortSignal;
  /** Called after each batch that stored any. */
  onStored: () => void;
  /** Milliseconds after which no further batch is begun. */
  turnMs: number;
}

/** Turns the waiting messages of one experiment into rows, batch by batch. Answers false when its turn was over before all were stored. */
export async function ingestExperiment(ctx: Context, experimentId: string, { signal, onStored, turnMs }: Turn): Promise<boolean> {
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
  // an experiment that is made active again meanwhile has asked already for what was set aside
  const isStillRefused = async (tx: Transaction, id: string, reason: string) =>
    reason !== 'archived' || (await findStatus(tx, id)) === 'archived';
  const read = (pending: readonly InboxMessage[]) => readBatch(ctx, experimentId, pending);
  return drainMessages({ db, staging, pipelines, alongside, isStillRefused }, experimentId, { read, onReports, turnMs }, signal);
}

/**
 * Answers a function that turns every waiting message into rows. The experiments take turns, and those that another process has are left out: two that meet
 * at one experiment would do its work twice, one of them in vain; a message is stored only once even so. A message that fails stays for the next time.
 * Calls `onStored` whenever some were stored.
 */
export function makeIngestion(ctx: Context, onStored: () => void, turnMs = TURN_MS): (signal: AbortSignal) => Promise<void> {
  /** The experiments that are left to another process: the oldest message of each, and since when it is the oldest. */
  let left = new Map<string, { oldest: number; since: number }>();
  /** The experiments whose last turn was over before all of theirs was stored. */
  let cut = new Set<string>();
  const giveTurns = async (signal: AbortSignal): Promise<RoundEnd> => {
    const waiting = await listWaiting(ctx.db, EXPERIMENTS_AT_ONCE);
    if (waiting.length === 0) return 'idle';
    const [leftBefore, cutBefore] = [left, cut];
    left = new Map();
    cut = new Set();
    const ingestOne = async (experimentId: string, oldest: number): Promise<void> => {
      const release = await ctx.jobs.claim(`messages of ${experimentId}`);
      if (release === null) {
        const before = leftBefore.get(experimentId);
        const since = before?.oldest === oldest ? before.since : performance.now();
        left.set(experimentId, { oldest, since });
        if (performance.now() - since < LEFT_MS) return;
      }
      const isDone = await ingestExperiment(ctx, experimentId, { signal, onStored, turnMs }).finally(() => release?.());
      if (!isDone) cut.add(experimentId);
    };
    let failedAround = false;
    // who had a turn comes after who had none
    waiting.sort((a, b) => Number(cutBefore.has(a.experimentId)) - Number(cutBefore.has(b.experimentId)));
    for (const { experimentId, oldest } of waiting) {
      if (signal.aborted) return 'idle';
      await ingestOne(experimentId, oldest).catch((error: unknown) => {
        failedAround ||= isAround(error);
        if (!signal.aborted) ctx.log.warn({ err: error, experimentId }, 'messages could not be stored yet');
      });
    }
    if (failedAround) return 'failed';
    if (cut.size > 0) return 'cut';
    return waiting.length === EXPERIMENTS_AT_ONCE ? 'full' : 'done';
  };
  return async (signal) => {
    let end = await giveTurns(signal);
    while (end === 'cut') end = await giveTurns(signal);
    if (REST_MS[end] > 0) await sleep(REST_MS[end], undefined, { signal }).catch(() => undefined);
  };
}

/** Every minute: takes in objects whose arrival was not noticed. */
export const adoptObjectsJob = (ctx: Context): JobHandler => ({
  name: 'messages.adopt',
  schedule: '* * * * *',
  run: (_payload, signal) => adoptObjects(ctx, signal),
});

/** Every night: forgets messages that were set aside more than `QUARANTINE_DAYS` ago. */
export const forgetMessagesJob = (ctx: Context): JobHandler => ({
  name: 'messages.forget',
  schedule: '20 2 * * *',
  run: async () => {
    await forgetMessages(ctx.db, new Date((await findEarlierNow(ctx.db)) - QUARANTINE_DAYS * DAY), (key) => ctx.objects.delete(key));
  },
});
