/**
 * Stores the waiting messages of one experiment, batch after batch. While one batch is taken apart, the one before it is written, and the one before that is
 * committed.
 */
import { randomUUIDv7 } from 'node:crypto';
import { isAround } from '../around.ts';
import { ingestMessages, type MessageDeps, type ReadMessage } from './store.ts';
import {
  findNewest,
  forgetTries,
  listPending,
  noteTry,
  shortenTry,
  takeBackTry,
  type InboxMessage,
  type MessageReport,
} from './messages.queries.ts';

/** What one batch takes at most. In an idle service few messages wait, and make a small batch. In a large batch each message costs far less. */
export const LARGEST = { messages: 10_000, bytes: 16 * 1_048_576 };
/** How many batches are stored at once: while one is committed, another is synced to the disk and a third one is written. */
const AT_ONCE = 3;
/** Batches after which tries are forgotten. To find the tries that are no longer needed costs 5 ms. */
const FORGET_EVERY = 16;
/**
 * What part of a batch is tried together (1 means all, 20 a twentieth), by how often its messages have been tried before. After more tries each message is
 * tried alone.
 */
const PARTS = [1, 1, 20, 400];

/** Tries after which a message is to be set aside. In the last of them it was tried alone. */
export const MOST_TRIES = PARTS.length + 3;

export interface Draining {
  /** Takes messages apart, and says which may not be stored. May leave out the last ones, which are asked for again. */
  read: (pending: readonly InboxMessage[]) => Promise<ReadMessage[]>;
  onReports?: (reports: readonly MessageReport[]) => void;
  /** Messages of one batch. */
  most?: number;
  /** Milliseconds after which no further batch is begun; without end unless given. */
  turnMs?: number;
}

interface Taken {
  messages: ReadMessage[];
  /** The place of its last message in the order of arrival; 0 for an empty batch. */
  after: number;
  /** Whether one of its messages has failed more than once. */
  suspect: boolean;
  /** Whether some of those asked for were left out. */
  isCut: boolean;
  /** The id of the note of this try. */
  tryId?: number;
}

/** Takes the first messages of a list that are tried together: no message waits for one that failed more often. */
function takeTogether(waiting: readonly InboxMessage[], most: number): InboxMessage[] {
  const tries = waiting[0]?.tries ?? 0;
  const other = waiting.findIndex((each) => each.tries > Math.max(tries, 1));
  const part = PARTS[tries];
  return waiting.slice(0, Math.min(part === undefined ? 1 : Math.ceil(most / part), other < 0 ? waiting.length : other));
}

/**
 * Turns into rows every message of an experiment that waits when this begins. A message that fails stays where it is, and its error is thrown. Messages that
 * come meanwhile are left for the next time: when they were taken at once, ten messages a second made a batch each, and cost a quarter of a core. Answers false
 * when its turn was over before all were stored.
 */
export async function drainMessages(
  deps: MessageDeps,
  experimentId: string,
  { read: readBatch, onReports, most = LARGEST.messages, turnMs = Infinity }: Draining,
  signal?: AbortSignal,
): Promise<boolean> {
  const { db } = deps;
  const end = performance.now() + turnMs;
  // most messages come once; where one has come twice, more will
  let looksFirst = false;
  const rawDataId = randomUUIDv7();
  const newest = await findNewest(db, experimentId);
  /** Takes a try back when it fails for another reason than its messages. */
  const excusing = async <T>(tryId: number | undefined, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (tryId !== undefined && (signal?.aborted === true || isAround(error))) await takeBackTry(db, tryId).catch(() => undefined);
      throw error;
    }
  };
  const store = async ({ messages, tryId }: Taken, before?: Promise<unknown>): Promise<void> => {
    const options = { signal, before, looksFirst, rawDataId };
    const reports = await excusing(tryId, () => ingestMessages(deps, experimentId, messages, options));
    looksFirst ||= reports.some(({ alreadyThere }) => alreadyThere > 0);
    onReports?.(reports);
  };
  const take = async (messages: number, behind: number): Promise<Taken> => {
    signal?.throwIfAborted();
    const pending = await listPending(db, experimentId, { messages, bytes: LARGEST.bytes, after: behind });
    const known = pending.filter(({ ordinal }) => ordinal <= newest);
    const batch = takeTogether(known, most);
    const [from, to] = [batch.at(0), batch.at(-1)];
    const tryId = from && to && (await noteTry(db, experimentId, { first: from.ordinal, last: to.ordinal }));
    const read = await excusing(tryId, () => readBatch(batch));
    const after = read.at(-1)?.arrival.ordinal ?? 0;
    const isCut = read.length < batch.length;
    if (isCut && tryId !== undefined) await shortenTry(db, tryId, after);
    return { messages: read, after, suspect: batch.some(({ tries }) => tries > 1), isCut, tryId };
  };
  /** The batches that are being stored, oldest first. */
  const underWay: Promise<void>[] = [];
  let after = 0;
  let coming = take(most, after);
  try {
    for (let batches = 1; ; batches += 1) {
      if (batches % FORGET_EVERY === 0) await forgetTries(db, experimentId);
      const batch = await coming;
      const isEmpty = batch.messages.length === 0;
      if (isEmpty && after === 0) {
        await forgetTries(db, experimentId);
        return true;
      }
      // a message that failed before may fail again, and large ones do not fit the memory of the engine beside others
      const alone = isEmpty || batch.suspect || batch.isCut;
      if (alone) await Promise.all(underWay);
      const one = store(batch, underWay.at(-1));
      one.catch(() => undefined);
      underWay.push(one);
      if (alone) await one;
      // after an empty batch the search begins anew: messages with an earlier place may have become visible meanwhile
      after = batch.after;
      if (performance.now() >= end) {
        await Promise.all(underWay);
        await forgetTries(db, experimentId);
        return false;
      }
      // few of the messages that failed before are taken at once, and of those that are large once unpacked
      coming = take(batch.suspect ? Math.ceil(most / 20) : batch.isCut ? 2 * batch.messages.length : most, after);
      coming.catch(() => undefined);
      if (underWay.length >= AT_ONCE) await underWay.shift();
    }
  } finally {
    await Promise.allSettled([...underWay, coming]);
  }
}
