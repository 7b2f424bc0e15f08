import { sweepJob } from './api/account/sweep.job.ts';
import { eraseExperiment } from './api/erasure/erasure.job.ts';
import { embargoJob } from './api/experiments/embargo.job.ts';
import { expireExportsJob, sweepExports, writeExportJob } from './api/exports/exports.job.ts';
import { sendLetterJob } from './api/mail/mail.job.ts';
import { forgetUnconfirmedJob } from './api/newsletter/newsletter.job.ts';
import { sendNoticeJob } from './api/notices/notices.job.ts';
import { ingestUploadJob, sweepUploads } from './api/uploads/uploads.job.ts';
import type { Context } from './context.ts';
import type { JobHandler } from './jobs/queue.ts';

/** Every job that there is. */
const handlers = (ctx: Context): JobHandler[] => [
  ingestUploadJob(ctx),
  writeExportJob(ctx),
  expireExportsJob(ctx),
  eraseExperiment(ctx),
  embargoJob(ctx),
  forgetUnconfirmedJob(ctx),
  sendLetterJob(ctx),
  sendNoticeJob(ctx),
  sweepJob(ctx),
];

/** What is looked after more often than the queue's clock ticks. */
const watches = (ctx: Context): { everyMs: number; run: () => Promise<void> }[] => [
  { everyMs: 5_000, run: () => sweepUploads(ctx) },
  { everyMs: 5_000, run: () => sweepExports(ctx) },
];

/** Starts working on the queue in this process; the answer stops the watches (the queue stops with the context). */
export async function startWorker(context: Context): Promise<() => Promise<void>> {
  await context.jobs.work(handlers(context));
  const running = new Set<Promise<void>>();
  const timers = watches(context).map(({ everyMs, run }) =>
    setInterval(() => {
      const one = run()
        .catch((error: unknown) => context.log.warn({ err: error }, 'a watch failed'))
        .finally(() => running.delete(one));
      running.add(one);
    }, everyMs),
  );
  return async () => {
    for (const timer of timers) clearInterval(timer);
    await Promise.all(running);
  };
}
