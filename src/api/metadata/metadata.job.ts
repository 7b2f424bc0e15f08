import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { refreshStale } from './lake.service.ts';

/** Every night: writes metadata tables to the lake that have never been written there. */
export const refreshMetadataJob = (ctx: Context): JobHandler => ({
  name: 'metadata.refresh',
  schedule: '11 2 * * *',
  run: () => refreshStale(ctx),
});
