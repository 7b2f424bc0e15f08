import { createHash, randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isStillGood, type Caller, type HeldKey } from '../../auth/caller.ts';
import { requireAccess } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import { cleanName, isName } from '../../contract/names.ts';
import { findEarlierNow } from '../../database/clock.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { ApiError, errors, isRefusal, refuse } from '../../errors.ts';
import { LIMITS, limitFileBytes, type SourceKind } from '../../ingest/limits.ts';
import { forgetObject, PROCESSING_FAILED } from '../../ingest/uploads/ingest.ts';
import { nameFile } from '../../ingest/uploads/names.ts';
import { createTable, findUploadTable } from '../../lakehouse/tables/manifest.ts';
import type { LakeTable } from '../../lakehouse/tables/manifest-rows.ts';
import { printObjectKey } from '../../storage/objects.ts';
import { publishEvent } from '../events/events.service.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { requireWritable } from '../experiments/experiments.service.ts';
import { checkFields, fieldsShape, makeReading, type Fields, type PreviewFields } from './fields.ts';
import type { UploadReport } from './uploads.model.ts';
import {
  beatReceiving,
  deleteTableOf,
  deleteUploadsOf,
  failReceiving,
  findUpload,
  findUploadOwner,
  giveTurn,
  insertUpload,
  insertUploadFile,
  isAtWork,
  listNeededObjects,
  listObjectKeys,
  listUnplacedFiles,
  listUploadFiles,
  listUploadsToErase,
  lockTurnsOf,
  lockUploadsInto,
  markFileReceived,
  markReceived,
  type WaitingUpload,
} from './uploads.queries.ts';

/** What the reading of uploaded files needs of the service. */
export const makeReadDeps = ({ db, staging, pipelines, config }: Context) => ({
  db,
  staging,
  pipelines,
  maxRecordBytes: config.limits.uploadRecordBytes,
  parquetExpansion: config.limits.parquetExpansion,
});

export const INGEST_UPLOAD = 'uploads.ingest';

/** Has a job turn an upload that has arrived into rows, when it is its turn. */
export const enqueueIngest = (ctx: Context, { id, turn, createdBy }: WaitingUpload, tx: Queryable = ctx.db): Promise<void> =>
  ctx.jobs.enqueue(INGEST_UPLOAD, { uploadId: id }, { tx, key: id, turn, person: createdBy });

/** Puts an upload behind those of its sender that wait, and before those of others who have more waiting. */
export async function enqueueUpload(ctx: Context, tx: Transaction, uploadId: string): Promise<void> {
  await lockTurnsOf(tx, uploadId);
  const upload = await giveTurn(tx, uploadId);
  if (upload) await enqueueIngest(ctx, upload, tx);
}
const BEAT_MS = 5_000;

/** A part of a multipart body as it arrives, whichever parser read it. */
export type UploadPart =
  { kind: 'field'; name: string; value: string } | { kind: 'file'; name: string; filename: string; body: AsyncIterable<Uint8Array> };

/** Most bytes that a multipart body holds around one file, such as its name. */
const MOST_AROUND_FILE = 16_384;

/** Refuses a body that is announced as larger than all files of its kind together may be, before any file is read. */
function checkAnnounced(ctx: Context, bytes: number, sourceKind: SourceKind): void {
  const { maxFiles } = LIMITS[sourceKind];
  const maxFileBytes = limitFileBytes(sourceKind, ctx.config.limits.uploadFileBytes);
  if (bytes > maxFiles * (maxFileBytes + MOST_AROUND_FILE))
    throw errors.payloadTooLarge(`${maxFiles} files of ${maxFileBytes / 1_048_576} MiB each`);
}

interface Receiving {
  uploadId: string;
  experimentId: string;
  sourceKind: SourceKind;
}

const findJoined = async (tx: Transaction, experimentId: string, tableId: string): Promise<LakeTable> =>
  (await findUploadTable(tx, experimentId, tableId)) ?? refuse(errors.tableNotFound(tableId));

