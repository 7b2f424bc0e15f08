import { sweepJob } from './api/account/sweep.job.ts';
import { refreshChangedIdentities } from './api/data/identity.service.ts';
import { forgetChangesJob } from './api/changes/changes.job.ts';
import { compactJob, sweepLakeJob, sweepObjectsJob } from './api/data/maintenance.job.ts';
import { disownThingJob } from './api/devices/discarded.job.ts';
import { eraseExperiment } from './api/erasure/erasure.job.ts';
import { embargoJob } from './api/experiments/embargo.job.ts';
import { expireExportsJob, writeExportJob } from './api/exports/exports.job.ts';
import { wakeExports } from './api/exports/writing.service.ts';
import { eraseNamedExports } from './api/exports/writing.service.ts';
import { publishLogs } from './operator/publishing.service.ts';
import { runWaitingMacros } from './api/macro-runs/macro-runs.job.ts';
import { refreshChangedRegistries } from './api/messages/registry.service.ts';
import { forgetLettersJob, sendLetterJob } from './api/mail/mail.job.ts';
import { refreshMetadataJob } from './api/metadata/metadata.job.ts';
import { forgetUnconfirmedJob } from './api/newsletter/newsletter.job.ts';
import { sendNoticeJob } from './api/notices/notices.job.ts';
import { adoptObjectsJob, forgetMessagesJob, ingestWaiting } from './api/messages/messages.job.ts';
import { changeColumnJob, eraseTableJob } from './api/tables/tables.job.ts';
import { ingestUploadJob, sweepUploads } from './api/uploads/uploads.job.ts';
import { wakeEndpoints } from './api/webhooks/delivering.service.ts';
import { deliverJob, forgetDeliveriesJob, retryJob } from './api/webhooks/webhooks.job.ts';
import type { Context } from './context.ts';
import type { JobHandler } from './jobs/queue.ts';

/** Every job that there is. */
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
  disownThingJob(ctx),
  eraseExperiment(ctx),
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

interface Watch {
  everyMs: number;
  run: (signal: AbortSignal) => Promise<void>;
}

/** What is looked after more often than the queue's clock ticks; `begin` starts one at once. */
function makeWatches(ctx: Context, begin: (watch: Watch) => void): Watch[] {
  // the messages that this process stores say when there is work for macros
  const macros: Watch = { everyMs: 1_000, run: (signal) => runWaitingMacros(ctx, signal) };
  return [
    { everyMs: 5_000, run: () => sweepUploads(ctx) },
    { everyMs: 2_000, run: () => wakeExports(ctx) },
    { everyMs: 2_000, run: () => wakeEndpoints(ctx) },
    { everyMs: 400, run: (signal) => ingestWaiting(ctx, signal, () => begin(macros)) },
    { everyMs: 1_000, run: (signal) => refreshChangedIdentities(ctx, signal, eraseNamedExports) },
    { everyMs: 2_000, run: (signal) => refreshChangedRegistries(ctx, signal) },
    macros,
    { everyMs: 1_000, run: (signal) => publishLogs(ctx, signal) },
    { everyMs: 15_000, run: () => ctx.iot.tidy(30) },
  ];
}

/** Starts working on the queue in this process; the answer stops what is not of the queue, which stops with the context. */
export async function startWorker(context: Context): Promise<() => Promise<void>> {
  // what a crash left half done is ended before anything new begins
  await context.iot.tidy(0).catch((error: unknown) => context.log.warn({ err: error }, 'devices could not be tidied'));
  await context.jobs.work(handlers(context));
  const stopping = new AbortController();
  const running = new Map<Watch, Promise<void>>();
  const wanted = new Set<Watch>();
  const begin = (watch: Watch): void => {
    // a watch that is still at it is not begun twice, but looks once more when it is done
    if (running.has(watch)) {
      wanted.add(watch);
      return;
    }
    const one = watch
      .run(stopping.signal)
      .catch((error: unknown) => context.log.warn({ err: error }, 'a watch failed'))
      .finally(() => {
        running.delete(watch);
        if (wanted.delete(watch) && !stopping.signal.aborted) begin(watch);
      });
    running.set(watch, one);
  };
  const timers = makeWatches(context, begin).map((watch) =>
    setInterval(() => {
      if (!running.has(watch)) begin(watch);
    }, watch.everyMs),
  );
  return async () => {
    for (const timer of timers) clearInterval(timer);
    stopping.abort();
    await Promise.all(running.values());
  };
}
