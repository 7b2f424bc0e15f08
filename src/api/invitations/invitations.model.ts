import type { Uuid } from '../sharing/sharing.model.ts';

/** What an invitation is to; `platform`: the service itself. */
export type InvitedTo = 'platform' | 'experiment' | 'macro' | 'protocol' | 'workbook' | 'device';
/** What is granted when the address signs in. */
export type InvitationTier = 'admin' | 'viewer';
/** `pending` until the address signs in, or it is taken back. */
export type InvitationStatus = 'pending' | 'accepted' | 'revoked';

/** An invitation to one resource, or to the service itself. */
export interface Invitation {
  /** Names the invitation. */
  id: string;
  /** What the invitation is to; `platform`: the service itself. */
  resourceType: InvitedTo;
  /** Resource, by its UUID; null for the service itself. */
  resourceId: string | null;
  /** Address that was invited. */
  email: string;
  tier: InvitationTier;
  status: InvitationStatus;
  /** Person who invited, by their UUID. */
  invitedBy: string;
  /** First and last name of who invited. */
  invitedByName: string;
  /** Name of the resource. Of an invitation to a resource; absent otherwise. */
  resourceName?: string;
  createdAt: Date;
  updatedAt: Date;
  /** When it ends by itself, in UTC: 30 days after it was sent. */
  expiresAt: Date;
}

/** Who is invited, and to what. */
export interface NewInvitation {
  /** What the invitation is to; `platform`: the service itself. */
  resourceType: InvitedTo;
  /** Resource, by its UUID. Required but for `platform`, which has none. */
  resourceId?: Uuid | null;
  /**
   * Address to invite, at most 320 characters.
   * @maxLength 320
   */
  email: string;
  /** What is granted when the address signs in; `viewer` unless stated otherwise. */
  tier?: InvitationTier;
}
