import type { Context } from '../../context.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { DISOWN_THING, disownThing, type Discarded } from './discarded.service.ts';

/** Ends what the registry still holds of a device that went with its owner's account. A registry that cannot be reached is tried again. */
export const disownThingJob = (ctx: Context): JobHandler => ({
  name: DISOWN_THING,
  retries: 20,
  run: (payload) => disownThing(ctx, payload as Discarded),
});
