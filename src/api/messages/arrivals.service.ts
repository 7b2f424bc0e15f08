/** Objects that are put by a signed URL, on their way into the inbox. */
import { createHash, randomUUIDv7 } from 'node:crypto';
import type { Caller } from '../../auth/caller.ts';
import { requireAccess } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import { isAround } from '../../ingest/around.ts';
import { eraseMessages } from '../../ingest/messages/forget.ts';
import { listKnownObjects, storeMessages } from '../../ingest/messages/store.ts';
import { errors, refuse } from '../../errors.ts';
import { isObjectKey, printObjectKey, refuseTooLarge, type ObjectFacts } from '../../storage/objects.ts';
import { requireWritable } from '../experiments/experiments.service.ts';
import type { ArrivedObject, NewUploadUrl, UploadUrl } from './iot.model.ts';

const EXPIRES_IN_SECONDS = 900;
const PREFIX = 'messages';
const ADOPT_AFTER_MS = 60_000;
const BATCH = 500;
/** Bytes of one object at most. */
export const LARGEST_OBJECT = 33_554_432;

/** Signs a URL for one object of measurement messages. Errors: not found, denied, archived. */
export async function signUploadUrl(ctx: Context, caller: Caller, body: NewUploadUrl): Promise<UploadUrl> {
  const { experimentId, contentLength, contentType, sha256 } = body;
  await requireAccess(ctx.db, caller.userId, 'experiment', experimentId, 'contribute');
  const key = printObjectKey(PREFIX, experimentId.toLowerCase(), caller.userId, randomUUIDv7());
  return ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    const signed = await ctx.objects.signPut(key, {
      expiresInSeconds: EXPIRES_IN_SECONDS,
      contentLength,
      contentType,
      sha256: sha256?.toLowerCase(),
    });
    const answer = { uploadUrl: signed.url, key, expiresAt: signed.expiresAt, headers: { ...signed.headers } };
    return caller.created(tx, answer, { made: `an upload URL for ${key}` });
  });
}

/** Reads from a key of ours who put the object, and which experiment it goes to. */
function ownerOf(key: string) {
  const [prefix, experimentId, userId, name, ...rest] = key.split('/');
  return prefix === PREFIX && experimentId && userId && name && rest.length === 0 ? { experimentId, userId } : undefined;
}

/** Takes a stored object into the inbox. The same bytes of the same person are one message: a second object of them is removed. */
export async function acceptObject(ctx: Context, key: string, { sha256, byteCount }: { sha256: string; byteCount: number }): Promise<void> {
  const owner = ownerOf(key);
  if (!owner) return;
  const added = await storeMessages(ctx.db, [{ ...owner, body: { objectKey: key, sha256, byteCount } }]);
  if (added.length === 0 && (await listKnownObjects(ctx.db, [key])).length === 0) await ctx.objects.delete(key);
}

/**
 * Takes an object of the bucket into the inbox, and answers its size. Removes an object that is too large, which a URL without a signed length allows, and
 * answers null.
 */
async function takeObject(
  ctx: Context,
  { key, byteCount: size }: Pick<ObjectFacts, 'key' | 'byteCount'>,
  signal: AbortSignal,
): Promise<number | null> {
  if (size > LARGEST_OBJECT) {
    await ctx.objects.delete(key);
    ctx.log.warn({ key, byteCount: size }, 'an object of messages was too large and is removed');
    return null;
  }
  const hash = createHash('sha256');
  let byteCount = 0;
  for await (const chunk of await ctx.objects.get(key)) {
    signal.throwIfAborted();
    hash.update(chunk);
    byteCount += chunk.byteLength;
  }
  await acceptObject(ctx, key, { sha256: hash.digest('hex'), byteCount });
  return byteCount;
}

/** Takes an object into the inbox once its sender says that it was put. Errors: not theirs, not there, denied, archived, too large. */
export async function completeUpload(ctx: Context, caller: Caller, key: string, signal: AbortSignal): Promise<ArrivedObject> {
  const owner = ownerOf(key);
  if (!owner || !isObjectKey(key) || owner.userId !== caller.userId) throw errors.objectNotFound();
  await requireAccess(ctx.db, caller.userId, 'experiment', owner.experimentId, 'contribute');
  await ctx.db.transaction((tx) => requireWritable(tx, owner.experimentId));
  const facts = (await ctx.objects.head(key)) ?? refuse(errors.objectNotFound());
  if ((await listKnownObjects(ctx.db, [key])).length > 0) return { key, contentLength: facts.byteCount };
  const contentLength = await takeObject(ctx, facts, signal);
  if (contentLength === null) throw refuseTooLarge(LARGEST_OBJECT);
  return { key, contentLength };
}

/** Takes an object into the inbox, and answers whether it is there. One that cannot be taken for a reason of its own is logged, and stays for the next time. */
async function tryObject(ctx: Context, facts: ObjectFacts, signal: AbortSignal): Promise<boolean> {
  try {
    return (await takeObject(ctx, facts, signal)) !== null;
  } catch (error) {
    signal.throwIfAborted();
    if (isAround(error)) throw error;
    ctx.log.warn({ err: error, key: facts.key }, 'an object of messages could not be taken in yet');
    return false;
  }
}

/**
 * Takes objects into the inbox whose arrival was lost, with the process or with the store's message about it. One that cannot be taken holds back no other.
 * Answers how many were taken.
 */
export async function adoptObjects(ctx: Context, signal: AbortSignal, afterMs = ADOPT_AFTER_MS): Promise<number> {
  let adopted = 0;
  let batch: ObjectFacts[] = [];
  const adopt = async () => {
    const keys = batch.map(({ key }) => key);
    const known = new Set(await listKnownObjects(ctx.db, keys));
    for (const facts of batch) if (!known.has(facts.key) && (await tryObject(ctx, facts, signal))) adopted += 1;
    batch = [];
  };
  for await (const facts of ctx.objects.list(`${PREFIX}/`)) {
    signal.throwIfAborted();
    if (Date.now() - facts.modifiedAt.getTime() < afterMs) continue;
    batch.push(facts);
    if (batch.length >= BATCH) await adopt();
  }
  await adopt();
  return adopted;
}

/** Removes the inbox of a deleted experiment, with the objects in it. */
export async function eraseInbox(ctx: Context, experimentId: string): Promise<{ rows: number; bytes: number }> {
  const removed = await eraseMessages(ctx.db, experimentId, (key) => ctx.objects.delete(key));
  await ctx.objects.erase(`${printObjectKey(PREFIX, experimentId.toLowerCase())}/`);
  return removed;
}
