import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { WRITE_EXPORT } from './exports.service.ts';
import { expireExports, writeExport } from './writing.service.ts';

/** Writes the file of an export. Runs again after a crash, and then writes it anew. */
export const writeExportJob = (ctx: Context): JobHandler => ({
  name: WRITE_EXPORT,
  concurrency: 4,
  run: (payload, signal) => writeExport(ctx, (payload as { exportId: string }).exportId, signal),
});

export const expireExportsJob = (ctx: Context): JobHandler => ({
  name: 'exports.expire',
  schedule: '23 * * * *',
  run: () => expireExports(ctx),
});
