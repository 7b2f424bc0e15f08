import type { Uuid } from '../sharing/sharing.model.ts';

export type InvitedTo = 'platform' | 'experiment' | 'macro' | 'protocol' | 'workbook' | 'device';
export type InvitationTier = 'admin' | 'viewer';
export type InvitationStatus = 'pending' | 'accepted' | 'revoked';

/** An invitation to one resource, or to the service itself. */
export interface Invitation {
  id: string;
  resourceType: InvitedTo;
  /** Null for the service itself. */
  resourceId: string | null;
  email: string;
  tier: InvitationTier;
  status: InvitationStatus;
  invitedBy: string;
  invitedByName: string;
  /** Of an invitation to a resource. */
  resourceName?: string;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date;
}

export interface NewInvitation {
  resourceType: InvitedTo;
  /** Required but for `platform`, which has none. */
  resourceId?: Uuid | null;
  /** @maxLength 320 */
  email: string;
  /** What is granted when the address signs in; viewer unless stated otherwise. */
  tier?: InvitationTier;
}