async function requireFreeName(tx: Transaction, experimentId: string, name: string): Promise<void> {
  const taken = await findUploadTable(tx, experimentId, name);
  if (taken) throw errors.tableNameTaken(name).with({ members: { uploadTableId: taken.id } });
}

/** Finds the table that files would join; undefined where they make a new one. Errors: tableNotFound, tableNameTaken. */
export async function findTarget(tx: Transaction, experimentId: string, fields: PreviewFields): Promise<LakeTable | undefined> {
  if (fields.targetKind === 'existing') return findJoined(tx, experimentId, fields.uploadTableId);
  if (fields.targetName !== undefined) await requireFreeName(tx, experimentId, fields.targetName);
  return undefined;
}

/** Finds the table that an upload goes into, or makes a new one. Making one needs `manage`, which the caller of this function checks. */
async function targetTable(tx: Transaction, caller: Caller, experimentId: string, fields: Fields): Promise<string> {
  if (fields.targetKind === 'existing') {
    const { id } = await findJoined(tx, experimentId, fields.uploadTableId);
    await lockUploadsInto(tx, id);
    // a file that is on its way out would be found there already
    if (await isAtWork(tx, id, 'withdrawing')) throw errors.tableBusy();
    return id;
  }
  await requireFreeName(tx, experimentId, fields.targetName);
  return (await createTable(tx, { experimentId, kind: 'upload', name: fields.targetName, createdBy: caller.userId })).id;
}

async function begin(ctx: Context, caller: Caller, experimentId: string, fields: Fields): Promise<Receiving> {
  const uploadId = randomUUIDv7();
  await ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    const tableId = await targetTable(tx, caller, experimentId, fields);
    const reading = makeReading(fields).options;
    await insertUpload(tx, { id: uploadId, experimentId, tableId, sourceKind: fields.sourceKind, createdBy: caller.userId, reading });
    await auditExperiment(tx, caller, experimentId, 'upload.created', { uploadId, tableId });
  });
  return { uploadId, experimentId, sourceKind: fields.sourceKind };
}

export type FilePart = Extract<UploadPart, { kind: 'file' }>;

/** Checks a file's name, and answers what the file is called in its upload, with blanks for marks that are not seen. Errors: uploadRefused. */
export function checkName(sourceKind: SourceKind, { filename }: FilePart) {
  const named = nameFile(sourceKind, filename);
  if ('refused' in named) throw errors.uploadRefused(`The file '${filename.slice(0, 100)}' is refused: ${named.refused}.`);
  return { path: isName(named.path) ? named.path : cleanName(named.path) };
}

/** Hashes one file of a call that may be a repeat, and stores nothing. */
async function hashFile(sourceKind: SourceKind, part: FilePart) {
  const { path } = checkName(sourceKind, part);
  const hash = createHash('sha256');
  for await (const bytes of part.body) hash.update(bytes);
  return { path, sha256: hash.digest('hex') };
}

/** Streams one file into the object store under a key of ours. Answers its path and the hash of its bytes. */
async function receiveFile(ctx: Context, { uploadId, sourceKind }: Receiving, part: FilePart, ordinal: number, signal: AbortSignal) {
  const named = checkName(sourceKind, part);
  const key = printObjectKey('uploads', uploadId, String(ordinal));
  if ((await insertUploadFile(ctx.db, { uploadId, path: named.path, ordinal, objectKey: key })) === 0)
    throw errors.uploadRefused(`Two files of this upload are named '${named.path.slice(0, 100)}'.`);
  const maxBytes = limitFileBytes(sourceKind, ctx.config.limits.uploadFileBytes);
  const stored = await ctx.objects.put(key, part.body, { maxBytes, signal }).catch((error: unknown) => {
    throw isRefusal(error, 'payloadTooLarge') ? errors.fileTooLarge(named.path.slice(0, 100), `${maxBytes / 1_048_576} MiB`) : error;
  });
  await markFileReceived(ctx.db, { uploadId, path: named.path, ...stored });
  return { path: named.path, sha256: stored.sha256 };
}

