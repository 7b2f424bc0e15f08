export type ExperimentJoinStatus = 'pending' | 'approved' | 'rejected' | 'cancelled';

export interface ExperimentRequester {
  id: string;
  firstName: string;
  lastName: string;
  email: string | null;
  avatarUrl: string | null;
}

export interface ExperimentJoinRequest {
  id: string;
  experimentId: string;
  user: ExperimentRequester;
  message: string | null;
  status: ExperimentJoinStatus;
  decidedBy: string | null;
  decidedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewExperimentJoinRequest {
  /** @maxLength 250 */
  message?: string;
}

export interface Contributor {
  /** The pseudonym in an anonymised experiment. */
  userId: string;
  firstName: string;
  lastName: string;
  avatarUrl: string | null;
}

export interface ExperimentContributors {
  contributors: Contributor[];
  collaboratorCount: number;
}
