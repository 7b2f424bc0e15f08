/** A version of a protocol's or macro's code, without the code. */
export interface CodeVersionSummary {
  /** Number of the version: 1, 2, 3 … */
  version: number;
  /** Person who wrote it, by their UUID; null when the account is gone. */
  createdBy: string | null;
  /** First and last name of who wrote it; null when the account is gone. */
  createdByName: string | null;
  /** When it was written, in UTC. */
  createdAt: Date;
}
