import type { Name, Prose, Uuid } from '../sharing/sharing.model.ts';
import type { OrganizationDescribed, OrganizationType, OrganizationVisibility } from './organizations.model.ts';
import type { InOrganization, ManagedTeam } from './teams.model.ts';

/** An organization as its members manage it. */
export interface ManagedOrganization extends OrganizationDescribed {
  /** Free: as it was sent when created or changed, as JSON text in other answers. Null when nobody gave any. */
  metadata: unknown;
  /** Its own web address; null without one. */
  website: string | null;
  createdAt: Date;
}

/** A membership. */
export interface ManagedMember {
  /** Membership, by its UUID. */
  id: string;
  /** Organization, by its UUID. */
  organizationId: string;
  userId: string;
  /** `owner`, `admin` or `member`; a stored list of roles is comma-joined. */
  role: string;
  createdAt: Date;
}

/** A member's account. */
export interface MemberUser {
  /** Person, by their UUID. */
  id: string;
  /** Name of the account. */
  name: string;
  /** Email address; null when the account has none. */
  email: string | null;
  image: string | null;
}

/** A membership, and whose it is. */
export interface ManagedMemberWithUser extends ManagedMember {
  /** The member's account. */
  user: MemberUser;
}

/** An organization that was made. */
export interface CreatedOrganization extends ManagedOrganization {
  /** You, as its owner. */
  members: ManagedMember[];
}

/** What an organization is made with. */
export interface NewOrganization {
  /** What people call the organization, 1 to 255 characters. */
  name: Name;
  /**
   * Name in web addresses: lower-case letters and digits with single hyphens between them, at most 255 characters; not beginning with `personal-`.
   * @minLength 1
   */
  slug: string;
  /**
   * Web address of a picture, at most 2,000 characters; no scheme but http and https.
   * @maxLength 2000
   * @pattern ^(https?://\S*|[^\s:]*)$
   */
  logo?: string | null;
  /** Any object of your own; at most 10,000 characters as JSON. */
  metadata?: Record<string, unknown>;
  /** Kind of organization. */
  type?: OrganizationType | null;
  /** What the organization does, at most 10,000 characters. */
  description?: Prose;
  /**
   * Its own web address, at most 255 characters; no scheme but http and https.
   * @maxLength 255
   * @pattern ^(https?://\S*|[^\s:]*)$
   */
  website?: string | null;
  /**
   * Where it is, in words, at most 1,000 characters.
   * @maxLength 1000
   */
  location?: string | null;
  /** `private` unless stated otherwise. `public`: everybody who is signed in sees it and may ask to join. */
  visibility?: OrganizationVisibility;
}

/** Changes; fields that are left out keep their value. */
export interface OrganizationChanges {
  /** What people call the organization, 1 to 255 characters. */
  name?: Name;
  /**
   * Name in web addresses: lower-case letters and digits with single hyphens between them, at most 255 characters; not beginning with `personal-`.
   * @minLength 1
   */
  slug?: string;
  /**
   * Web address of a picture, at most 2,000 characters; no scheme but http and https. Null takes it away.
   * @maxLength 2000
   * @pattern ^(https?://\S*|[^\s:]*)$
   */
  logo?: string | null;
  /** Any object of your own, at most 10,000 characters as JSON; replaces the one before. */
  metadata?: Record<string, unknown>;
  /** Kind of organization; null takes it away. */
  type?: OrganizationType | null;
  /** What the organization does, at most 10,000 characters; null takes it away. */
  description?: Prose;
  /**
   * Its own web address, at most 255 characters; no scheme but http and https. Null takes it away.
   * @maxLength 255
   * @pattern ^(https?://\S*|[^\s:]*)$
   */
  website?: string | null;
  /**
   * Where it is, in words, at most 1,000 characters; null takes it away.
   * @maxLength 1000
   */
  location?: string | null;
  visibility?: OrganizationVisibility;
}

/** Which organization changes, and how. */
export interface OrganizationUpdate extends InOrganization {
  /** What is to change. */
  data: OrganizationChanges;
}

/** A slug to look for. */
export interface SlugAsked {
  /**
   * Slug that you would like.
   * @minLength 1
   */
  slug: string;
}

/** That a slug can be had. */
export interface SlugFree {
  /** Always true: a slug that cannot be had is refused. */
  status: boolean;
}

