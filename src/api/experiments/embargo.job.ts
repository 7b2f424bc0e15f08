import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { publishEvent } from '../events/events.service.ts';
import { auditExperiment } from './auditing.service.ts';
import { publishPassedEmbargoes } from './embargo.queries.ts';

const AT_ONCE = 200;

/** Every night: makes experiments public for good whose embargo has passed. Reads have treated them as public since that second. No other job publishes. */
export const embargoJob = (ctx: Context): JobHandler => ({
  name: 'experiments.embargo',
  schedule: '0 0 * * *',
  run: async (_payload, signal) => {
    for (let published = AT_ONCE; published === AT_ONCE && !signal.aborted;)
      published = await ctx.db.transaction(async (tx) => {
        const ids = await publishPassedEmbargoes(tx, AT_ONCE);
        for (const id of ids) {
          await publishEvent(ctx, tx, { kind: 'experiment.published', experimentId: id, facts: { by: 'embargo' } });
          await auditExperiment(tx, null, id, 'experiment.published', { by: 'embargo' });
        }
        return ids.length;
      });
  },
});
