import { audit } from '../../auth/audit.ts';
import type { Actor, Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { lockOwn, requireOwn } from './authority.service.ts';
import { findStanding } from './organizations.queries.ts';
import {
  deleteTeam,
  deleteTeamMember,
  findTeam,
  findTeamMember,
  findTeamOf,
  insertTeam,
  insertTeamMember,
  listManagedTeams,
  listTeamMembers,
  renameTeam,
} from './teams.queries.ts';
import type { ManagedTeam, ManagedTeamMember } from './teams.model.ts';

async function lockAsAdmin(tx: Transaction, caller: Caller, organizationId: string, refusal: () => Error) {
  const locked = await lockOwn(tx, caller, organizationId);
  if (!locked.standing.isAdmin) throw refusal();
  if (locked.standing.isPersonal) throw errors.personalWorkspace();
  return locked;
}

const mustFindTeam = async (tx: Transaction, organizationId: string, teamId: string): Promise<ManagedTeam> =>
  (await findTeam(tx, organizationId, teamId)) ?? refuse(errors.teamNotFound());

/** Creates a team. Errors: youAreNotAllowedToCreateTeamsInThisOrganization, personalWorkspace. */
export const createTeam = (ctx: Context, caller: Caller, organizationId: string, name: string): Promise<ManagedTeam> =>
  ctx.db.transaction(async (tx) => {
    await lockAsAdmin(tx, caller, organizationId, errors.youAreNotAllowedToCreateTeamsInThisOrganization);
    const team = (await insertTeam(tx, { organizationId, name: name.trim() })) ?? refuse(errors.conflict());
    await audit(tx, caller, { action: 'team.created', organizationId, details: { teamId: team.id } });
    return caller.created(tx, team);
  });

/** Renames a team. Errors: youAreNotAllowedToUpdateThisTeam, teamNotFound. */
export const changeTeam = (
  ctx: Context,
  caller: Caller,
  organizationId: string,
  change: { teamId: string; name: string | undefined },
): Promise<ManagedTeam> =>
  ctx.db.transaction(async (tx) => {
    await lockAsAdmin(tx, caller, organizationId, errors.youAreNotAllowedToUpdateThisTeam);
    const team = await mustFindTeam(tx, organizationId, change.teamId);
    if (change.name === undefined) return team;
    await audit(tx, caller, { action: 'team.updated', organizationId, details: { teamId: team.id } });
    return (await renameTeam(tx, team.id, change.name.trim())) ?? team;
  });

/** Deletes a team with every grant that names it. Errors: youAreNotAllowedToDeleteThisTeam, teamNotFound. */
export const removeTeam = (ctx: Context, caller: Caller, organizationId: string, teamId: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    await lockAsAdmin(tx, caller, organizationId, errors.youAreNotAllowedToDeleteThisTeam);
    const team = await mustFindTeam(tx, organizationId, teamId);
    await deleteTeam(tx, team.id);
    await audit(tx, caller, { action: 'team.deleted', organizationId, details: { teamId: team.id } });
  });

/** Lists the teams of an organization. Errors: youAreNotAMemberOfThisOrganization. */
export async function loadTeams(ctx: Context, caller: Caller, organizationId: string): Promise<ManagedTeam[]> {
  await requireOwn(ctx.db, caller, organizationId, errors.youAreNotAMemberOfThisOrganization);
  return listManagedTeams(ctx.db, organizationId);
}

/**
 * Lists the members of a team. For its members, and the owners and admins of its organization. Errors: userIsNotAMemberOfTheTeam, also for a team that does not
 * exist.
 */
export async function loadTeamMembers(ctx: Context, caller: Caller, teamId: string | undefined): Promise<ManagedTeamMember[]> {
  if (teamId === undefined) throw errors.teamNotFound();
  const team = await findTeamOf(ctx.db, teamId, caller.userId);
  const standing = team && !team.isInTeam ? await findStanding(ctx.db, team.organizationId, caller.userId) : undefined;
  if (!team || !(team.isInTeam || standing?.isAdmin)) throw errors.userIsNotAMemberOfTheTeam();
  return listTeamMembers(ctx.db, teamId);
}

/** Puts a member into a team of the organization; whoever is in it stays. */
export async function joinTeam(
  tx: Transaction,
  by: Actor,
  member: { teamId: string; organizationId: string; userId: string },
): Promise<void> {
  const { teamId, organizationId, userId } = member;
  if ((await insertTeamMember(tx, member)) > 0)
    await audit(tx, by, { action: 'team.member-added', organizationId, subjectId: userId, details: { teamId } });
}

/** Puts a member of the organization into a team of it. Errors: teamNotFound, userIsNotAMemberOfTheOrganization. */
export const addTeamMember = (
  ctx: Context,
  caller: Caller,
  organizationId: string,
  named: { teamId: string; userId: string },
): Promise<ManagedTeamMember> =>
  ctx.db.transaction(async (tx) => {
    const { members } = await lockAsAdmin(tx, caller, organizationId, errors.youAreNotAllowedToCreateANewTeamMember);
    const team = await mustFindTeam(tx, organizationId, named.teamId);
    const userId = named.userId.toLowerCase();
    if (!members.some((member) => member.userId === userId)) throw errors.userIsNotAMemberOfTheOrganization();
    await joinTeam(tx, caller, { teamId: team.id, organizationId, userId });
    return (await findTeamMember(tx, team.id, userId)) ?? refuse(errors.conflict());
  });

/** Removes a person from a team. Errors: teamNotFound, userIsNotAMemberOfTheTeam. */
export const removeTeamMember = (
  ctx: Context,
  caller: Caller,
  organizationId: string,
  named: { teamId: string; userId: string },
): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    await lockAsAdmin(tx, caller, organizationId, errors.youAreNotAllowedToRemoveATeamMember);
    const team = await mustFindTeam(tx, organizationId, named.teamId);
    if ((await deleteTeamMember(tx, team.id, named.userId)) === 0) throw errors.userIsNotAMemberOfTheTeam();
    await audit(tx, caller, { action: 'team.member-removed', organizationId, subjectId: named.userId, details: { teamId: team.id } });
  });