/** Ends an upload that did not arrive, and removes its bytes and the table that it was to make. Bytes that stay are removed by `sweepUploadObjects`. */
export async function abandon(ctx: Context, uploadId: string, reason: string): Promise<void> {
  const keys = await listObjectKeys(ctx.db, uploadId);
  const isAbandoned = await ctx.db.transaction(async (tx) => {
    if ((await failReceiving(tx, uploadId, reason)) === 0) return false;
    const owner = await findUploadOwner(tx, uploadId);
    if (owner)
      await publishEvent(ctx, tx, { kind: 'upload.failed', experimentId: owner.experimentId, facts: { uploadId, status: 'failed' } });
    // the name is free again although the bytes may have to wait for the store
    await deleteTableOf(tx, uploadId, PROCESSING_FAILED);
    return true;
  });
  // an experiment that was erased meanwhile took the upload with it, and what came since lies there yet
  if (!isAbandoned && (await findUploadOwner(ctx.db, uploadId))) return;
  for (const { objectKey: key } of keys) await ctx.objects.delete(key);
  await ctx.objects.erase(`${printObjectKey('uploads', uploadId)}/`);
}

/** How long the sender of a failed upload waits until it is abandoned. Without the database or the store this may take far longer. */
const ABANDON_MS = 2_000;

/** Abandons an upload, and goes on with that by itself after a while. Never throws: the sweeps do what fails. */
async function abandonPromptly(ctx: Context, uploadId: string, error: unknown): Promise<void> {
  const reason = error instanceof ApiError ? error.message : 'The upload was cut off.';
  const ended = abandon(ctx, uploadId, reason).catch((failed: unknown) =>
    ctx.log.warn({ err: failed, uploadId }, 'an upload is left to the sweeps'),
  );
  await Promise.race([ended, sleep(ABANDON_MS, undefined, { ref: false })]);
}

interface ReceiveOptions {
  /** Size of the whole body, as its sender announced it; 0 when not announced. */
  announcedBytes: number;
  signal: AbortSignal;
  /** Claims the caller's Idempotency-Key before the files come. */
  holdKey: () => Promise<HeldKey>;
}

/**
 * Receives files into a table of an experiment: fields first, then parts named `files`. The upload has a row from its first file on. When every file has
 * arrived, and the caller may still write, a job turns the files into rows. Any problem ends the upload as failed: the row keeps the reason, and the bytes are
 * removed.
 */
export async function receiveUpload(
  ctx: Context,
  caller: Caller,
  experimentId: string,
  parts: AsyncIterable<UploadPart>,
  { announcedBytes, signal, holdKey }: ReceiveOptions,
): Promise<UploadReport> {
  const given: Record<string, string> = {};
  const received: { path: string; sha256: string }[] = [];
  let receiving: Receiving | undefined;
  let beat: NodeJS.Timeout | undefined;
  let key: HeldKey | undefined;
  try {
    for await (const part of parts) {
      if (part.kind === 'field') {
        if (receiving) throw errors.uploadRefused('The fields must come before the files.');
        given[part.name] = part.value;
        continue;
      }
      if (part.name !== 'files') throw errors.uploadRefused("The file parts must be named 'files'.");
      const fields = checkFields(fieldsShape, given);
      if (!key) {
        checkAnnounced(ctx, announcedBytes, fields.sourceKind);
        if (fields.targetKind === 'new') await requireAccess(ctx.db, caller.userId, 'experiment', experimentId, 'manage');
        const held = (key = await holdKey());
        if (!held.isRepeat) {
          const { uploadId } = (receiving = await begin(ctx, caller, experimentId, fields));
          const prolong = () => Promise.all([beatReceiving(ctx.db, uploadId), held.prolong()]).catch(() => undefined);
          beat = setInterval(() => void prolong(), BEAT_MS);
        }
      }
      if (received.length >= LIMITS[fields.sourceKind].maxFiles)
        throw errors.uploadRefused(`An upload of this kind holds at most ${LIMITS[fields.sourceKind].maxFiles} files.`);
      received.push(receiving ? await receiveFile(ctx, receiving, part, received.length, signal) : await hashFile(fields.sourceKind, part));
    }
    const { targetKind } = checkFields(fieldsShape, given);
    key?.tell(
      createHash('sha256')
        .update(JSON.stringify([given, received]))
        .digest(),
    );
    if (!receiving) throw errors.uploadRefused('The upload holds no files.');
    const { uploadId } = receiving;
    return await ctx.db.transaction(async (tx) => {
      // a body may take hours, in which the caller's key, session or access can end
      if (!(await isStillGood(tx, caller))) throw caller.via.kind === 'key' ? errors.apiKeyUnknown() : errors.unauthorized();
      await requireAccess(tx, caller.userId, 'experiment', experimentId, targetKind === 'new' ? 'manage' : 'contribute');
      await requireWritable(tx, experimentId);
      const arrived = (await markReceived(tx, uploadId)) ?? refuse(errors.uploadRefused('The upload took too long and was given up.'));
      if (arrived.tableId === null) throw errors.tableDeleted();
      await enqueueUpload(ctx, tx, uploadId);
      return caller.created(tx, await loadReport(tx, caller, { experimentId, uploadId }));
    });
  } catch (error) {
    if (receiving) await abandonPromptly(ctx, receiving.uploadId, error);
    throw error;
  } finally {
    clearInterval(beat);
  }
}

