import type { ResourceCapabilities, Visibility } from '../resources/resources.model.ts';
import type { LongText, Name, SpacedName, Uuid } from '../sharing/sharing.model.ts';

export type { ListScope, ResourceCapabilities, Visibility, VisibilityPatch, VisibilityState } from '../resources/resources.model.ts';

/**
 * `active`, `stale` and `published` are labels for people. An `archived` experiment can be read but not changed; measurements that arrive wait until
 * it is opened again.
 */
export type ExperimentStatus = 'active' | 'stale' | 'archived' | 'published';

/** A place of an experiment. */
export interface Location {
  /** Names the place. */
  id: string;
  /** What people call the place, such as a plot or greenhouse. */
  name: string;
  /** Degrees north, -90 to 90. */
  latitude: number;
  /** Degrees east, -180 to 180. */
  longitude: number;
  /** Absent when nobody gave it. */
  country?: string;
  /** State, province or the like; absent when nobody gave it. */
  region?: string;
  /** Town or village; absent when nobody gave it. */
  municipality?: string;
  /** Absent when nobody gave it. */
  postalCode?: string;
  /** The whole address in one line; absent when nobody gave it. */
  addressLabel?: string;
  createdAt: Date;
  updatedAt: Date;
}

/** A place to add. */
export interface NewLocation {
  /** What people call the place, such as a plot or greenhouse; 1 to 255 characters. */
  name: Name;
  /**
   * Degrees north, -90 to 90.
   * @minimum -90
   * @maximum 90
   */
  latitude: number;
  /**
   * Degrees east, -180 to 180.
   * @minimum -180
   * @maximum 180
   */
  longitude: number;
  /**
   * At most 100 characters.
   * @maxLength 100
   */
  country?: string;
  /**
   * State, province or the like; at most 100 characters.
   * @maxLength 100
   */
  region?: string;
  /**
   * Town or village; at most 100 characters.
   * @maxLength 100
   */
  municipality?: string;
  /**
   * At most 20 characters.
   * @maxLength 20
   */
  postalCode?: string;
  /**
   * The whole address in one line; at most 1,000 characters.
   * @maxLength 1000
   */
  addressLabel?: string;
}

/** A field experiment: its measurements, places and people. */
export interface Experiment {
  /** Names the experiment in every address of its data. */
  id: string;
  /** What people call the experiment. */
  name: string;
  /** What the experiment is about; null without one. */
  description: string | null;
  status: ExperimentStatus;
  /**
   * `private`: for its organization and those it is shared with. `public`: for everybody who is signed in to read; also from the instant at which an
   * embargo has passed.
   */
  visibility: Visibility;
  /** When the experiment becomes public by itself, in UTC; null unless somebody chose it. */
  embargoUntil: Date | null;
  /** Whether people are shown by pseudonyms (`Contributor-` and 16 hex digits) instead of names. */
  anonymizeContributors: boolean;
  /** Workbook that the experiment follows; null without one. */
  workbookId: string | null;
  /** Version of a workbook that the experiment follows, or last followed; null when it never followed one. */
  workbookVersionId: string | null;
  organizationId: string;
  organizationName: string | null;
  createdBy: string;
  /** First name of who made the experiment. */
  ownerFirstName: string;
  /** Last name of who made the experiment. */
  ownerLastName: string;
  /** Rows of the collaborator list. */
  membersCount: number;
  createdAt: Date;
  updatedAt: Date;
  /** Places of the experiment, in the order in which they were added. In answers about one experiment; absent in lists. */
  locations?: Location[];
}

/** A person to take along. */
export interface ExperimentMember {
  userId: Uuid;
}

/** What an experiment is made with. */
export interface NewExperiment {
  /** What people call the experiment: 1 to 255 characters; spaces around it are cut off. */
  name: SpacedName;
  /** What the experiment is about, at most 100,000 characters. */
  description?: LongText;
  /** `active` unless stated otherwise. */
  status?: ExperimentStatus;
  /** `private` unless stated otherwise; `public` cannot be taken back. */
  visibility?: Visibility;
  /** An organization that you are a member of; your personal workspace when absent. */
  organizationId?: Uuid;
  /** When the experiment becomes public by itself: tomorrow to 365 days ahead, private experiments only. */
  embargoUntil?: Date | null;
  /** Whether people are shown by pseudonyms instead of names; false unless stated otherwise. */
  anonymizeContributors?: boolean;
  /**
   * Active users who get a viewer grant, at most 100. They may then read and contribute.
   * @maxItems 100
   */
  members?: ExperimentMember[];
  /**
   * Places of the experiment, at most 1,000.
   * @maxItems 1000
   */
  locations?: NewLocation[];
  /** A workbook that you may read, for the experiment to follow. */
  workbookId?: Uuid;
}

/** Changes; fields that are left out keep their value. */
export interface ExperimentPatch {
  /** What people call the experiment: 1 to 255 characters; spaces around it are cut off. */
  name?: SpacedName;
  /** What the experiment is about, at most 100,000 characters; null takes it away. */
  description?: LongText;
  /** `archived` closes the experiment to changes, and measurements wait; any other value opens it again. */
  status?: ExperimentStatus;
  /** When the experiment becomes public by itself: tomorrow to 365 days ahead. Null takes the embargo back. */
  embargoUntil?: Date | null;
  /** Whether people are shown by pseudonyms instead of names. */
  anonymizeContributors?: boolean;
  /**
   * Replaces all places; at most 1,000.
   * @maxItems 1000
   */
  locations?: NewLocation[];
}

/** An experiment, and what you may do with it. */
export interface ExperimentAccess {
  /** The experiment with its places. */
  experiment: Experiment;
  /** Always true: who may not read the experiment gets 403 instead. */
  hasAccess: boolean;
  /** Whether it has a flow; without one, its flow is FLOW_NOT_FOUND (404). */
  hasFlow: boolean;
  /** Whether you may manage the experiment. */
  isAdmin: boolean;
  /** What you may do with the experiment. */
  capabilities: ResourceCapabilities;
}

/** How far a removal is. */
export type ErasureStatus = 'queued' | 'running' | 'completed';

/** What an erasure removed from one store. */
export interface Removed {
  /** Rows, or files where it keeps files. */
  rows: number;
  /** How large they were, where that is known; 0 otherwise. */
  bytes: number;
}

/** The removal of everything that belonged to a deleted experiment. */
export interface Erasure {
  /** Names the removal; the deletion answered it in `X-Erasure-Id`. */
  id: string;
  /** Experiment that was deleted. */
  experimentId: string;
  /** `queued` and `running` until every store is empty, then `completed`. */
  status: ErasureStatus;
  /** Rows and bytes removed, by store: messages, uploads, exports, annotations, lake and answers. */
  report: Record<string, Removed>;
  createdAt: Date;
  /** When the last store was empty, in UTC; null until then. */
  completedAt: Date | null;
}
