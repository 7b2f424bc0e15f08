import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import { endSessions } from '../../auth/sessions.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { discardDevice } from '../devices/discarded.service.ts';
import { eraseExperiment } from '../experiments/experiments.service.ts';
import { refuseBody, requireExpected } from '../input/input.service.ts';
import { forgetLetters } from '../mail/mail.service.ts';
import { deleteResource } from '../resources/resources.service.ts';
import {
  closeAccount,
  deleteMeans,
  eraseFromKeptAnswers,
  eraseRequests,
  listUnreachable,
  lockAccountToClose,
  lockAnsweredFor,
  lockStaffAround,
} from './erasure.queries.ts';
import type { AccountBlockers, NewProfile, Nothing } from './people.model.ts';
import { listBlockingOrganizations, listBlockingResources, saveProfile } from './people.queries.ts';

/** Writes the caller's profile. Errors: invalidInput for a first name that is too short without its blanks. */
export const writeProfile = (ctx: Context, caller: Caller, body: NewProfile): Promise<Nothing> =>
  ctx.db.transaction(async (tx) => {
    const [firstName, lastName] = [body.firstName.trim(), body.lastName.trim()];
    if (firstName.length < 2) throw refuseBody([{ path: '/firstName', message: 'must have 2 characters or more' }]);
    await saveProfile(tx, {
      userId: caller.userId,
      firstName,
      lastName,
      bio: body.bio,
      activated: body.activated,
      avatarUrl: body.avatarUrl,
    });
    if (body.activated === false) await endSessions(tx, caller.userId, null);
    await audit(tx, caller, { action: body.activated === false ? 'user.deactivated' : 'user.profile-changed' });
    return caller.created(tx, {});
  });

/** Lists what keeps an account from being deleted: resources that nobody else answers for, organizations without another owner. */
export async function listBlockers(db: Queryable, userId: string): Promise<AccountBlockers> {
  return { resources: await listBlockingResources(db, userId), organizations: await listBlockingOrganizations(db, userId) };
}

/** Deletes the private resources that only the caller can reach. */
async function removeOwned(ctx: Context, tx: Transaction, caller: Caller): Promise<void> {
  for (const { type, id, organizationId } of await listUnreachable(tx, caller.userId)) {
    if (type === 'experiment') await eraseExperiment(ctx, tx, caller, id);
    else {
      if (type === 'device') await discardDevice(ctx, tx, id);
      else await deleteResource(tx, type, id);
      await audit(tx, caller, { action: 'resource.deleted', organizationId, resource: { type, id } });
    }
  }
}

/**
 * Closes an account. What identifies the person is removed; what they made stays, as by "Deleted User". With `deleteOwned`, private resources that only they
 * can reach are removed too. Errors: unauthorized when it is closed already; preconditionFailed; accountBlocked, which lists the blockers and leaves everything in
 * place.
 */
export const deleteAccount = (ctx: Context, caller: Caller, asked: { deleteOwned: boolean; versions: number[] | null }): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const account = (await lockAccountToClose(tx, caller.userId)) ?? refuse(errors.unauthorized());
    requireExpected(account.version, asked.versions);
    await lockStaffAround(tx, caller.userId);
    await lockAnsweredFor(tx, caller.userId);
    if (asked.deleteOwned) await removeOwned(ctx, tx, caller);
    const blockers = await listBlockers(tx, caller.userId);
    if (blockers.resources.length + blockers.organizations.length > 0) throw errors.accountBlocked().with({ members: { ...blockers } });
    await eraseRequests(tx, caller.userId, account.email);
    await deleteMeans(tx, caller.userId);
    if (account.email !== null) {
      await eraseFromKeptAnswers(tx, account.email);
      await forgetLetters(ctx, tx, account.email);
    }
    await closeAccount(tx, caller.userId);
    await audit(tx, caller, { action: 'user.deleted', subjectId: caller.userId });
  });
