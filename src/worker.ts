import { setTimeout as sleep } from 'node:timers/promises';
import { sweepJob } from './api/account/sweep.job.ts';
import { eraseExperiment } from './api/erasure/erasure.job.ts';
import { runBroker } from './api/measurements/broker.service.ts';
import { storeWaitingMessages } from './api/measurements/measurements.service.ts';
import { sendLetterJob } from './api/mail/mail.job.ts';
import { sendNoticeJob } from './api/notices/notices.job.ts';
import { ingestUploadJob, sweepUploads } from './api/uploads/uploads.job.ts';
import type { Context } from './context.ts';
import type { JobHandler } from './jobs/queue.ts';

/** Every job that there is. */
const handlers = (ctx: Context): JobHandler[] => [
  ingestUploadJob(ctx),
  eraseExperiment(ctx),
  sendLetterJob(ctx),
  sendNoticeJob(ctx),
  sweepJob(ctx),
];

/** What is looked after more often than the queue's clock ticks. */
const watches = (ctx: Context): { everyMs: number; run: () => Promise<void> }[] => [
  { everyMs: 5_000, run: () => sweepUploads(ctx) },
  { everyMs: 500, run: () => storeWaitingMessages(ctx) },
  { everyMs: 15_000, run: () => ctx.iot.tidy(30) },
];

/** Starts working on the queue in this process, and the broker; the answer stops both (the queue stops with the context). */
export async function startWorker(context: Context): Promise<() => Promise<void>> {
  // what a crash left half done is ended before anything new begins
  await context.iot.tidy(0).catch((error: unknown) => context.log.warn({ err: error }, 'devices could not be tidied'));
  const stopBroker = await runBroker(context);
  await context.jobs.work(handlers(context));
  const stopping = new AbortController();
  const loops = watches(context).map(async ({ everyMs, run }) => {
    while (!stopping.signal.aborted) {
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      await run().catch((error: unknown) => context.log.warn({ err: error }, 'a watch failed'));
    }
  });
  return async () => {
    await stopBroker();
    stopping.abort();
    await Promise.all(loops);
  };
}
