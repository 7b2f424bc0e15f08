import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { sweepLake } from '../../lakehouse/tables/maintenance.ts';
import { compactTables, type Rests } from './compaction.service.ts';

const HOUR = 3_600_000;

/** Every minute: replaces many small files of a table by a few that do not overlap. */
export function compactJob(ctx: Context): JobHandler {
  const rowsPerFile = new Map<string, number>();
  const rests: Rests = new Map();
  const onFailure = (tableId: string, err: unknown) => ctx.log.warn({ err, tableId }, 'the files of a table could not be compacted');
  return {
    name: 'lake.compact',
    schedule: '* * * * *',
    run: async (_payload, signal) => {
      for (const { tableId, before, after } of await compactTables(ctx, { signal, rowsPerFile, rests, onFailure }))
        ctx.log.info({ tableId, before, after }, 'files compacted');
    },
  };
}

/** Every night: forgets old versions and removes files that nothing reads any more. */
export const sweepLakeJob = (ctx: Context): JobHandler => ({
  name: 'lake.sweep',
  schedule: '40 2 * * *',
  run: async () => {
    const { days, most } = ctx.config.versions;
    const swept = await sweepLake(ctx, { retentionMs: days * 24 * HOUR, mostVersions: most, graceMs: 24 * HOUR });
    ctx.log.info(swept, 'lake swept');
  },
});

/** Every hour: removes what cut-off writes and expired URLs left in the object folder. */
export const sweepObjectsJob = (ctx: Context): JobHandler => ({
  name: 'objects.sweep',
  schedule: '5 * * * *',
  run: async () => ctx.objectFolder?.sweep(),
});
