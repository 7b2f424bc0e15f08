import { sweepJob } from './api/account/sweep.job.ts';
import { forgetChangesJob } from './api/changes/changes.job.ts';
import { anyIdentityChangeDue } from './api/data/identity.queries.ts';
import { refreshChangedIdentities } from './api/data/identity.service.ts';
import { compactJob, sweepLakeJob, sweepObjectsJob } from './api/data/maintenance.job.ts';
import { disownThingJob } from './api/devices/discarded.job.ts';
import { eraseExperiment, wakeErasuresJob } from './api/erasure/erasure.job.ts';
import { embargoJob } from './api/experiments/embargo.job.ts';
import { expireExportsJob, writeExportJob } from './api/exports/exports.job.ts';
import { anySilentExport } from './api/exports/exports.queries.ts';
import { eraseNamedExports, wakeExports } from './api/exports/writing.service.ts';
import { runWaitingMacros } from './api/macro-runs/macro-runs.job.ts';
import { anyMacroWorkDue } from './api/macro-runs/macro-runs.queries.ts';
import { forgetLettersJob, sendLetterJob } from './api/mail/mail.job.ts';
import { adoptObjectsJob, forgetMessagesJob, makeIngestion } from './api/messages/messages.job.ts';
import { anyRegistryChange } from './api/messages/registry.queries.ts';
import { refreshChangedRegistries } from './api/messages/registry.service.ts';
import { refreshMetadataJob } from './api/metadata/metadata.job.ts';
import { forgetUnconfirmedJob } from './api/newsletter/newsletter.job.ts';
import { sendNoticeJob } from './api/notices/notices.job.ts';
import { changeColumnJob, eraseTableJob } from './api/tables/tables.job.ts';
import { ingestUploadJob, sweepUploadObjectsJob, sweepUploads } from './api/uploads/uploads.job.ts';
import { anySilentUpload } from './api/uploads/uploads.queries.ts';
import { anyEndpointWaiting } from './api/webhooks/deliveries.queries.ts';
import { wakeEndpoints } from './api/webhooks/delivering.service.ts';
import { deliverJob, forgetDeliveriesJob, retryJob } from './api/webhooks/webhooks.job.ts';
import type { Context } from './context.ts';
import { anyMessageWaiting } from './ingest/messages/messages.queries.ts';
import type { JobHandler } from './jobs/queue.ts';
import { startWatches, type Watch } from './jobs/watches.ts';
import { anyLogWaiting } from './lakehouse/tables/delta/log.queries.ts';
import { publishLogs } from './operator/publishing.service.ts';

const handlers = (ctx: Context): JobHandler[] => [
  ingestUploadJob(ctx),
  writeExportJob(ctx),
  expireExportsJob(ctx),
  deliverJob(ctx),
  retryJob(ctx),
  forgetDeliveriesJob(ctx),
  adoptObjectsJob(ctx),
  forgetMessagesJob(ctx),
  compactJob(ctx),
  sweepLakeJob(ctx),
  sweepObjectsJob(ctx),
  sweepUploadObjectsJob(ctx),
  disownThingJob(ctx),
  eraseExperiment(ctx),
  wakeErasuresJob(ctx),
  eraseTableJob(ctx),
  changeColumnJob(ctx),
  embargoJob(ctx),
  refreshMetadataJob(ctx),
  forgetUnconfirmedJob(ctx),
  sendLetterJob(ctx),
  forgetLettersJob(ctx),
  sendNoticeJob(ctx),
  sweepJob(ctx),
  forgetChangesJob(ctx),
];

/** Starts working on the queue in this process. The returned function stops the watches; the queue stops with the context. */
export async function startWorker(ctx: Context): Promise<() => Promise<void>> {
  // what a crash left half done is ended before anything new begins
  await ctx.iot.tidy(0).catch((error: unknown) => ctx.log.warn({ err: error }, 'devices could not be tidied'));
  await ctx.jobs.work(handlers(ctx));
  const macros: Watch = { everyMs: 1_000, due: anyMacroWorkDue, run: (signal) => runWaitingMacros(ctx, signal) };
  const watches = startWatches(
    ctx.db,
    [
      { everyMs: 5_000, due: anySilentUpload, run: () => sweepUploads(ctx) },
      { everyMs: 2_000, due: anySilentExport, run: () => wakeExports(ctx) },
      { everyMs: 2_000, due: anyEndpointWaiting, run: () => wakeEndpoints(ctx) },
      // storing messages begins the macros at once
      { everyMs: 0, due: anyMessageWaiting, run: makeIngestion(ctx, () => watches.begin(macros)) },
      { everyMs: 1_000, due: anyIdentityChangeDue, run: (signal) => refreshChangedIdentities(ctx, signal, eraseNamedExports) },
      { everyMs: 2_000, due: anyRegistryChange, run: (signal) => refreshChangedRegistries(ctx, signal) },
      macros,
      { everyMs: 1_000, due: anyLogWaiting, run: (signal) => publishLogs(ctx, signal) },
      { everyMs: 15_000, run: () => ctx.iot.tidy(30) },
    ],
    (error) => ctx.log.warn({ err: error }, 'a watch failed'),
  );
  return watches.stop;
}
