/**
 * @format uuid
 * @pattern ^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$
 */
export type Uuid = string;

/** The grantee of a grant. */
export type GranteeType = 'user' | 'team' | 'organization';
export type GrantRoleName = 'owner' | 'admin' | 'viewer';
/** What can be shared. */
export type SharedType = 'experiment' | 'protocol' | 'macro' | 'workbook' | 'device' | 'device_group';

/** Paging of lists that are answered whole without it. */
export interface ListPage {
  /**
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  pageSize?: number;
}

/** How a grantee is shown. */
export interface Grantee {
  type: GranteeType;
  displayName: string | null;
  /** People only. */
  email: string | null;
  avatarUrl: string | null;
  /** Teams only. */
  memberCount: number | null;
}

export interface InertGrant {
  id: string;
  role: GrantRoleName;
}

/** A living owner of the owning organization. A direct grant of theirs adds nothing, and is shown to be removed. */
export interface OwnerCollaborator {
  kind: 'owner';
  granteeType: 'user';
  granteeId: string;
  organizationName: string | null;
  grantee: Grantee;
  inertGrant: InertGrant | null;
}

/** Admins of the owning organization that hold no grant of their own. */
export interface AdminsCollaborator {
  kind: 'orgAdmins';
  organizationId: string;
  organizationName: string | null;
  adminCount: number;
}

/** Plain members of the owning organization that hold no grant of their own. */
export interface MembersCollaborator {
  kind: 'orgMembers';
  organizationId: string;
  organizationName: string | null;
  memberCount: number;
}

export interface OwningOrganization {
  id: string;
  name: string;
  role: 'admin' | 'member';
}

export interface GrantCollaborator {
  kind: 'grant';
  /** The grant's. */
  id: string;
  resourceType: SharedType;
  resourceId: string;
  granteeType: GranteeType;
  granteeId: string;
  role: GrantRoleName;
  createdAt: string;
  createdBy: string | null;
  /** A person who is not in the owning organization, or another organization. */
  isOutsideCollaborator: boolean;
  grantee: Grantee;
  /** The grantee's role in the owning organization. */
  owningOrganization: OwningOrganization | null;
}

export type Collaborator = OwnerCollaborator | AdminsCollaborator | MembersCollaborator | GrantCollaborator;

export interface NewGrant {
  granteeType: GranteeType;
  granteeId: Uuid;
  /** Viewer unless stated otherwise. */
  role?: GrantRoleName;
}

export interface GrantPatch {
  role: GrantRoleName;
}

export interface GranteeTeam {
  id: string;
  name: string;
  organizationId: string;
  memberCount: number;
}

export interface GranteeOrganization {
  id: string;
  name: string;
  slug: string;
}

export interface GranteeUser {
  userId: string;
  firstName: string;
  lastName: string;
  /** Only of people you share an organization or a resource with, or whose whole address you searched for. */
  email: string | null;
  avatarUrl: string | null;
  /** In the owning organization. */
  organizationRole: 'owner' | 'admin' | 'member' | null;
  existingGrantRole: GrantRoleName | null;
}

export interface NewTransfer {
  targetOrganizationId: Uuid;
}

export interface ResourceTransfer {
  resourceType: SharedType;
  resourceId: string;
  organizationId: string;
}

export interface AdminHandover {
  resourceType: SharedType;
  resourceId: Uuid;
  targetUserId: Uuid;
}

export interface AdminHandovers {
  /**
   * @minItems 1
   * @maxItems 200
   */
  transfers: AdminHandover[];
}

export interface AdminHandoverResult {
  resourceType: SharedType;
  resourceId: string;
  success: boolean;
  error?: string;
}

export interface AdminHandoverResults {
  /** In the order of the request. */
  results: AdminHandoverResult[];
}
