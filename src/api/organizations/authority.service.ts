import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { isUuid } from '../../database/uuid.ts';
import { errors, refuse } from '../../errors.ts';
import { listGiven, printBounded } from '../input/input.service.ts';
import type {
  CreatedOrganization,
  FullOrganization,
  ManagedMember,
  ManagedOrganization,
  NewOrganization,
  OrganizationChanges,
  PermissionAnswer,
  PermissionAsked,
} from './authority.model.ts';
import {
  deleteOrganization,
  findIdBySlug,
  findWithMetadata,
  insertOrganization,
  listMembersWithUsers,
  listWithMetadata,
  lockToDelete,
  updateOrganization,
  type StoredOrganization,
} from './authority.queries.ts';
import { listInvitations } from './invitations.queries.ts';
import { insertMember, lockAccount, lockMembers, lockOrganization, type MemberRow } from './membership.queries.ts';
import { readRole } from './membership.service.ts';
import type { MembershipRole } from './organizations.model.ts';
import { findStanding, listBlockers, type Standing } from './organizations.queries.ts';
import { listManagedTeams } from './teams.queries.ts';

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

function checkSlug(slug: string): void {
  if (!SLUG.test(slug) || slug.length > 255) throw errors.slugInvalid();
  if (slug.startsWith('personal-')) throw errors.slugReserved();
}

/** Reads the id of the organization that a call names, in lower case. Errors: noActiveOrganization. */
export function requireOrganizationId(organizationId: string | undefined): string {
  if (organizationId === undefined || organizationId === '') throw errors.noActiveOrganization();
  return organizationId.toLowerCase();
}

/** Reads the role of a membership in its one canonical spelling. Errors: roleNotFound. */
export function canonicaliseRole(role: string | string[]): MembershipRole {
  const [only, ...more] = Array.isArray(role) ? role : [role];
  if (more.length > 0 || (only !== 'owner' && only !== 'admin' && only !== 'member')) throw errors.roleNotFound();
  return only;
}

export const makeManagedMember = ({ id, organizationId, userId, role, createdAt }: MemberRow): ManagedMember => ({
  id,
  organizationId,
  userId,
  role,
  createdAt,
});

const withText = (organization: StoredOrganization): ManagedOrganization => ({
  ...organization,
  metadata: organization.metadata === null ? null : JSON.stringify(organization.metadata),
});

/** Characters as JSON: a person's list holds those of all their organizations, to which others may add them. */
const MOST_METADATA = 10_000;

/** Makes an organization with the caller as its owner. Errors: invalid input, slugInvalid, slugReserved, organizationAlreadyExists. */
export const createOrganization = (ctx: Context, caller: Caller, body: NewOrganization): Promise<CreatedOrganization> =>
  ctx.db.transaction(async (tx) => {
    checkSlug(body.slug);
    if (body.metadata !== undefined) printBounded(body.metadata, '/metadata', MOST_METADATA);
    const name = body.name.trim();
    if (!(await lockAccount(tx, caller.userId))) throw errors.unauthorized();
    const id = randomUUIDv7();
    if ((await insertOrganization(tx, id, { ...body, name })) === 0) throw errors.organizationAlreadyExists();
    const owner = await insertMember(tx, { organizationId: id, userId: caller.userId, role: 'owner' });
    const made = await findWithMetadata(tx, id);
    if (!owner || !made) throw errors.conflict();
    await audit(tx, caller, { action: 'organization.created', organizationId: id });
    return caller.created(tx, { ...made, members: [makeManagedMember(owner)] });
  });

/** Requires a valid slug that nobody has taken. Errors: slugInvalid, slugReserved, organizationSlugAlreadyTaken. */
export async function requireFreeSlug(ctx: Context, slug: string): Promise<void> {
  checkSlug(slug);
  if ((await findIdBySlug(ctx.db, slug)) !== undefined) throw errors.organizationSlugAlreadyTaken();
}

/** Requires that the caller is in an organization. Errors: `refusal`, also for an organization that does not exist. */
export async function requireOwn(
  db: Queryable,
  caller: Caller,
  id: string,
  refusal: () => Error = errors.userIsNotAMemberOfTheOrganization,
): Promise<Standing> {
  const standing = await findStanding(db, id, caller.userId);
  return standing?.isMember === true ? standing : refuse(refusal());
}

/** Locks an organization that the caller is in. Errors: those of `requireOwn`. */
export async function lockOwn(
  tx: Transaction,
  caller: Caller,
  id: string,
  refusal?: () => Error,
): Promise<{ standing: Standing; members: MemberRow[] }> {
  await lockOrganization(tx, id);
  const members = await lockMembers(tx, id);
  return { standing: await requireOwn(tx, caller, id, refusal), members };
}

const FIELDS = {
  name: true,
  slug: true,
  logo: true,
  metadata: true,
  type: true,
  description: true,
  website: true,
  location: true,
  visibility: true,
} as const;

