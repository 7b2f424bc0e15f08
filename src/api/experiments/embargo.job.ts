import { audit } from '../../auth/audit.ts';
import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { publishEvent } from '../events/events.service.ts';
import { publishPassedEmbargoes } from './embargo.queries.ts';

const AT_ONCE = 200;

/** Every night: makes experiments public for good whose embargo has passed. Reads have treated them as public since that second. No other job publishes. */
export const embargoJob = (ctx: Context): JobHandler => ({
  name: 'experiments.embargo',
  schedule: '0 0 * * *',
  run: async (_payload, signal) => {
    for (let published = AT_ONCE; published === AT_ONCE && !signal.aborted;)
      published = await ctx.db.transaction(async (tx) => {
        const rows = await publishPassedEmbargoes(tx, AT_ONCE);
        for (const { id, organizationId } of rows) {
          await publishEvent(ctx, tx, { kind: 'experiment.published', experimentId: id, facts: { by: 'embargo' } });
          await audit(tx, null, {
            action: 'experiment.published',
            organizationId,
            resource: { type: 'experiment', id },
            details: { by: 'embargo' },
          });
        }
        return rows.length;
      });
  },
});
