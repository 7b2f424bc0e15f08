/** Removes messages from the inbox, and their bytes from the object store. */
import type { Queryable } from '../../database/database.ts';
import * as queries from './messages.queries.ts';

const BATCH = 500;

type RemoveObject = (key: string) => Promise<unknown>;

/** Removes messages, after their objects. Answers how many. */
async function removeMessages(db: Queryable, messages: readonly { id: string; objectKey: string | null }[], removeObject: RemoveObject) {
  for (const { objectKey } of messages) if (objectKey !== null) await removeObject(objectKey);
  return queries.deleteMessages(db, messages);
}

/** Forgets messages that were set aside before a time, and their objects. */
export async function forgetMessages(db: Queryable, before: Date, removeObject: RemoveObject): Promise<number> {
  for (let forgotten = 0; ;) {
    const messages = await queries.listExpired(db, before, BATCH);
    if (messages.length === 0) return forgotten;
    forgotten += await removeMessages(db, messages, removeObject);
  }
}

/** Removes everything that an experiment has in the inbox. */
export async function eraseMessages(
  db: Queryable,
  experimentId: string,
  removeObject: RemoveObject,
): Promise<{ rows: number; bytes: number }> {
  const removed = { rows: 0, bytes: 0 };
  for (;;) {
    const messages = await queries.listEveryMessage(db, experimentId, BATCH);
    if (messages.length === 0) break;
    removed.rows += await removeMessages(db, messages, removeObject);
    removed.bytes += messages.reduce((sum, { byteCount }) => sum + byteCount, 0);
  }
  await queries.forgetTries(db, experimentId);
  await queries.deleteContributors(db, experimentId);
  return removed;
}
