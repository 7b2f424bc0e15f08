import type { PersonShown } from '../directory/directory.model.ts';

/**
 * Names one thing for good: 32 hex digits with hyphens.
 * @format uuid
 * @pattern ^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$
 */
export type Uuid = string;

/**
 * What people call something.
 * @minLength 1
 * @maxLength 255
 * @format name
 */
export type Name = string;

/**
 * What people call something, where spaces around it are cut off.
 * @maxLength 255
 * @format name
 */
export type SpacedName = string;

/**
 * What something is about, at length.
 * @maxLength 100000
 */
export type LongText = string | null;

/**
 * What something is about.
 * @maxLength 10000
 */
export type Prose = string | null;

/** The grantee of a grant. */
export type GranteeType = 'user' | 'team' | 'organization';
/** `viewer`: may read, and contribute to an experiment. `admin` and `owner`: may do everything. */
export type GrantRoleName = 'owner' | 'admin' | 'viewer';
/** What can be shared. */
export type SharedType = 'experiment' | 'protocol' | 'macro' | 'workbook' | 'device' | 'device_group';

/** Paging of lists that are answered whole without it. */
export interface ListPage {
  /**
   * Page to answer, counted from 1. Without `page` and `pageSize` the first 1,000 rows are answered at once.
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * Rows of one page, 1 to 100. 100 when only `page` is given; without either, the first 1,000 rows are answered.
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  pageSize?: number;
}

/** How a grantee is shown. */
export interface Grantee {
  /** What the grantee is. */
  type: GranteeType;
  /** Name of the person, team or organization; null when there is none to show. */
  displayName: string | null;
  /** Address of a person; null for teams and organizations, and without one. */
  email: string | null;
  /** Web address of a picture; null without one. */
  avatarUrl: string | null;
  /** People in a team; null for others. */
  memberCount: number | null;
}

/** A grant that gives nothing more than its holder has anyway. */
export interface InertGrant {
  /** The grant's. */
  id: string;
  /** Role that the grant gives. */
  role: GrantRoleName;
}

/** A living owner of the owning organization. A direct grant of theirs adds nothing, and is shown to be removed. */
export interface OwnerCollaborator {
  /** Always `owner`. */
  kind: 'owner';
  /** Always `user`. */
  granteeType: 'user';
  /** Person, by their UUID. */
  granteeId: string;
  organizationName: string | null;
  /** How the person is shown. */
  grantee: Grantee;
  /** Direct grant of theirs, which adds nothing; null without one. */
  inertGrant: InertGrant | null;
}

/** Admins of the owning organization that hold no grant of their own. */
export interface AdminsCollaborator {
  /** Always `orgAdmins`. */
  kind: 'orgAdmins';
  /** Owning organization, by its UUID. */
  organizationId: string;
  organizationName: string | null;
  /** How many they are. */
  adminCount: number;
}

/** Plain members of the owning organization that hold no grant of their own. */
export interface MembersCollaborator {
  /** Always `orgMembers`. */
  kind: 'orgMembers';
  /** Owning organization, by its UUID. */
  organizationId: string;
  organizationName: string | null;
  /** How many they are. */
  memberCount: number;
}

/** The organization that owns a resource, to one of its grantees. */
export interface OwningOrganization {
  /** Owning organization, by its UUID. */
  id: string;
  /** Name of the owning organization. */
  name: string;
  /** What the grantee is in it. */
  role: 'admin' | 'member';
}

/** A grant: a person, team or organization that was given access. */
export interface GrantCollaborator {
  /** Always `grant`. */
  kind: 'grant';
  /** The grant's. */
  id: string;
  /** What kind of thing is shared. */
  resourceType: SharedType;
  /** What is shared, by its UUID. */
  resourceId: string;
  /** What the grantee is. */
  granteeType: GranteeType;
  /** Person, team or organization, by its UUID. */
  granteeId: string;
  role: GrantRoleName;
  createdAt: string;
  /** Person who made the grant, by their UUID; null when that is not known. */
  createdBy: string | null;
  /** A person who is not in the owning organization, or another organization. */
  isOutsideCollaborator: boolean;
  /** How the grantee is shown. */
  grantee: Grantee;
  /** The grantee's role in the owning organization; null for who is not in it. */
  owningOrganization: OwningOrganization | null;
}

/** Somebody who answers for a resource or reaches it; `kind` says how. */
export type Collaborator = OwnerCollaborator | AdminsCollaborator | MembersCollaborator | GrantCollaborator;

/** Who is given access, and which. */
export interface NewGrant {
  /** What the grantee is. */
  granteeType: GranteeType;
  /** Person, team or organization, by its UUID. */
  granteeId: Uuid;
  /** `viewer` unless stated otherwise: may read, and contribute to an experiment. `admin` and `owner`: may do everything. */
  role?: GrantRoleName;
}

/** Another role for a grant. */
export interface GrantPatch {
  role: GrantRoleName;
}

/** A team that can be named as grantee. */
export interface GranteeTeam {
  /** Team, by its UUID. */
  id: string;
  /** What people call the team. */
  name: string;
  /** Organization that the team belongs to. */
  organizationId: string;
  /** People in the team. */
  memberCount: number;
}

/** An organization that can be named as grantee. */
export interface GranteeOrganization {
  /** Organization, by its UUID. */
  id: string;
  /** What people call the organization. */
  name: string;
  /** Name of the organization in web addresses: lower-case letters, digits and hyphens. */
  slug: string;
}

/** A person who can be named as grantee. */
export interface GranteeUser extends PersonShown {
  /** Only of people you share an organization or a resource with, or whose whole address you searched for; null otherwise. */
  email: string | null;
  /** Role in the owning organization; null for who is not in it. */
  organizationRole: 'owner' | 'admin' | 'member' | null;
  /** Role of the direct grant that the person holds already; null without one. */
  existingGrantRole: GrantRoleName | null;
}

/** Where a resource is moved to. */
export interface NewTransfer {
  /** Organization of yours that the resource is to belong to. */
  targetOrganizationId: Uuid;
}

/** A resource that was moved. */
export interface ResourceTransfer {
  /** What kind of thing was moved. */
  resourceType: SharedType;
  /** What was moved, by its UUID. */
  resourceId: string;
  /** Organization that owns it now. */
  organizationId: string;
}

/** A resource, and who is to answer for it. */
export interface AdminHandover {
  /** What kind of thing is handed over. */
  resourceType: SharedType;
  /** What is handed over, by its UUID. */
  resourceId: Uuid;
  /** Person who becomes an admin of it. */
  targetUserId: Uuid;
}

/** Resources to hand over. */
export interface AdminHandovers {
  /**
   * 1 to 200 resources.
   * @minItems 1
   * @maxItems 200
   */
  transfers: AdminHandover[];
}

/** What became of one resource. */
export interface AdminHandoverResult {
  /** What kind of thing it is. */
  resourceType: SharedType;
  /** What was to be handed over, by its UUID. */
  resourceId: string;
  /** Whether it was handed over. */
  success: boolean;
  /** Why it was not, as a sentence; absent otherwise. */
  error?: string;
}

/** What became of each resource. */
export interface AdminHandoverResults {
  /** In the order of the request. */
  results: AdminHandoverResult[];
}
