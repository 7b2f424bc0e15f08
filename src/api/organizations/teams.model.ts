import type { Name, Uuid } from '../sharing/sharing.model.ts';

/** A team of an organization. */
export interface ManagedTeam {
  /** Team, by its UUID. */
  id: string;
  /** What people call the team. */
  name: string;
  /** Organization that the team belongs to. */
  organizationId: string;
  createdAt: Date;
  updatedAt: Date;
}

/** Somebody's place in a team. */
export interface ManagedTeamMember {
  /** Place in the team, by its UUID. */
  id: string;
  /** Team, by its UUID. */
  teamId: string;
  userId: string;
  createdAt: Date;
}

/** The organization that something is done in. */
export interface InOrganization {
  /** Organization, by its UUID. It must be named: none is ever active on a session. */
  organizationId?: Uuid;
}

/** What a team is made with. */
export interface NewTeam extends InOrganization {
  /** What people are to call the team, 1 to 255 characters. */
  name: Name;
}

/** What changes of a team. */
export interface TeamChanges extends InOrganization {
  /** New name of the team, 1 to 255 characters; the old one stays when absent. */
  name?: Name;
}

/** Which team changes, and how. */
export interface TeamUpdate {
  /** Team, by its UUID. */
  teamId: Uuid;
  /** What is to change. */
  data: TeamChanges;
}

/** Which team is meant. */
export interface TeamNamed extends InOrganization {
  /** Team, by its UUID. */
  teamId: Uuid;
}

/** Which person and team are meant. */
export interface TeamMemberNamed extends TeamNamed {
  userId: Uuid;
}

/** What was done. */
export interface Said {
  /** What was done, as a sentence. */
  message: string;
}
