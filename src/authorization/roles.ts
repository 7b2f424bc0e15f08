/**
 * The role matrix: the actions that a role string confers. Pure. `sql/views/010_access.sql` reads the same rule from generated columns; a test compares the
 * two.
 */
export const RESOURCE_TYPES = ['experiment', 'protocol', 'macro', 'workbook', 'device', 'device_group'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

export const ACTIONS = ['read', 'contribute', 'update', 'share', 'manage'] as const;
export type Action = (typeof ACTIONS)[number];

export const ORGANIZATION_ROLES = ['owner', 'admin', 'member'] as const;
export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number];

export const GRANT_ROLES = ['owner', 'admin', 'viewer'] as const;
export type GrantRole = (typeof GRANT_ROLES)[number];

export type AccessSource = 'organization-role' | 'user-grant' | 'team-grant' | 'organization-grant' | 'public';

const ALL: readonly Action[] = ACTIONS;
const READ: readonly Action[] = ['read'];

/** The actions of somebody who may only look, by type. */
const LOOKING: Record<ResourceType, readonly Action[]> = {
  experiment: ['read', 'contribute'],
  protocol: READ,
  macro: READ,
  workbook: READ,
  device: READ,
  device_group: READ,
};

const BY_ORGANIZATION_ROLE: Record<OrganizationRole, (type: ResourceType) => readonly Action[]> = {
  owner: () => ALL,
  admin: () => ALL,
  member: (type) => LOOKING[type],
};

const BY_GRANT_ROLE: Record<GrantRole, (type: ResourceType) => readonly Action[]> = {
  owner: () => ALL,
  admin: () => ALL,
  viewer: (type) => LOOKING[type],
};

const isOrganizationRole = (token: string): token is OrganizationRole => (ORGANIZATION_ROLES as readonly string[]).includes(token);
const isGrantRole = (role: string): role is GrantRole => (GRANT_ROLES as readonly string[]).includes(role);

/** Actions that a membership's role string confers: a comma list, trimmed; unknown tokens confer nothing. */
export function listRoleActions(role: string, type: ResourceType): ReadonlySet<Action> {
  const tokens = role.split(',').map((token) => token.trim());
  return new Set(tokens.filter(isOrganizationRole).flatMap((token) => BY_ORGANIZATION_ROLE[token](type)));
}

/** Actions that a grant confers: the role matches one of the three exactly, or confers nothing. */
export function listGrantActions(role: string, type: ResourceType): ReadonlySet<Action> {
  return new Set(isGrantRole(role) ? BY_GRANT_ROLE[role](type) : []);
}

/** Types that can move to another organization. */
export const TRANSFERABLE: Record<ResourceType, boolean> = {
  experiment: true,
  protocol: true,
  macro: true,
  workbook: true,
  device: false,
  device_group: false,
};
