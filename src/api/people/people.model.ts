import type { SharedType } from '../sharing/sharing.model.ts';

/** A person, as a search finds them. */
export interface FoundUser {
  userId: string;
  firstName: string;
  lastName: string;
  bio: string | null;
  activated: boolean;
  /** Only of people you share an organization or a resource with, or whose whole address you searched for. */
  email: string | null;
  avatarUrl: string | null;
}

export interface UserAccount {
  id: string;
  name: string | null;
  /** Only your own, and of people you share an organization or a resource with. */
  email: string | null;
  emailVerified: boolean;
  image: string | null;
  createdAt: Date;
  /** Whether the person has filled in a profile. */
  registered: boolean;
}

export interface UserProfile {
  firstName: string;
  lastName: string;
  bio: string | null;
  activated: boolean;
  avatarUrl: string | null;
}

export interface NewProfile {
  /**
   * @minLength 2
   * @maxLength 100
   */
  firstName: string;
  /**
   * @minLength 2
   * @maxLength 100
   */
  lastName: string;
  /** @maxLength 10000 */
  bio?: string | null;
  /** False hides you from searches and shows you as Unknown User, until you sign in again; it ends your sessions. */
  activated?: boolean;
  /**
   * @maxLength 500
   * @pattern ^https?://
   */
  avatarUrl?: string | null;
}

export interface PeopleAsked {
  /**
   * What is not a UUID is left out.
   * @minItems 1
   * @maxItems 500
   */
  userIds: string[];
}

export interface PersonShown {
  userId: string;
  firstName: string;
  lastName: string;
  avatarUrl: string | null;
}

export interface PeopleShown {
  users: PersonShown[];
  success: boolean;
}

/** A resource that nobody would answer for without the account, and who could. */
export interface BlockingResource {
  resourceType: SharedType;
  id: string;
  name: string;
  /** Of experiments. */
  status: string | null;
  /** Active people with a direct grant on it. */
  candidates: PersonShown[];
}

export interface BlockingOrganization {
  id: string;
  name: string;
  slug: string;
}

export interface AccountBlockers {
  resources: BlockingResource[];
  organizations: BlockingOrganization[];
}

/** The empty object. */
export type Nothing = Record<string, never>;
