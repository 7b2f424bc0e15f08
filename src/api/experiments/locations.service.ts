import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { errors } from '../../errors.ts';
import { requireExpected, type Target } from '../input/input.service.ts';
import { auditExperiment } from './auditing.service.ts';
import type { Location, NewLocation } from './experiments.model.ts';
import { countLocations, deleteLocations, insertLocations, touchExperiment } from './locations.queries.ts';
import { lockOpenExperiment } from './open.service.ts';

const MOST_LOCATIONS = 1_000;

/** Adds to the locations of an experiment; answers the new ones. Errors: experiment archived, too many locations. */
export const addLocations = (ctx: Context, caller: Caller, experimentId: string, locations: NewLocation[]): Promise<Location[]> =>
  ctx.db.transaction(async (tx) => {
    await lockOpenExperiment(tx, experimentId);
    if ((await countLocations(tx, experimentId)) + locations.length > MOST_LOCATIONS) throw errors.tooManyLocations(MOST_LOCATIONS);
    const added = await insertLocations(tx, experimentId, locations);
    if (added.length > 0) {
      await touchExperiment(tx, experimentId);
      await auditExperiment(tx, caller, experimentId, 'locations.added', { count: added.length });
    }
    return caller.created(tx, added);
  });

/** Replaces all locations of an experiment. Errors: experiment archived, precondition failed. */
export const replaceLocations = (ctx: Context, caller: Caller, target: Target, locations: NewLocation[]): Promise<Location[]> =>
  ctx.db.transaction(async (tx) => {
    const { id: experimentId, versions } = target;
    requireExpected(await lockOpenExperiment(tx, experimentId), versions);
    await deleteLocations(tx, experimentId);
    const added = await insertLocations(tx, experimentId, locations);
    await touchExperiment(tx, experimentId);
    await auditExperiment(tx, caller, experimentId, 'locations.replaced', { count: added.length });
    return added;
  });
