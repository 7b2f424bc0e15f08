import type { Context } from '../context.ts';
import { publishWaiting } from '../lakehouse/tables/delta/publisher.ts';

/** Milliseconds until a table that could not be published is logged again. */
const SILENT_MS = 60_000;
const spoken = new Map<string, number>();

/** Publishes the waiting entries of the tables' logs. A table that cannot be published does not hold up the others. */
export async function publishLogs(ctx: Pick<Context, 'db' | 'lake' | 'staging' | 'log'>, signal: AbortSignal): Promise<void> {
  await publishWaiting(ctx, {
    signal,
    onProblem: (tableId, error) => {
      const now = Date.now();
      if (now - (spoken.get(tableId) ?? 0) < SILENT_MS) return;
      for (const [id, at] of spoken) if (now - at >= SILENT_MS) spoken.delete(id);
      spoken.set(tableId, now);
      ctx.log.error({ err: error, tableId }, 'the log of a table could not be published');
    },
  });
}