/** Changes the given fields. For owners. Errors: youAreNotAllowedToUpdateThisOrganization, personalWorkspace, those of the slug. */
export const changeOrganization = (ctx: Context, caller: Caller, id: string, change: OrganizationChanges): Promise<ManagedOrganization> =>
  ctx.db.transaction(async (tx) => {
    const { standing } = await lockOwn(tx, caller, id);
    if (!standing.isOwner) throw errors.youAreNotAllowedToUpdateThisOrganization();
    if (standing.isPersonal) throw errors.personalWorkspace();
    if (change.metadata !== undefined) printBounded(change.metadata, '/data/metadata', MOST_METADATA);
    const name = change.name?.trim();
    if (change.slug !== undefined) {
      checkSlug(change.slug);
      const taken = await findIdBySlug(tx, change.slug);
      if (taken !== undefined && taken !== id) throw errors.organizationSlugAlreadyTaken();
    }
    const fields = listGiven(change, FIELDS);
    if (fields.length > 0) {
      await updateOrganization(tx, id, { ...change, ...(name === undefined ? {} : { name }) });
      await audit(tx, caller, { action: 'organization.updated', organizationId: id, details: { fields } });
    }
    return (await findWithMetadata(tx, id)) ?? refuse(errors.userIsNotAMemberOfTheOrganization());
  });

/** Deletes an organization that owns nothing. For owners. Errors: organizationOwnsResources, which tells what it owns by type; nothing has changed then. */
export const removeOrganization = (ctx: Context, caller: Caller, id: string): Promise<ManagedOrganization> =>
  ctx.db.transaction(async (tx) => {
    await lockToDelete(tx, id);
    const standing = await requireOwn(tx, caller, id);
    if (!standing.isOwner) throw errors.youAreNotAllowedToDeleteThisOrganization();
    if (standing.isPersonal) throw errors.personalWorkspace();
    const blockers = await listBlockers(tx, id);
    if (blockers.length > 0) {
      const total = blockers.reduce((sum, { count }) => sum + count, 0);
      const counted = blockers.map(({ resourceType, count }) => `${count} ${resourceType.replace('_', ' ')}${count === 1 ? '' : 's'}`);
      throw errors.organizationOwnsResources(counted.join(', ')).with({ members: { blockers, total } });
    }
    const organization = (await findWithMetadata(tx, id)) ?? refuse(errors.userIsNotAMemberOfTheOrganization());
    await deleteOrganization(tx, id);
    await audit(tx, caller, { action: 'organization.deleted', organizationId: id });
    return withText(organization);
  });

export const listOwnOrganizations = async (db: Queryable, caller: Caller): Promise<ManagedOrganization[]> =>
  (await listWithMetadata(db, caller.userId)).map(withText);

/**
 * Loads the whole view of one of the caller's organizations; null when none is named. Errors: the same for an organization that does not exist and for one that
 * the caller is not in.
 */
export async function loadFullOrganization(
  ctx: Context,
  caller: Caller,
  asked: { id?: string | undefined; slug?: string | undefined; membersLimit?: number | undefined },
): Promise<FullOrganization | null> {
  const slug = asked.slug === '' ? undefined : asked.slug;
  if (slug === undefined && asked.id !== undefined && asked.id !== '' && !isUuid(asked.id)) throw errors.invalidId('organizationId');
  const id = slug === undefined ? (asked.id === '' ? undefined : asked.id) : await findIdBySlug(ctx.db, slug);
  if (slug === undefined && id === undefined) return null;
  const standing = id === undefined ? undefined : await findStanding(ctx.db, id, caller.userId);
  const organization = id === undefined ? undefined : await findWithMetadata(ctx.db, id);
  if (id === undefined || !organization || !standing?.isMember) throw errors.youAreNotAMemberOfThisOrganization();
  const [members, teams] = await Promise.all([listMembersWithUsers(ctx.db, id), listManagedTeams(ctx.db, id)]);
  return {
    ...withText(organization),
    members: members.slice(0, asked.membersLimit ?? 100),
    teams,
    ...(standing.isAdmin ? { invitations: await listInvitations(ctx.db, id) } : {}),
  };
}

const OF_ADMINS = {
  member: ['create', 'update', 'delete'],
  invitation: ['create', 'cancel'],
  team: ['create', 'update', 'delete'],
  ac: ['read'],
};
const ALLOWED: Record<MembershipRole, Readonly<Record<string, readonly string[]>>> = {
  owner: { organization: ['update', 'delete'], ...OF_ADMINS },
  admin: { organization: [], ...OF_ADMINS },
  member: { ac: ['read'] },
};

/** Whether the caller's role in an organization covers every one of the asked verbs. */
export async function hasPermission(ctx: Context, caller: Caller, body: PermissionAsked): Promise<PermissionAnswer> {
  const allowed = ALLOWED[readRole(await requireOwn(ctx.db, caller, requireOrganizationId(body.organizationId)))];
  const asked = Object.entries(body.permissions ?? body.permission ?? {});
  const success = asked.every(([subject, verbs]) =>
    verbs.every((verb) => (Object.hasOwn(allowed, subject) ? allowed[subject] : [])?.includes(verb)),
  );
  return { error: null, success };
}
