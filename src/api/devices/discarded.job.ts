import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { DISOWN_THING, disownThing, type Discarded } from './discarded.service.ts';

/** Removes what the registry still holds of a device that was deleted with its owner's account. Tries again when the registry cannot be reached. */
export const disownThingJob = (ctx: Context): JobHandler => ({
  name: DISOWN_THING,
  retries: 20,
  run: (payload) => disownThing(ctx, payload as Discarded),
});
