import { sweepJob } from './api/account/sweep.job.ts';
import { sendLetterJob } from './api/mail/mail.job.ts';
import type { Context } from './context.ts';
import type { JobHandler } from './jobs/queue.ts';

/** Every job that there is, wired. */
const handlers = (ctx: Context): JobHandler[] => [sendLetterJob(ctx), sweepJob(ctx)];

/** Starts working on the queue in this process. */
export const startWorker = (context: Context): Promise<void> => context.jobs.work(handlers(context));
