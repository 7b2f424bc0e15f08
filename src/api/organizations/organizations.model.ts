import type { GrantRoleName, SharedType } from '../sharing/sharing.model.ts';

export type OrganizationType = 'research_institute' | 'non_profit' | 'private_company' | 'government_agency' | 'university';
export type OrganizationVisibility = 'private' | 'public';
export type MembershipRole = 'owner' | 'admin' | 'member';
export type MembershipStatus = 'none' | 'pending_request' | 'member';

/** An organization in the directory. */
export interface OrganizationListItem {
  id: string;
  name: string;
  slug: string;
  logo: string | null;
  type: OrganizationType | null;
  description: string | null;
  location: string | null;
  memberCount: number;
  /** What you can read of it. */
  resourceCount: number;
  visibility: OrganizationVisibility;
  membershipStatus: MembershipStatus;
}

export interface OrganizationList {
  organizations: OrganizationListItem[];
}

/** An organization that the caller is in. */
export interface OwnOrganization {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  visibility: OrganizationVisibility;
  role: MembershipRole;
  isPersonal: boolean;
  memberCount: number;
  resourceCount: number;
}

export interface OrganizationDetail {
  id: string;
  name: string;
  slug: string;
  logo: string | null;
  type: OrganizationType | null;
  description: string | null;
  website: string | null;
  location: string | null;
  visibility: OrganizationVisibility;
  memberCount: number;
  resourceCount: number;
  createdAt: Date;
  /** Yours; null when you are not a member. */
  role: MembershipRole | null;
  membershipStatus: MembershipStatus;
}

export interface OrganizationResource {
  id: string;
  name: string;
  description: string | null;
  visibility: OrganizationVisibility;
  updatedAt: Date;
  collaboratorCount: number;
  type: SharedType;
  /** Of experiments. */
  status?: string;
  /** Of protocols. */
  family?: string;
  /** Of macros. */
  language?: string;
  /** Of devices. */
  deviceType?: string;
  /** Of device groups: how many devices are in it. */
  memberCount?: number;
}

export interface ResourceTotals {
  experiment: number;
  protocol: number;
  macro: number;
  workbook: number;
  device: number;
  device_group: number;
}

export interface OrganizationResources {
  resources: OrganizationResource[];
  totals: ResourceTotals;
}

export interface OrganizationMember {
  userId: string;
  firstName: string;
  lastName: string;
  email: string | null;
  avatarUrl: string | null;
  /** As stored: several roles are comma-joined. */
  role: string;
  joinedAt: Date;
}

export interface OrganizationMembers {
  members: OrganizationMember[];
}

export interface DeletionBlocker {
  resourceType: SharedType;
  count: number;
}

export interface OrganizationBlockers {
  blockers: DeletionBlocker[];
  total: number;
}

export interface TeamPerson {
  userId: string;
  firstName: string;
  lastName: string;
  email: string | null;
  avatarUrl: string | null;
}

export interface OrganizationTeam {
  id: string;
  name: string;
  organizationId: string;
  createdAt: Date;
  members: TeamPerson[];
}

export interface TeamGrant {
  id: string;
  teamId: string;
  resourceType: SharedType;
  resourceId: string;
  resourceName: string;
  role: GrantRoleName;
}

export type JoinRequestStatus = 'pending' | 'approved' | 'rejected' | 'cancelled';

export interface Requester {
  id: string;
  firstName: string;
  lastName: string;
  email: string | null;
  avatarUrl: string | null;
}

export interface OrganizationJoinRequest {
  id: string;
  organizationId: string;
  user: Requester;
  message: string | null;
  status: JoinRequestStatus;
  decidedBy: string | null;
  decidedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewJoinRequest {
  /** @maxLength 250 */
  message?: string;
}

export interface JoinDecision {
  decision: 'approve' | 'reject';
}

/** One change of access, identity or data. */
export interface AuditEvent {
  id: string;
  at: Date;
  /** Null for what the service did by itself. */
  actorId: string | null;
  action: string;
  resourceType: string | null;
  resourceId: string | null;
  /** The person whom the event is about, when that is not the actor. */
  subjectId: string | null;
  requestId: string | null;
  details: Record<string, unknown>;
}
