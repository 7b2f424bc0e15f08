import type { PersonShown, ProfileShown } from '../directory/directory.model.ts';
import type { GrantRoleName, SharedType } from '../sharing/sharing.model.ts';

/** Kind of organization. */
export type OrganizationType = 'research_institute' | 'non_profit' | 'private_company' | 'government_agency' | 'university';
/** `public`: everybody who is signed in sees it and may ask to join. `private`: only its members see it. */
export type OrganizationVisibility = 'private' | 'public';
/**
 * `owner`: may do everything, also change and delete the organization. `admin`: may manage its people and everything that it owns. `member`: may read
 * what it owns, and contribute to its experiments.
 */
export type MembershipRole = 'owner' | 'admin' | 'member';
/** What you are to an organization. */
export type MembershipStatus = 'none' | 'pending_request' | 'member';

/** What everybody who sees an organization knows of it. */
export interface OrganizationKnown {
  /** Organization, by its UUID. */
  id: string;
  /** What people call the organization. */
  name: string;
  /** Name of the organization in web addresses: lower-case letters, digits and hyphens. */
  slug: string;
  /** What the organization does; null without one. */
  description: string | null;
  visibility: OrganizationVisibility;
}

/** What an organization says of itself. */
export interface OrganizationDescribed extends OrganizationKnown {
  /** Web address of a picture; null without one. */
  logo: string | null;
  /** Kind of organization; null when nobody said. */
  type: OrganizationType | null;
  /** Where it is, in words; null when nobody said. */
  location: string | null;
}

/** An organization in the directory. */
export interface OrganizationListItem extends OrganizationDescribed {
  /** People in it. */
  memberCount: number;
  /** How many of its resources you can read. */
  resourceCount: number;
  /** What you are to it. */
  membershipStatus: MembershipStatus;
}

/** A page of organizations. */
export interface OrganizationList {
  /** By name. */
  organizations: OrganizationListItem[];
}

/** An organization that the caller is in. */
export interface OwnOrganization extends OrganizationKnown {
  /** What you are in it. */
  role: MembershipRole;
  /** Whether it is your personal workspace, which nobody else can join. */
  isPersonal: boolean;
  /** People in it. */
  memberCount: number;
  /** Resources that it owns and that you can read. */
  resourceCount: number;
}

/** An organization as it is seen. */
export interface OrganizationDetail extends OrganizationDescribed {
  /** Its own web address; null without one. */
  website: string | null;
  /** People in it. */
  memberCount: number;
  /** Resources that it owns and that you can read. */
  resourceCount: number;
  createdAt: Date;
  /** Yours; null when you are not a member. */
  role: MembershipRole | null;
  /** What you are to it. */
  membershipStatus: MembershipStatus;
}

/** Something that an organization owns. */
export interface OrganizationResource {
  /** Resource, by its UUID. */
  id: string;
  /** What people call it. */
  name: string;
  /** What it is for; null without one. */
  description: string | null;
  /** `private`: for the owning organization and those it is shared with. `public`: for everybody who is signed in to read. */
  visibility: OrganizationVisibility;
  updatedAt: Date;
  /** Rows of its collaborator list. */
  collaboratorCount: number;
  /** What kind of thing it is. */
  type: SharedType;
  /** State of an experiment; absent for others. */
  status?: string;
  /** Instruments that a protocol is for; absent for others. */
  family?: string;
  /** Language of a macro; absent for others. */
  language?: string;
  /** Kind of a device; absent for others. */
  deviceType?: string;
  /** How many devices are in a device group; absent for others. */
  memberCount?: number;
}

/** How many resources of each type there are. */
export interface ResourceTotals {
  /** Experiments that you can read. */
  experiment: number;
  /** Protocols that you can read. */
  protocol: number;
  /** Macros that you can read. */
  macro: number;
  /** Workbooks that you can read. */
  workbook: number;
  /** Devices that you can read. */
  device: number;
  /** Device groups that you can read. */
  device_group: number;
}

