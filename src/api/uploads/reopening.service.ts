/** Has work done again on uploads that have ended. */
import type { Caller } from '../../auth/caller.ts';
import { requireAccess } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import { errors, refuse } from '../../errors.ts';
import { PROCESSING_FAILED } from '../../ingest/uploads/ingest.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { requireWritable } from '../experiments/experiments.service.ts';
import type { UploadReport } from './uploads.model.ts';
import { isAtWork, lockUpload, lockUploadsInto, reopenFiles, reopenUpload, requestReplay, requestWithdrawal } from './uploads.queries.ts';
import { loadReport, enqueueUpload } from './uploads.service.ts';

/**
 * Has a job read again the quarantined records of an upload, and its files that failed with `processing_failed`. Errors: not found, archived, still being read,
 * its table gone.
 */
export async function replayUpload(ctx: Context, caller: Caller, experimentId: string, uploadId: string): Promise<UploadReport> {
  return ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    const upload = (await lockUpload(tx, experimentId, uploadId)) ?? refuse(errors.uploadNotFound());
    if (upload.status === 'pending' || upload.status === 'running') throw errors.uploadRunning();
    if (upload.tableId === null) throw errors.tableDeleted();
    const files = (await requestReplay(tx, uploadId)) + (await reopenFiles(tx, uploadId, PROCESSING_FAILED));
    if (files > 0) {
      await reopenUpload(tx, uploadId);
      await auditExperiment(tx, caller, experimentId, 'upload.replayed', { uploadId });
      await enqueueUpload(ctx, tx, uploadId);
    }
    return loadReport(tx, caller, { experimentId, uploadId });
  });
}

/**
 * Has a job take the rows of an upload out of its table again. Whoever sent it may, and whoever manages the experiment. Errors: not found, forbidden, archived,
 * an upload of the table still under way, its table gone.
 */
export async function withdrawUpload(ctx: Context, caller: Caller, experimentId: string, uploadId: string): Promise<UploadReport> {
  return ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    const upload = (await lockUpload(tx, experimentId, uploadId)) ?? refuse(errors.uploadNotFound());
    if (upload.createdBy !== caller.userId) await requireAccess(tx, caller.userId, 'experiment', experimentId, 'manage');
    if (!upload.withdrawRequested) {
      const { tableId } = upload;
      if (tableId === null) throw errors.tableDeleted();
      await lockUploadsInto(tx, tableId);
      if (await isAtWork(tx, tableId, 'reading')) throw errors.tableBusy();
      await requestWithdrawal(tx, uploadId);
      await reopenUpload(tx, uploadId);
      await auditExperiment(tx, caller, experimentId, 'upload.withdrawn', { uploadId, tableId });
      await enqueueUpload(ctx, tx, uploadId);
    }
    return loadReport(tx, caller, { experimentId, uploadId });
  });
}
