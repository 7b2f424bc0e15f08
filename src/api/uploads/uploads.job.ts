import type { Context } from '../../context.ts';
import { ingestUpload, PROCESSING_FAILED } from '../../ingest/uploads/ingest.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { refreshIdentity } from '../data/identity.service.ts';
import { publishEvent } from '../events/events.service.ts';
import { deleteTableOf, findUploadOwner, listSilentUploads } from './uploads.queries.ts';
import { abandon, enqueueIngest, INGEST_UPLOAD, makeReadDeps, sweepUploadObjects } from './uploads.service.ts';

/** Turns the files of an upload into rows. Runs again after a crash, and then adds only what is missing. */
export const ingestUploadJob = (ctx: Context): JobHandler => ({
  name: INGEST_UPLOAD,
  concurrency: 3,
  perPerson: 2,
  run: async (payload, signal) => {
    const { uploadId } = payload as { uploadId: string };
    const upload = await findUploadOwner(ctx.db, uploadId);
    if (!upload) return;
    // names first, so that the first read of the rows shows them
    await refreshIdentity(ctx, upload.experimentId);
    await ingestUpload({ ...makeReadDeps(ctx), store: ctx.objects, log: (message, facts) => ctx.log.warn(facts, message) }, uploadId, {
      signal,
      onEnd: async (tx, status) => {
        if (status === 'failed') await deleteTableOf(tx, uploadId, PROCESSING_FAILED);
        const kind = status === 'failed' ? 'upload.failed' : 'upload.completed';
        await publishEvent(ctx, tx, {
          kind: upload.withdrawRequested ? 'upload.withdrawn' : kind,
          experimentId: upload.experimentId,
          facts: { uploadId, status },
        });
      },
    });
  },
});

/** Ends uploads that were cut off while they arrived. Enqueues again those that had arrived, when the process that worked on them is gone. */
export async function sweepUploads(ctx: Context): Promise<void> {
  for (const { received, ...upload } of await listSilentUploads(ctx.db))
    if (received) await enqueueIngest(ctx, upload);
    else await abandon(ctx, upload.id, 'The upload was cut off before all of it had arrived.');
}

const DAY_MS = 86_400_000;

/** Every night: removes bytes of uploads that nothing will read. A day is longer than any upload takes. */
export const sweepUploadObjectsJob = (ctx: Context): JobHandler => ({
  name: 'uploads.sweepObjects',
  schedule: '50 2 * * *',
  run: async (_payload, signal) => {
    ctx.log.info({ removed: await sweepUploadObjects(ctx, { graceMs: DAY_MS, signal }) }, 'objects of uploads swept');
  },
});