/** Which organization is meant. */
export interface OrganizationNamed {
  /** Organization, by its UUID. */
  organizationId: Uuid;
}

/** How far an invitation is. */
export type InvitationState = 'pending' | 'accepted' | 'rejected' | 'canceled';

/** An invitation to an organization. */
export interface OrganizationInvitation {
  /** Names the invitation. */
  id: string;
  /** Organization that it is to. */
  organizationId: string;
  /** Address that was invited. */
  email: string;
  /** Role that the person gets: `owner`, `admin` or `member`. */
  role: string;
  /** Teams that the person is put into, comma-joined; null without any. */
  teamId: string | null;
  /** `pending` until it is accepted, rejected or canceled; it may have expired all the same. */
  status: InvitationState;
  /** When it ends by itself, in UTC: 48 hours after it was last sent. */
  expiresAt: Date;
  createdAt: Date;
  /** Person who invited, by their UUID. */
  inviterId: string;
}

/** An organization with its members and teams. */
export interface FullOrganization extends ManagedOrganization {
  /** At most `membersLimit`. */
  members: ManagedMemberWithUser[];
  /** Every team of the organization. */
  teams: ManagedTeam[];
  /** Invitations of every status. For owners and admins; absent for others. */
  invitations?: OrganizationInvitation[];
}

/** What you would like to do. */
export interface PermissionAsked extends InOrganization {
  /** Verbs by subject, such as `{"member": ["create"]}`. Subjects are organization, member, invitation, team and ac. */
  permissions?: Record<string, string[]>;
  /** Old name of `permissions`, which wins. */
  permission?: Record<string, string[]>;
}

/** Whether you may. */
export interface PermissionAnswer {
  /** Always null. */
  error: string | null;
  /** Whether your role covers every one of the asked verbs. */
  success: boolean;
}

/** A page of members. */
export interface MemberList {
  /** The asked ones. */
  members: ManagedMemberWithUser[];
  /** How many members match. */
  total: number;
}

/** Whose membership ends. */
export interface MemberRemoval extends InOrganization {
  /**
   * Membership by its UUID, or the person's address; at most 320 characters.
   * @maxLength 320
   */
  memberIdOrEmail: string;
}

/** A membership that has ended. */
export interface RemovedMember {
  /** The membership that ended. */
  member: ManagedMember;
}

/** Whose role changes, and to what. */
export interface RoleChange extends InOrganization {
  /** Membership, by its UUID. */
  memberId: Uuid;
  /** Exactly one of owner, admin and member. */
  role: string | string[];
}

/** Who becomes a member, and as what. */
export interface NewOrganizationMember extends InOrganization {
  userId: Uuid;
  /** Exactly one of owner, admin and member. */
  role: string | string[];
  /** Team of the organization that the person is put into; none when absent. */
  teamId?: Uuid;
}

/** Who is invited, and as what. */
export interface NewOrganizationInvitation extends InOrganization {
  /**
   * Address to invite, at most 320 characters.
   * @maxLength 320
   */
  email: string;
  /** Exactly one of owner, admin and member. */
  role: string | string[];
  /** Prolongs a live invitation and sends it again as it was; false by default. */
  resend?: boolean;
  /** Teams that the person is put into: one id, a list, or ids with commas between them. */
  teamId?: string | string[];
}

/** Which invitation is meant. */
export interface InvitationNamed {
  /** Invitation, by its UUID. */
  invitationId: Uuid;
}

/** An invitation that was accepted. */
export interface AcceptedInvitation {
  /** The invitation, now accepted. */
  invitation: OrganizationInvitation;
  /** Your membership. */
  member: ManagedMember;
}

/** An invitation that was rejected. */
export interface RejectedInvitation {
  /** The invitation, now rejected. */
  invitation: OrganizationInvitation;
  /** Always null. */
  member: null;
}

/** An invitation, as who is invited sees it. */
export interface InvitationForRecipient extends OrganizationInvitation {
  /** What people call the organization. */
  organizationName: string;
  /** Name of the organization in web addresses: lower-case letters, digits and hyphens. */
  organizationSlug: string;
  /** Address of who invited; null when the account has none. */
  inviterEmail: string | null;
}

/** An invitation to you. */
export interface OwnOrganizationInvitation extends OrganizationInvitation {
  /** What people call the organization. */
  organizationName: string;
}
