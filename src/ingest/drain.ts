/** The waiting messages of one experiment, batch after batch: one is taken apart and written while the one before it is committed. */
import { ingestMessages, type MessageDeps, type ReadMessage } from './messages.ts';
import { listPending, noteTry, type InboxMessage, type MessageReport } from './messages.queries.ts';

/** What one batch takes at most: few messages wait in an idle service, and make a small one; of many a large one costs far less each. */
const LARGEST = { messages: 10_000, bytes: 16 * 1_048_576 };
/** What the first takes: it makes the tables, and the others wait for it. */
const FIRST = 2_000;
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

/** The first messages of a list that go together: nobody waits for a message that failed more often. */
function takeTogether(waiting: readonly InboxMessage[], most: number): InboxMessage[] {
  const tries = waiting[0]?.tries ?? 0;
  const other = waiting.findIndex((each) => each.tries > Math.max(tries, 1));
  const part = PARTS[tries];
  return waiting.slice(0, Math.min(part === undefined ? 1 : Math.ceil(most / part), other < 0 ? waiting.length : other));
}

/** Turns every waiting message of an experiment into rows. What fails stays where it is, and its error is thrown. */
export async function drainMessages(
  deps: MessageDeps,
  experimentId: string,
  { read, onReports, most = LARGEST.messages }: Draining,
  signal?: AbortSignal,
): Promise<void> {
  const { db } = deps;
  const store = async (messages: readonly ReadMessage[], previous?: Promise<void>) => {
    const reports = await ingestMessages(deps, experimentId, messages, { signal, before: previous });
    onReports?.(reports);
  };
  let first: Promise<void> | undefined;
  let before: Promise<void> | undefined;
  let stored: Promise<void> | undefined;
  let after = 0;
  let messages = Math.min(most, FIRST);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const batch = takeTogether(await listPending(db, experimentId, { messages, bytes: LARGEST.bytes, after }), most);
      if (batch.length === 0 && after === 0) return;
      const [from, to] = [batch.at(0), batch.at(-1)];
      if (from && to) await noteTry(db, experimentId, { first: from.ordinal, last: to.ordinal });
      const suspect = batch.some(({ tries }) => tries > 1);
      const taken = await read(batch);
      // one that failed before may fail again
      const alone = batch.length === 0 || suspect;
      if (alone) await before;
      // it makes the table
      await first;
      stored = store(taken, before);
      stored.catch(() => undefined);
      first ??= stored;
      await (alone ? stored : before);
      before = stored;
      // of those that failed before few are taken at once
      messages = suspect ? Math.ceil(most / 20) : most;
      // what has become visible meanwhile, with an earlier place, is found from the beginning
      after = to?.ordinal ?? 0;
    }
  } finally {
    await Promise.allSettled([before, stored]);
  }
}
