import type { PersonShown, ProfileShown } from '../directory/directory.model.ts';
import type { Prose, SharedType } from '../sharing/sharing.model.ts';

/** A person's account. */
export interface UserAccount {
  /** Person, by their UUID. */
  id: string;
  /** Name of the account; `Unknown User` where the profile is not active; null when there is none. */
  name: string | null;
  /** Only your own, and of people you share an organization or a resource with; null otherwise. */
  email: string | null;
  /** Whether the address was proven. */
  emailVerified: boolean;
  image: string | null;
  createdAt: Date;
  /** Whether the person has filled in a profile. */
  registered: boolean;
}

/** What a person says of themselves. */
export interface UserProfile extends ProfileShown {
  /** What the person says of themselves; null when nothing. */
  bio: string | null;
  /** Whether the profile is active. */
  activated: boolean;
}

/** What you say of yourself. */
export interface NewProfile {
  /**
   * First name, 2 to 100 characters.
   * @minLength 2
   * @maxLength 100
   * @format name
   */
  firstName: string;
  /**
   * Last name, 1 to 100 characters.
   * @minLength 1
   * @maxLength 100
   * @format name
   */
  lastName: string;
  /** What you say of yourself, at most 10,000 characters; null takes it away. */
  bio?: Prose;
  /** False hides you from searches and shows you as Unknown User, until you sign in again; it ends your sessions. */
  activated?: boolean;
  /**
   * Web address (http or https) of a picture of you, at most 500 characters; null takes it away.
   * @maxLength 500
   * @pattern ^https?://
   */
  avatarUrl?: string | null;
}

/** Whose names are asked for. */
export interface PeopleAsked {
  /**
   * 1 to 500 people, by their UUIDs. What is not a UUID is left out.
   * @minItems 1
   * @maxItems 500
   */
  userIds: string[];
}

/** Names and pictures. */
export interface PeopleShown {
  /** In the order of the request. */
  users: PersonShown[];
  success: boolean;
}

/** A resource that nobody would answer for without the account, and who could. */
export interface BlockingResource {
  /** What kind of thing it is. */
  resourceType: SharedType;
  /** Resource, by its UUID. */
  id: string;
  /** What people call it. */
  name: string;
  /** State of an experiment; null for others. */
  status: string | null;
  /** Active people with a direct grant on it. */
  candidates: PersonShown[];
}

/** An organization that would be left without an owner. */
export interface BlockingOrganization {
  /** Organization, by its UUID. */
  id: string;
  /** What people call the organization. */
  name: string;
  /** Name of the organization in web addresses: lower-case letters, digits and hyphens. */
  slug: string;
}

/** What keeps your account from being deleted. */
export interface AccountBlockers {
  /** Resources that nobody else answers for. */
  resources: BlockingResource[];
  /** Organizations that have no other owner. */
  organizations: BlockingOrganization[];
}

/** The empty object. */
export type Nothing = Record<string, never>;
