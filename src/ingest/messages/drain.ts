/** The waiting messages of one experiment, batch after batch: one is taken apart while the one before it is written, and the one before that is committed. */
import { ApiError } from '../../errors.ts';
import type { Staged } from '../../lakehouse/terms/warehouse.ts';
import { isStorageFull } from '../../storage/full.ts';
import { makeTableIds } from './tables.ts';
import { ingestMessages, type MessageDeps, type ReadMessage, type Storing } from './store.ts';
import { findNewest, forgetTries, listPending, noteTry, takeBackTry, type InboxMessage, type MessageReport } from './messages.queries.ts';

/** What one batch takes at most: few messages wait in an idle service, and make a small one; of many a large one costs far less each. */
const LARGEST = { messages: 10_000, bytes: 16 * 1_048_576 };
/** Batches that are being stored: while one is committed, another is synced to the disk and a third one is written. */
const AT_ONCE = 3;
/** The part of a batch that is taken first: nothing else is done until it has been taken apart. Of 50,000 messages it saves 3 % of the time. */
const FIRST = 1 / 4;
/** Batches after which tries are forgotten: looking for whom they are still kept costs 5 ms. */
const FORGET_EVERY = 16;
/** The part of a batch that is tried together, by how often its messages have been tried before; any more, and each is tried alone. */
const PARTS = [1, 1, 20, 400];

/** Tries after which a message is to be set aside: the last of them were of it alone. */
export const MOST_TRIES = PARTS.length + 3;

export interface Draining {
  /** Takes messages apart, and says which may not be stored. */
  read: (pending: readonly InboxMessage[]) => Promise<ReadMessage[]>;
  onReports?: (reports: readonly MessageReport[]) => void;
  /** Messages of one batch. */
  most?: number;
}

/** A batch, taken apart. */
interface Taken {
  messages: ReadMessage[];
  /** Its last place in the order of arrival; 0 for a batch of none. */
  after: number;
  /** Whether one of it has failed more than once. */
  suspect: boolean;
  /** The note of this try. */
  tryId?: number;
}

/** True for a failure that says nothing about the messages: a full disk, or a store or database that cannot be reached. */
export const isAround = (error: unknown): boolean =>
  isStorageFull(error) || (error instanceof ApiError && (error.status === 503 || error.status === 504));

/** The first messages of a list that go together: nobody waits for a message that failed more often. */
function takeTogether(waiting: readonly InboxMessage[], most: number): InboxMessage[] {
  const tries = waiting[0]?.tries ?? 0;
  const other = waiting.findIndex((each) => each.tries > Math.max(tries, 1));
  const part = PARTS[tries];
  return waiting.slice(0, Math.min(part === undefined ? 1 : Math.ceil(most / part), other < 0 ? waiting.length : other));
}

/**
 * Turns every message of an experiment into rows that waits when this begins. What fails stays where it is, and its error is thrown. What comes meanwhile is left
 * for the next time: taken at once, ten messages a second made a batch each, and cost a quarter of a core.
 */
export async function drainMessages(
  deps: MessageDeps,
  experimentId: string,
  { read, onReports, most = LARGEST.messages }: Draining,
  signal?: AbortSignal,
): Promise<void> {
  const { db } = deps;
  // most messages come once; where one has come twice, more will
  let looksFirst = false;
  const tables = makeTableIds();
  const newest = await findNewest(db, experimentId);
  /** Whatever fails for another reason than the messages is no try of theirs. */
  const excusing = async <T>(tryId: number | undefined, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (tryId !== undefined && (signal?.aborted === true || isAround(error))) await takeBackTry(db, tryId).catch(() => undefined);
      throw error;
    }
  };
  const store = ({ messages, tryId }: Taken, before?: Storing): Storing => {
    let onDevices: (staged: Staged | undefined) => void = () => undefined;
    const devices = new Promise<Staged | undefined>((resolve) => (onDevices = resolve));
    const ended = (async () => {
      try {
        const options = { signal, before, looksFirst, onDevices, tables };
        const reports = await excusing(tryId, () => ingestMessages(deps, experimentId, messages, options));
        looksFirst ||= reports.some(({ alreadyThere }) => alreadyThere > 0);
        onReports?.(reports);
      } finally {
        onDevices(undefined);
      }
    })();
    ended.catch(() => undefined);
    return { ended, devices };
  };
  const take = async (messages: number, after: number): Promise<Taken> => {
    signal?.throwIfAborted();
    const pending = await listPending(db, experimentId, { messages, bytes: LARGEST.bytes, after });
    const batch = takeTogether(
      pending.filter(({ ordinal }) => ordinal <= newest),
      most,
    );
    const [from, to] = [batch.at(0), batch.at(-1)];
    const tryId = from && to && (await noteTry(db, experimentId, { first: from.ordinal, last: to.ordinal }));
    return {
      messages: await excusing(tryId, () => read(batch)),
      after: to?.ordinal ?? 0,
      suspect: batch.some(({ tries }) => tries > 1),
      tryId,
    };
  };
  /** In order. */
  const underWay: Storing[] = [];
  let after = 0;
  let coming = take(Math.ceil(most * FIRST), after);
  try {
    for (let batches = 1; ; batches += 1) {
      if (batches % FORGET_EVERY === 0) await forgetTries(db, experimentId);
      const batch = await coming;
      const isEmpty = batch.messages.length === 0;
      if (isEmpty && after === 0) {
        await forgetTries(db, experimentId);
        return;
      }
      // one that failed before may fail again
      const alone = isEmpty || batch.suspect;
      if (alone) await Promise.all(underWay.map(({ ended }) => ended));
      const one = store(batch, underWay.at(-1));
      underWay.push(one);
      if (alone) await one.ended;
      // what has become visible meanwhile, with an earlier place, is found from the beginning
      after = batch.after;
      // of those that failed before few are taken at once
      coming = take(batch.suspect ? Math.ceil(most / 20) : most, after);
      coming.catch(() => undefined);
      if (underWay.length >= AT_ONCE) await underWay.shift()?.ended;
    }
  } finally {
    await Promise.allSettled([...underWay.map(({ ended }) => ended), coming]);
  }
}