/** A page of what an organization owns. */
export interface OrganizationResources {
  /** Last changed first. */
  resources: OrganizationResource[];
  /** How many there are of each type, on all pages. */
  totals: ResourceTotals;
}

/** Somebody in an organization. */
export interface OrganizationMember extends TeamPerson {
  /** As stored: several roles are comma-joined. */
  role: string;
  /** When the person became a member, in UTC. */
  joinedAt: Date;
}

/** Who is in an organization. */
export interface OrganizationMembers {
  /** Who has been in it longest comes first. */
  members: OrganizationMember[];
}

/** Things of one type that the organization owns; while it owns any, it cannot be deleted. */
export interface DeletionBlocker {
  /** Type of the things. */
  resourceType: SharedType;
  /** How many of them the organization owns. */
  count: number;
}

/** What keeps an organization from being deleted. */
export interface OrganizationBlockers {
  /** One row a type; empty when nothing is in the way. */
  blockers: DeletionBlocker[];
  /** How many resources of all types there are. */
  total: number;
}

/** Somebody in a team. */
export interface TeamPerson extends PersonShown {
  /** Email address; null when the account has none. */
  email: string | null;
}

/** A team, and who is in it. */
export interface OrganizationTeam {
  /** Team, by its UUID. */
  id: string;
  /** What people call the team. */
  name: string;
  /** Organization that the team belongs to. */
  organizationId: string;
  createdAt: Date;
  /** People in the team. */
  members: TeamPerson[];
}

/** What a team has been given. */
export interface TeamGrant {
  /** The grant's. */
  id: string;
  /** Team that was given access. */
  teamId: string;
  /** What kind of thing is shared. */
  resourceType: SharedType;
  /** What is shared, by its UUID. */
  resourceId: string;
  /** What people call what is shared. */
  resourceName: string;
  role: GrantRoleName;
}

/** How far a request is. `cancelled`: taken back, or the person came in another way. */
export type JoinRequestStatus = 'pending' | 'approved' | 'rejected' | 'cancelled';

/** Who asks to join. */
export interface Requester extends ProfileShown {
  /** Person who asks, by their UUID. */
  id: string;
  /** Email address; null when the account has none. */
  email: string | null;
}

/** Somebody's wish to join something. */
export interface JoinRequest {
  /** Names the request. */
  id: string;
  /** What the person wrote with it; null without a message. */
  message: string | null;
  /** Person who decided or took it back; null while it is pending. */
  decidedBy: string | null;
  /** When it was decided or taken back, in UTC; null while it is pending. */
  decidedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Somebody's wish to join an organization. */
export interface OrganizationJoinRequest extends JoinRequest {
  /** Organization that the person asks to join. */
  organizationId: string;
  /** Who asks. */
  user: Requester;
  /** `pending` until it is decided. `cancelled`: taken back, or the person came in another way. */
  status: JoinRequestStatus;
}

/** A wish to join. */
export interface NewJoinRequest {
  /**
   * A word to those who decide, at most 250 characters.
   * @maxLength 250
   */
  message?: string;
}

/** What becomes of a wish to join. */
export interface JoinDecision {
  /** What becomes of the request. */
  decision: 'approve' | 'reject';
}

/** One change of access, identity or data. */
export interface AuditEvent {
  /** Names the event. */
  id: string;
  /** When it happened, in UTC. */
  at: Date;
  /** Null for what the service did by itself. */
  actorId: string | null;
  /** What was done, such as `grant.created` or `experiment.published`. */
  action: string;
  /** What kind of thing it was done to; null when to none. */
  resourceType: string | null;
  /** What it was done to, by its UUID; null when to nothing. */
  resourceId: string | null;
  /** The person whom the event is about; null when that is the actor, or nobody. */
  subjectId: string | null;
  /** Request that did it, as its answer named it; null for what the service did by itself. */
  requestId: string | null;
  /** What else is known of it, by kind of action: ids, roles, counts. */
  details: Record<string, unknown>;
}