interface UploadPath {
  experimentId: string;
  uploadId: string;
}

export async function loadReport(db: Queryable, { userId }: Caller, path: UploadPath): Promise<UploadReport> {
  const upload = (await findUpload(db, userId, path)) ?? refuse(errors.uploadNotFound());
  return { ...upload, files: await listUploadFiles(db, path.uploadId) };
}

/** Removes the bytes of ended uploads whose tables are gone. The reports of the uploads stay. */
export async function eraseUnplacedFiles(ctx: Context, experimentId: string): Promise<void> {
  for (const { uploadId, path, objectKey: key } of await listUnplacedFiles(ctx.db, experimentId)) {
    await ctx.objects.delete(key);
    await forgetObject(ctx.db, uploadId, path);
  }
}

/** How many objects the sweep asks about at once. */
const SWEEP_BATCH = 1_000;

/**
 * Removes bytes that nothing will read: those of uploads that failed while they arrived, and those of no upload at all. `graceMs` is how old an object must
 * be. Answers how many were removed.
 */
export async function sweepUploadObjects(ctx: Context, { graceMs, signal }: { graceMs: number; signal: AbortSignal }): Promise<number> {
  const before = (await findEarlierNow(ctx.db)) - graceMs;
  let removed = 0;
  let batch: string[] = [];
  const removeUnneeded = async () => {
    const needed = new Set((await listNeededObjects(ctx.db, batch)).map(({ objectKey: key }) => key));
    for (const key of batch) if (!needed.has(key) && (await ctx.objects.delete(key))) removed += 1;
    batch = [];
  };
  for await (const { key, modifiedAt } of ctx.objects.list('uploads/')) {
    signal.throwIfAborted();
    if (modifiedAt.getTime() >= before) continue;
    batch.push(key);
    if (batch.length >= SWEEP_BATCH) await removeUnneeded();
  }
  await removeUnneeded();
  return removed;
}

/** Removes the uploads of a deleted experiment with their bytes. */
export async function eraseUploads(ctx: Context, experimentId: string): Promise<{ rows: number; bytes: number }> {
  let bytes = 0;
  for (const { uploadId, objectKey: key, byteCount } of await listUploadsToErase(ctx.db, experimentId)) {
    if (key !== null && (await ctx.objects.delete(key))) bytes += byteCount;
    // every file of an upload goes, and a folder store keeps its empty folder otherwise
    await ctx.objects.erase(`${printObjectKey('uploads', uploadId)}/`);
  }
  return { rows: await deleteUploadsOf(ctx.db, experimentId), bytes };
}
