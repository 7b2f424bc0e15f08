import type { Context } from './context.ts';
import type { JobHandler } from './jobs/queue.ts';

/** Every job that there is, wired. */
const handlers = (_ctx: Context): JobHandler[] => [];

/** Starts working on the queue in this process. */
export const startWorker = (context: Context): Promise<void> => context.jobs.work(handlers(context));
