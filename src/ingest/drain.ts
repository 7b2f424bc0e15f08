/** The waiting messages of one experiment, batch after batch: one is taken apart and written while the one before it is committed. */
import { ingestMessages, type MessageDeps, type ReadMessage } from './messages.ts';
import { countTries, listPending, type InboxMessage, type MessageReport } from './messages.queries.ts';

/** What one batch takes at most: few messages wait in an idle service, and make a small one; of many a large one costs far less each. */
const LARGEST = { messages: 10_000, bytes: 16 * 1_048_576 };
/** How many messages are tried together that have been tried so often before; any more, and each is tried alone. */
const FEW = 500;
const TOGETHER = [LARGEST.messages, LARGEST.messages, FEW, 25];

/** Tries after which a message is to be set aside: the last of them were of it alone. */
export const MOST_TRIES = TOGETHER.length + 3;

export interface Draining {
  /** Takes messages apart, and says which may not be stored. */
  read: (pending: readonly InboxMessage[]) => Promise<ReadMessage[]>;
  onReports?: (reports: readonly MessageReport[]) => void;
}

/** The first messages of a list that go together: nobody waits for a message that failed more often. */
export function takeTogether<T extends { tries: number }>(waiting: readonly T[]): T[] {
  const most = waiting[0]?.tries ?? 0;
  const other = waiting.findIndex(({ tries }) => tries > Math.max(most, 1));
  return waiting.slice(0, Math.min(TOGETHER[most] ?? 1, other < 0 ? waiting.length : other));
}

/** Turns every waiting message of an experiment into rows. What fails stays where it is, and its error is thrown. */
export async function drainMessages(
  deps: MessageDeps,
  experimentId: string,
  { read, onReports }: Draining,
  signal?: AbortSignal,
): Promise<void> {
  const { db } = deps;
  const store = async (messages: readonly ReadMessage[], previous?: Promise<void>) => {
    onReports?.(await ingestMessages(deps, experimentId, messages, { signal, before: previous }));
  };
  let before: Promise<void> | undefined;
  let stored: Promise<void> | undefined;
  let after = 0;
  let messages = LARGEST.messages;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const batch = takeTogether(await listPending(db, experimentId, { ...LARGEST, messages, after }));
      if (batch.length === 0 && after === 0) return;
      const ordinals = batch.map(({ ordinal }) => ordinal);
      if (batch.length > 0) await countTries(db, experimentId, ordinals);
      const suspect = batch.some(({ tries }) => tries > 1);
      const taken = await read(batch);
      // the first makes the table, and one that failed before may fail again
      const alone = before === undefined || batch.length === 0 || suspect;
      if (alone) await before;
      stored = store(taken, before);
      stored.catch(() => undefined);
      await (alone ? stored : before);
      before = stored;
      messages = suspect ? FEW : LARGEST.messages;
      // what has become visible meanwhile, with an earlier place, is found from the beginning
      after = ordinals.at(-1) ?? 0;
    }
  } finally {
    await Promise.allSettled([before, stored]);
  }
}
