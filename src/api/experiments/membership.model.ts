/** How far a request is. `cancelled`: taken back, or the person came in another way. */
export type ExperimentJoinStatus = 'pending' | 'approved' | 'rejected' | 'cancelled';

/** Who asks to take part. */
export interface ExperimentRequester {
  /** Person who asks, by their UUID. */
  id: string;
  /** First name, as in the person's profile; `Unknown` where it is not active, `Deleted` where the account is closed. */
  firstName: string;
  /** Last name, as in the person's profile; `User` where it is not active, or the account is closed. */
  lastName: string;
  /** Email address; null when the account has none. */
  email: string | null;
  /** Web address of the person's picture; null without one. */
  avatarUrl: string | null;
}

/** Somebody's wish to take part in an experiment. */
export interface ExperimentJoinRequest {
  /** Names the request. */
  id: string;
  /** Experiment that the person asks to take part in. */
  experimentId: string;
  /** Who asks. */
  user: ExperimentRequester;
  /** What the person wrote with it; null without a message. */
  message: string | null;
  /** `pending` until it is decided. `cancelled`: taken back, or the person came in another way. */
  status: ExperimentJoinStatus;
  /** Person who decided or took it back; null while it is pending. */
  decidedBy: string | null;
  /** When it was decided or taken back, in UTC; null while it is pending. */
  decidedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A wish to take part. */
export interface NewExperimentJoinRequest {
  /**
   * A word to those who decide, at most 250 characters.
   * @maxLength 250
   */
  message?: string;
}

/** Somebody who takes part in an experiment. */
export interface Contributor {
  /** Person, by their UUID; the pseudonym in an anonymised experiment. */
  userId: string;
  /** First name; the pseudonym in an anonymised experiment. */
  firstName: string;
  /** Last name; empty in an anonymised experiment. */
  lastName: string;
  /** Web address of the person's picture; null without one, and in an anonymised experiment. */
  avatarUrl: string | null;
}

/** Who takes part in an experiment. */
export interface ExperimentContributors {
  /** The creator and everybody with a direct grant. */
  contributors: Contributor[];
  /** Rows of the collaborator list, which counts teams and organizations too. */
  collaboratorCount: number;
}
