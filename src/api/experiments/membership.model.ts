import type { ProfileShown } from '../directory/directory.model.ts';
import type { JoinRequest } from '../organizations/organizations.model.ts';

/** How far a request is. `cancelled`: taken back, or the person came in another way. */
export type ExperimentJoinStatus = 'pending' | 'approved' | 'rejected' | 'cancelled';

/** Who asks to take part. */
export interface ExperimentRequester extends ProfileShown {
  /** Person who asks, by their UUID. */
  id: string;
  /** Email address; null when the account has none. */
  email: string | null;
}

/** Somebody's wish to take part in an experiment. */
export interface ExperimentJoinRequest extends JoinRequest {
  /** Experiment that the person asks to take part in. */
  experimentId: string;
  /** Who asks. */
  user: ExperimentRequester;
  /** `pending` until it is decided. `cancelled`: taken back, or the person came in another way. */
  status: ExperimentJoinStatus;
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
