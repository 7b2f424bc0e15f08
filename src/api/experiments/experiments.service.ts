import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Actor, Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { reopenMessages } from '../../ingest/messages/store.ts';
import { publishEvent } from '../events/events.service.ts';
import { dropVersion, listGiven, requireExpected, type Target } from '../input/input.service.ts';
import { deleteResource, makePublic } from '../resources/resources.service.ts';
import { requireHome, seedCreator, seedMembers } from '../sharing/seeding.service.ts';
import { auditExperiment } from './auditing.service.ts';
import type { Experiment, ExperimentPatch, NewExperiment, Visibility, VisibilityState } from './experiments.model.ts';
import { deleteLocations, insertLocations } from './locations.queries.ts';
import {
  findExperiment,
  findStatus,
  insertErasure,
  insertExperiment,
  lockExperiment,
  updateExperiment,
  type VersionedExperiment,
} from './experiments.queries.ts';

export { findStatus } from './experiments.queries.ts';

const DAY = 86_400_000;
export const ERASE_EXPERIMENT = 'experiments.erase';

/** Refuses an embargo that does not end between tomorrow (UTC) and the end of the day 365 days ahead. */
function checkEmbargo(until: Date, visibility: Visibility): void {
  if (visibility === 'public') throw errors.embargoNotEditable();
  const today = Math.floor(Date.now() / DAY) * DAY;
  if (until.getTime() < today + DAY || until.getTime() >= today + 366 * DAY) throw errors.embargoOutOfRange();
}

/** An experiment with its version. Errors: not found. */
export const requireExperiment = async (tx: Queryable, id: string): Promise<VersionedExperiment> =>
  (await findExperiment(tx, id)) ?? refuse(errors.resourceNotFound('experiment'));

/** An experiment as a single answer shows it. Errors: not found. */
export const loadExperiment = async (tx: Transaction, id: string): Promise<Experiment> => dropVersion(await requireExperiment(tx, id));

/**
 * Makes an experiment inside a transaction, in an organization of its maker, private unless stated, and answers its id. A plain member gets a direct
 * admin grant, so that the experiment has somebody answerable. `workbookId` is left to the caller.
 */
export async function addExperiment(tx: Transaction, maker: Actor, body: NewExperiment): Promise<string> {
  const visibility = body.visibility ?? 'private';
  const embargoUntil = body.embargoUntil ?? null;
  if (embargoUntil && visibility === 'public') throw errors.embargoOfPublic();
  if (embargoUntil) checkEmbargo(embargoUntil, visibility);
  const home = await requireHome(tx, maker, body.organizationId);
  const id = randomUUIDv7();
  await insertExperiment(tx, {
    id,
    organizationId: home.organizationId,
    createdBy: maker.userId,
    name: body.name.trim(),
    description: body.description ?? null,
    visibility,
    embargoUntil,
    status: body.status ?? 'active',
    anonymizeContributors: body.anonymizeContributors ?? false,
  });
  const resource = { type: 'experiment', id } as const;
  await seedCreator(tx, maker, resource, home);
  const memberIds = (body.members ?? []).map(({ userId }) => userId);
  await seedMembers(tx, maker, resource, memberIds);
  await insertLocations(tx, id, body.locations ?? []);
  await auditExperiment(tx, maker, id, 'experiment.created');
  return id;
}

/** Locks an experiment for a change. Errors: not found; changed since the version that the caller read. */
async function lockForChange(tx: Transaction, { id, versions }: Target) {
  const state = (await lockExperiment(tx, id)) ?? refuse(errors.resourceNotFound('experiment'));
  requireExpected(state.version, versions);
  return state;
}

/** Changes the given fields. An archived experiment takes only a new status. */
export const patchExperiment = (ctx: Context, caller: Caller, target: Target, body: ExperimentPatch): Promise<VersionedExperiment> =>
  ctx.db.transaction(async (tx) => {
    const { id } = target;
    const state = await lockForChange(tx, target);
    const { locations, ...fields } = body;
    const given = listGiven(body, {
      name: true,
      description: true,
      status: true,
      embargoUntil: true,
      anonymizeContributors: true,
      locations: true,
    });
    if (given.length === 0) return requireExperiment(tx, id);
    if (state.isArchived && given.some((name) => name !== 'status')) throw errors.experimentArchived();
    if (fields.embargoUntil) checkEmbargo(fields.embargoUntil, state.visibility);
    else if (fields.embargoUntil === null && state.visibility === 'public') throw errors.embargoNotEditable();
    await updateExperiment(tx, id, { ...fields, name: fields.name?.trim() });
    // measurements that came while it was archived flow in now; the update has waited for a batch that still set some aside
    if (state.isArchived && fields.status !== 'archived') await reopenMessages(tx, id);
    if (locations) {
      await deleteLocations(tx, id);
      await insertLocations(tx, id, locations);
    }
    if (fields.status === 'archived' && !state.isArchived) await publishEvent(ctx, tx, { kind: 'experiment.archived', experimentId: id });
    await auditExperiment(tx, caller, id, 'experiment.updated', { fields: given });
    return requireExperiment(tx, id);
  });

/** Makes a private experiment public, which cannot be undone. The same value again is no change. */
export const setVisibility = (ctx: Context, caller: Caller, target: Target, visibility: Visibility): Promise<VisibilityState> =>
  ctx.db.transaction(async (tx) => {
    const { id } = target;
    const state = await lockForChange(tx, target);
    if (state.visibility === 'public' && visibility === 'private') throw errors.visibilityNotMonotonic();
    if (visibility === 'public' && (await makePublic(tx, id)) > 0) {
      await publishEvent(ctx, tx, { kind: 'experiment.published', experimentId: id, facts: { by: 'person' } });
      await auditExperiment(tx, caller, id, 'experiment.published');
    }
    return { id, visibility };
  });

/** Deletes an experiment: nothing shows it from here on, and a job removes what every store holds of it. Answers the erasure's id. */
export const removeExperiment = (ctx: Context, caller: Caller, target: Target): Promise<string> =>
  ctx.db.transaction(async (tx) => {
    const { organizationId } = await lockForChange(tx, target);
    return erase(ctx, tx, caller, { id: target.id, organizationId });
  });

/** Locks an experiment's status until the transaction ends, and refuses a write under an archived one. */
export async function requireWritable(tx: Transaction, id: string): Promise<void> {
  const status = (await findStatus(tx, id)) ?? refuse(errors.resourceNotFound('experiment'));
  if (status === 'archived') throw errors.experimentArchived();
}

/** Deletes an experiment inside a transaction that deletes more than the experiment. */
export async function eraseExperiment(ctx: Context, tx: Transaction, caller: Caller, id: string): Promise<void> {
  const state = await lockExperiment(tx, id);
  if (state) await erase(ctx, tx, caller, { id, organizationId: state.organizationId });
}

async function erase(ctx: Context, tx: Transaction, caller: Caller, { id, organizationId }: { id: string; organizationId: string }) {
  await publishEvent(ctx, tx, { kind: 'experiment.deleted', experimentId: id });
  await deleteResource(tx, 'experiment', id);
  const erasureId = randomUUIDv7();
  await insertErasure(tx, { id: erasureId, experimentId: id, requestedBy: caller.userId });
  await audit(tx, caller, { action: 'experiment.deleted', organizationId, resource: { type: 'experiment', id }, details: { erasureId } });
  await ctx.jobs.enqueue(ERASE_EXPERIMENT, { erasureId }, { tx, key: erasureId });
  return erasureId;
}
