/** Something that was done by you, or to your account. */
export interface AuditEntry {
  id: string;
  at: Date;
  /** Such as `session.created`, `session.refused` or `api-key.revoked`. */
  action: string;
  /** Whether you did it yourself. */
  byYou: boolean;
  organizationId: string | null;
  requestId: string | null;
  /** What is known of it, by kind of action: method, address of the network, reason, ids. */
  details: Record<string, unknown>;
}
