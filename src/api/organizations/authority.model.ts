import type { Uuid } from '../sharing/sharing.model.ts';
import type { OrganizationType, OrganizationVisibility } from './organizations.model.ts';

/** An organization as its members manage it. */
export interface ManagedOrganization {
  id: string;
  name: string;
  slug: string;
  logo: string | null;
  /** Free: as it was sent when created or changed, as JSON text in other answers. */
  metadata: unknown;
  type: OrganizationType | null;
  description: string | null;
  website: string | null;
  location: string | null;
  visibility: OrganizationVisibility;
  createdAt: Date;
}

export interface ManagedMember {
  id: string;
  organizationId: string;
  userId: string;
  role: string;
  createdAt: Date;
}

export interface MemberUser {
  id: string;
  name: string;
  email: string | null;
  image: string | null;
}

export interface ManagedMemberWithUser extends ManagedMember {
  user: MemberUser;
}

export interface CreatedOrganization extends ManagedOrganization {
  members: ManagedMember[];
}

export interface NewOrganization {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name: string;
  /**
   * Lower-case letters and digits with single hyphens between them; not beginning with `personal-`.
   * @minLength 1
   */
  slug: string;
  /**
   * A web address; no scheme but http and https.
   * @maxLength 2000
   * @pattern ^(https?://\S*|[^\s:]*)$
   */
  logo?: string | null;
  metadata?: Record<string, unknown>;
  type?: OrganizationType | null;
  /** @maxLength 10000 */
  description?: string | null;
  /**
   * A web address; no scheme but http and https.
   * @maxLength 255
   * @pattern ^(https?://\S*|[^\s:]*)$
   */
  website?: string | null;
  /** @maxLength 1000 */
  location?: string | null;
  /** Private unless stated otherwise. */
  visibility?: OrganizationVisibility;
}

export interface OrganizationChanges {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name?: string;
  /** @minLength 1 */
  slug?: string;
  /**
   * A web address; no scheme but http and https.
   * @maxLength 2000
   * @pattern ^(https?://\S*|[^\s:]*)$
   */
  logo?: string | null;
  metadata?: Record<string, unknown>;
  type?: OrganizationType | null;
  /** @maxLength 10000 */
  description?: string | null;
  /**
   * A web address; no scheme but http and https.
   * @maxLength 255
   * @pattern ^(https?://\S*|[^\s:]*)$
   */
  website?: string | null;
  /** @maxLength 1000 */
  location?: string | null;
  visibility?: OrganizationVisibility;
}

export interface OrganizationUpdate {
  organizationId?: Uuid;
  data: OrganizationChanges;
}

export interface SlugAsked {
  /** @minLength 1 */
  slug: string;
}

export interface SlugFree {
  status: boolean;
}

export interface OrganizationNamed {
  organizationId: Uuid;
}

export interface ManagedTeam {
  id: string;
  name: string;
  organizationId: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface ManagedTeamMember {
  id: string;
  teamId: string;
  userId: string;
  createdAt: Date;
}

export type InvitationState = 'pending' | 'accepted' | 'rejected' | 'canceled';

export interface OrganizationInvitation {
  id: string;
  organizationId: string;
  email: string;
  role: string;
  /** Several are comma-joined. */
  teamId: string | null;
  status: InvitationState;
  expiresAt: Date;
  createdAt: Date;
  inviterId: string;
}

export interface FullOrganization extends ManagedOrganization {
  members: ManagedMemberWithUser[];
  teams: ManagedTeam[];
  /** Owners and admins only. */
  invitations?: OrganizationInvitation[];
}

export interface PermissionAsked {
  organizationId?: Uuid;
  permissions?: Record<string, string[]>;
  permission?: Record<string, string[]>;
}

export interface PermissionAnswer {
  error: string | null;
  success: boolean;
}

export interface MemberList {
  members: ManagedMemberWithUser[];
  total: number;
}

export interface MemberRemoval {
  /** @maxLength 320 */
  memberIdOrEmail: string;
  organizationId?: Uuid;
}

export interface RemovedMember {
  member: ManagedMember;
}

export interface RoleChange {
  memberId: Uuid;
  role: string | string[];
  organizationId?: Uuid;
}

export interface NewOrganizationMember {
  userId: Uuid;
  role: string | string[];
  organizationId?: Uuid;
  teamId?: Uuid;
}

export interface NewOrganizationInvitation {
  /** @maxLength 320 */
  email: string;
  role: string | string[];
  organizationId?: Uuid;
  resend?: boolean;
  teamId?: string | string[];
}

export interface InvitationNamed {
  invitationId: Uuid;
}

export interface AcceptedInvitation {
  invitation: OrganizationInvitation;
  member: ManagedMember;
}

export interface RejectedInvitation {
  invitation: OrganizationInvitation;
  member: null;
}

export interface InvitationForRecipient extends OrganizationInvitation {
  organizationName: string;
  organizationSlug: string;
  inviterEmail: string | null;
}

export interface OwnOrganizationInvitation extends OrganizationInvitation {
  organizationName: string;
}

export interface NewTeam {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name: string;
  organizationId?: Uuid;
}

export interface TeamChanges {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name?: string;
  organizationId?: Uuid;
}

export interface TeamUpdate {
  teamId: Uuid;
  data: TeamChanges;
}

export interface TeamNamed {
  teamId: Uuid;
  organizationId?: Uuid;
}

export interface TeamMemberNamed {
  teamId: Uuid;
  userId: Uuid;
  organizationId?: Uuid;
}

export interface Said {
  message: string;
}
