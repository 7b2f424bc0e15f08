import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Caller } from '../../auth/caller.ts';
import { requireAccess } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import { errors } from '../../errors.ts';
import { LIMITS, PREVIEW_LIMITS } from '../../ingest/limits.ts';
import { FileRefused } from '../../ingest/record-writer.ts';
import { describeRefused, previewFile, type FilePreview } from '../../ingest/uploads/preview.ts';
import { listColumnsAt, type ColumnState } from '../../lakehouse/tables/manifest.ts';
import type { LakeTable } from '../../lakehouse/tables/manifest-rows.ts';
import { useFolder } from '../../lakehouse/tables/staging.ts';
import { requireWritable } from '../experiments/experiments.service.ts';
import { checkFields, makeReading, previewShape, type PreviewFields } from './fields.ts';
import type { PreviewedFile, UploadPreview } from './uploads.model.ts';
import { checkName, findTarget, makeReadDeps, type FilePart, type UploadPart } from './uploads.service.ts';

const { maxFiles, maxFileBytes } = PREVIEW_LIMITS;
/** How long the preview of one file may take. */
const MOST_MS = 20_000;
/** How long the looks at all files of a preview may take together. */
const MOST_TOGETHER_MS = 60_000;

/** Where the files would go, and the columns that are there. */
interface Target {
  fields: PreviewFields;
  /** The organization of the experiment. */
  organizationId: string;
  table: LakeTable | undefined;
  known: readonly ColumnState[];
}

async function openTarget(ctx: Context, caller: Caller, experimentId: string, fields: PreviewFields): Promise<Target> {
  const action = fields.targetKind === 'new' ? 'manage' : 'contribute';
  const organizationId = await requireAccess(ctx.db, caller.userId, 'experiment', experimentId, action);
  return ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    const table = await findTarget(tx, experimentId, fields);
    return { fields, organizationId, table, known: table ? await listColumnsAt(tx, table.id, table.version) : [] };
  });
}

/** Writes the bytes of a file to this machine. Errors: fileTooLarge. */
async function receivePart(part: FilePart, path: string, to: string, signal: AbortSignal): Promise<{ byteCount: number; sha256: string }> {
  const hash = createHash('sha256');
  let byteCount = 0;
  const count = async function* (bytes: AsyncIterable<Uint8Array>) {
    for await (const piece of bytes) {
      byteCount += piece.length;
      if (byteCount > maxFileBytes) throw errors.fileTooLarge(path.slice(0, 100), `${maxFileBytes / 1_048_576} MiB`);
      hash.update(piece);
      yield piece;
    }
  };
  await pipeline(part.body, count, createWriteStream(to, { flags: 'wx', mode: 0o600 }), { signal });
  return { byteCount, sha256: hash.digest('hex') };
}

interface PreviewOptions {
  signal: AbortSignal;
  /** How long the look at one file may take. */
  mostMs?: number;
  /** How long the looks at all files may take together. */
  mostTogetherMs?: number;
}

/** Looks at a file on this machine's disk. The look may take `mostMs`, and counts among the reads that the caller may have at once. */
async function lookAt(
  ctx: Context,
  caller: Caller,
  { fields, organizationId, table, known }: Target,
  file: { path: string; original: string; isPart: boolean; sha256: string; work: string },
  { signal, mostMs }: { signal: AbortSignal; mostMs: number },
): Promise<{ file: FilePreview; columns: readonly ColumnState[] }> {
  const release = await ctx.shares.acquire({ caller: caller.userId, owner: organizationId }, signal);
  const late = AbortSignal.timeout(mostMs);
  const task = { ...file, kind: fields.sourceKind, options: makeReading(fields).options, tableId: table?.id, known };
  try {
    return await previewFile(makeReadDeps(ctx), task, AbortSignal.any([signal, late]));
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
    const tooSlow = new FileRefused(
      'took_too_long',
      'To look at the file takes too long. Its report tells what became of it once it is uploaded.',
    );
    return { file: describeRefused(file.path, tooSlow), columns: known };
  } finally {
    release();
  }
}

/**
 * Says what an upload of files would decide, by their bytes or their beginnings. Fields come first, then parts named `files` for whole files and `parts` for
 * beginnings. Files are looked at in their order; each look includes the columns that the files before would have made. At most one file is on this machine at
 * a time, and none remains at the end. Once the looks together have taken their time, what is left of the files took too long.
 */
export async function previewUpload(
  ctx: Context,
  caller: Caller,
  experimentId: string,
  parts: AsyncIterable<UploadPart>,
  { signal, mostMs = MOST_MS, mostTogetherMs = MOST_TOGETHER_MS }: PreviewOptions,
): Promise<UploadPreview> {
  let leftMs = mostTogetherMs;
  const given: Record<string, string> = {};
  const files: PreviewedFile[] = [];
  let target: Target | undefined;
  for await (const part of parts) {
    if (part.kind === 'field') {
      if (target) throw errors.uploadRefused('The fields must come before the files.');
      given[part.name] = part.value;
      continue;
    }
    if (part.name !== 'files' && part.name !== 'parts') throw errors.uploadRefused("The file parts must be named 'files' or 'parts'.");
    const into = (target ??= await openTarget(ctx, caller, experimentId, checkFields(previewShape, given)));
    const { sourceKind } = into.fields;
    if (files.length >= Math.min(maxFiles, LIMITS[sourceKind].maxFiles))
      throw errors.uploadRefused(`A preview looks at no more than ${maxFiles} files.`);
    const { path } = checkName(sourceKind, part);
    if (files.some((file) => file.path === path)) throw errors.uploadRefused(`Two files of this upload are named '${path.slice(0, 100)}'.`);
    const isPart = part.name === 'parts';
    const { file, columns, byteCount } = await useFolder(ctx.staging, async (work) => {
      const original = join(work, 'original');
      const { byteCount, sha256 } = await receivePart(part, path, original, signal);
      const begun = performance.now();
      const ofOne = { signal, mostMs: Math.max(0, Math.floor(Math.min(mostMs, leftMs))) };
      const looked = await lookAt(ctx, caller, into, { path, original, isPart, sha256, work }, ofOne);
      leftMs -= performance.now() - begun;
      return { ...looked, byteCount };
    });
    target = { ...into, known: columns };
    const { stored, quarantined, alreadyThere, columns: told, otherColumns } = file;
    files.push({
      ...{ ...file, isPart, byteCount, rowsIn: stored + quarantined + alreadyThere },
      columns: told as PreviewedFile['columns'],
      otherColumns: [...otherColumns],
    });
  }
  const fields = checkFields(previewShape, given);
  if (!target) throw errors.uploadRefused('The upload holds no files.');
  const { table } = target;
  return {
    sourceKind: fields.sourceKind,
    uploadTableId: table?.id ?? null,
    uploadTableName: table?.name ?? (fields.targetKind === 'new' ? (fields.targetName ?? null) : null),
    files,
  };
}
