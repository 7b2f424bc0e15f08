/** Something that was done by you, or to your account. */
export interface AuditEntry {
  /** Names the entry. */
  id: string;
  /** When it happened, in UTC. */
  at: Date;
  /** What was done, such as `session.created`, `session.refused` or `api-key.revoked`. */
  action: string;
  /** Whether you did it yourself. */
  byYou: boolean;
  /** Organization that it concerns; null when none. */
  organizationId: string | null;
  /** Request that did it, as its answer named it; null when none did. */
  requestId: string | null;
  /** What is known of it, by kind of action: method, address of the network, reason, ids. */
  details: Record<string, unknown>;
}
