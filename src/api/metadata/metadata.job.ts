import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { refreshStale } from './lake.service.ts';

/** Every night: tells the lake of metadata tables that it has never been told of. */
export const refreshMetadataJob = (ctx: Context): JobHandler => ({
  name: 'metadata.refresh',
  schedule: '11 2 * * *',
  run: () => refreshStale(ctx),
});
