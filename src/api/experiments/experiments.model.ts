import type { ResourceCapabilities, Visibility } from '../resources/resources.model.ts';
import type { Uuid } from '../sharing/sharing.model.ts';

export type { ListScope, ResourceCapabilities, Visibility, VisibilityPatch, VisibilityState } from '../resources/resources.model.ts';

export type ExperimentStatus = 'active' | 'stale' | 'archived' | 'published';

/** A place of an experiment. */
export interface Location {
  id: string;
  name: string;
  /** Degrees north, -90 to 90. */
  latitude: number;
  /** Degrees east, -180 to 180. */
  longitude: number;
  country?: string;
  region?: string;
  municipality?: string;
  postalCode?: string;
  addressLabel?: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewLocation {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name: string;
  /**
   * Degrees north.
   * @minimum -90
   * @maximum 90
   */
  latitude: number;
  /**
   * Degrees east.
   * @minimum -180
   * @maximum 180
   */
  longitude: number;
  /** @maxLength 100 */
  country?: string;
  /** @maxLength 100 */
  region?: string;
  /** @maxLength 100 */
  municipality?: string;
  /** @maxLength 20 */
  postalCode?: string;
  /** @maxLength 1000 */
  addressLabel?: string;
}

export interface Experiment {
  id: string;
  name: string;
  description: string | null;
  status: ExperimentStatus;
  /** `public` also from the instant at which an embargo has passed. */
  visibility: Visibility;
  /** When the experiment becomes public by itself; null unless somebody chose it. */
  embargoUntil: Date | null;
  anonymizeContributors: boolean;
  workbookId: string | null;
  workbookVersionId: string | null;
  organizationId: string;
  /** Null for a personal workspace. */
  organizationName: string | null;
  createdBy: string;
  ownerFirstName: string;
  ownerLastName: string;
  /** Rows of the collaborator list. */
  membersCount: number;
  createdAt: Date;
  updatedAt: Date;
  /** In single answers. */
  locations?: Location[];
}

export interface ExperimentMember {
  userId: Uuid;
}

export interface NewExperiment {
  /**
   * Trimmed.
   * @maxLength 255
   * @pattern \S
   */
  name: string;
  /** @maxLength 100000 */
  description?: string | null;
  status?: ExperimentStatus;
  /** Private unless stated otherwise. */
  visibility?: Visibility;
  /** An organization that you are a member of; your personal workspace when absent. */
  organizationId?: Uuid;
  /** Tomorrow to 365 days ahead, private experiments only. */
  embargoUntil?: Date | null;
  anonymizeContributors?: boolean;
  /**
   * Active users who get a viewer grant.
   * @maxItems 100
   */
  members?: ExperimentMember[];
  /** @maxItems 1000 */
  locations?: NewLocation[];
  workbookId?: Uuid;
}

export interface ExperimentPatch {
  /**
   * Trimmed.
   * @maxLength 255
   * @pattern \S
   */
  name?: string;
  /** @maxLength 100000 */
  description?: string | null;
  status?: ExperimentStatus;
  /** Null takes the embargo back. */
  embargoUntil?: Date | null;
  anonymizeContributors?: boolean;
  /**
   * Replaces all locations.
   * @maxItems 1000
   */
  locations?: NewLocation[];
}

export interface ExperimentAccess {
  experiment: Experiment;
  hasAccess: boolean;
  /** Whether the caller may manage the experiment. */
  isAdmin: boolean;
  capabilities: ResourceCapabilities;
}

export type ErasureStatus = 'queued' | 'running' | 'completed';

/** The removal of everything that belonged to a deleted experiment. */
export interface Erasure {
  id: string;
  experimentId: string;
  status: ErasureStatus;
  /** Rows and bytes removed, per store. */
  report: Record<string, { rows: number; bytes: number }>;
  createdAt: Date;
  completedAt: Date | null;
}
