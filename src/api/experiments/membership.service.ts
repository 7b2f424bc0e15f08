import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import { isAllowed } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { enqueueNotice, enqueueNotices } from '../notices/notices.service.ts';
import { lockAccount } from '../organizations/membership.service.ts';
import { lockDecided } from '../sharing/answerability.service.ts';
import { raiseGrant } from '../sharing/sharing.service.ts';
import { auditExperiment } from './auditing.service.ts';
import { lockExperiment } from './experiments.queries.ts';
import type { ExperimentContributors, ExperimentJoinRequest, NewExperimentJoinRequest } from './membership.model.ts';
import {
  decideJoinRequest,
  findAnonymity,
  findJoinRequest,
  findPendingRequest,
  insertJoinRequest,
  listAnswerable,
  listContributors,
} from './membership.queries.ts';
import { derivePseudonym } from './pseudonym.service.ts';

const mustFind = async (db: Queryable, experimentId: string, id: string): Promise<ExperimentJoinRequest> =>
  (await findJoinRequest(db, experimentId, id)) ?? refuse(errors.joinRequestNotFound());

/**
 * Asks to take part in a public experiment; asking again while the first request is pending answers that one.
 * Errors: resourceNotFound, actionDenied where it is not public, experimentArchived, alreadyContributor.
 */
export const requestToContribute = (
  ctx: Context,
  caller: Caller,
  experimentId: string,
  body: NewExperimentJoinRequest,
): Promise<ExperimentJoinRequest> =>
  ctx.db.transaction(async (tx) => {
    if (!(await lockAccount(tx, caller.userId))) throw errors.unauthorized();
    const state = (await lockExperiment(tx, experimentId)) ?? refuse(errors.resourceNotFound('experiment'));
    const isContributor = await isAllowed(tx, caller.userId, 'experiment', experimentId, 'contribute');
    if (!isContributor && state.visibility !== 'public') throw errors.actionDenied('join', 'experiment');
    if (state.isArchived) throw errors.experimentArchived();
    if (isContributor) throw errors.alreadyContributor();
    const id = randomUUIDv7();
    if ((await insertJoinRequest(tx, { id, experimentId, userId: caller.userId, message: body.message ?? null })) > 0) {
      await auditExperiment(tx, caller, experimentId, 'experiment.join-requested', { requestId: id });
      const answerable = await listAnswerable(tx, experimentId);
      await enqueueNotices(
        ctx,
        tx,
        answerable.map((recipientId) => ({ kind: 'experiment-join-request', requestId: id, recipientId })),
      );
    }
    const pending = (await findPendingRequest(tx, experimentId, caller.userId)) ?? refuse(errors.conflict());
    return caller.created(tx, pending);
  });

/** The caller's own pending request. Errors: joinRequestNotFound. */
export const loadOwnRequest = async (ctx: Context, caller: Caller, experimentId: string): Promise<ExperimentJoinRequest> =>
  (await findPendingRequest(ctx.db, experimentId, caller.userId)) ?? refuse(errors.joinRequestNotFound());

interface Decided {
  experimentId: string;
  requestId: string;
  status: 'approved' | 'rejected';
}

/** Decides a request. Answers `closed` when the person had come in meanwhile, which ends the request and refuses the decision. */
async function decideOne(ctx: Context, tx: Transaction, caller: Caller, decided: Decided): Promise<ExperimentJoinRequest | 'closed'> {
  const found = await mustFind(tx, decided.experimentId, decided.requestId);
  const account = await lockAccount(tx, found.user.id);
  const resource = await lockDecided(tx, caller, { type: 'experiment', id: decided.experimentId }, 'manage');
  const hasComeIn = await isAllowed(tx, found.user.id, 'experiment', decided.experimentId, 'contribute');
  const status = hasComeIn ? 'cancelled' : decided.status;
  if ((await decideJoinRequest(tx, found.id, { status, decidedBy: caller.userId })) === 0) throw errors.joinRequestDecided();
  if (status === 'approved') {
    if (!account) throw errors.joinRequestNotFound();
    await raiseGrant(tx, caller, resource, { userId: found.user.id, role: 'viewer' });
  }
  await audit(tx, caller, {
    action:
      status === 'approved' ? 'experiment.join-approved' : status === 'rejected' ? 'experiment.join-rejected' : 'experiment.join-cancelled',
    resource: { type: 'experiment', id: resource.id },
    subjectId: found.user.id,
    details: { requestId: found.id },
  });
  if (status === 'cancelled') return 'closed';
  await enqueueNotice(ctx, tx, { kind: 'experiment-join-decision', requestId: found.id });
  return mustFind(tx, decided.experimentId, found.id);
}

/**
 * Approves a request, which gives the person a viewer grant, or rejects it. Errors: joinRequestNotFound, joinRequestDecided, experimentArchived;
 * alreadyContributor when the person has come in meanwhile, which closes the request.
 */
export async function decideRequest(ctx: Context, caller: Caller, decided: Decided): Promise<ExperimentJoinRequest> {
  const outcome = await ctx.db.transaction((tx) => decideOne(ctx, tx, caller, decided));
  if (outcome === 'closed') throw errors.requesterCameIn();
  return outcome;
}

/** Takes the caller's own pending request back. Errors: joinRequestNotFound, notYourRequest, joinRequestDecided. */
export const withdrawRequest = (ctx: Context, caller: Caller, experimentId: string, requestId: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const request = await mustFind(tx, experimentId, requestId);
    if (request.user.id !== caller.userId) throw errors.notYourRequest();
    if ((await decideJoinRequest(tx, requestId, { status: 'cancelled', decidedBy: caller.userId })) === 0)
      throw errors.joinRequestDecided();
    await auditExperiment(tx, caller, experimentId, 'experiment.join-cancelled', { requestId });
  });

/** Lists who takes part in an experiment. Where it is anonymised, they are listed by their pseudonyms, in the order of these. Errors: resourceNotFound. */
export async function loadContributors(ctx: Context, experimentId: string): Promise<ExperimentContributors> {
  const [anonymity, contributors] = await Promise.all([findAnonymity(ctx.db, experimentId), listContributors(ctx.db, experimentId)]);
  if (!anonymity) throw errors.resourceNotFound('experiment');
  const { isAnonymised, secret, collaboratorCount } = anonymity;
  if (!isAnonymised) return { contributors, collaboratorCount };
  const hidden = contributors
    .map(({ userId }) => derivePseudonym(secret, userId))
    .sort()
    .map((pseudonym) => ({ userId: pseudonym, firstName: pseudonym, lastName: '', avatarUrl: null }));
  return { contributors: hidden, collaboratorCount };
}
