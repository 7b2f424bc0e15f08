import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { DISOWN_THING, disownThing, type Discarded } from './discarded.service.ts';

/**
 * Removes what the registry still holds of a device that was deleted with its owner's account. Nothing else knows of such a device any more, so its job is the
 * row that says whose certificates must end: it is committed with the deletion, outlives every process, and stays until it is done.
 */
export const disownThingJob = (ctx: Context): JobHandler => ({
  name: DISOWN_THING,
  retries: 'until-done',
  run: (payload) => disownThing(ctx, payload as Discarded),
});
