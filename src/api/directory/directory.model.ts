/** What a profile shows of a person. */
export interface ProfileShown {
  /** First name, as in the person's profile; `Unknown` where it is not active, `Deleted` where the account is closed. */
  firstName: string;
  /** Last name, as in the person's profile; `User` where it is not active, or the account is closed. */
  lastName: string;
  /** Web address of the person's picture; null without one. */
  avatarUrl: string | null;
}

/** How a person is shown to others. */
export interface PersonShown extends ProfileShown {
  userId: string;
}

/** A person, as a search finds them. */
export interface FoundUser extends PersonShown {
  /** What the person says of themselves; null when nothing. */
  bio: string | null;
  /** Whether the profile is active. */
  activated: boolean;
  /** Only of people you share an organization or a resource with, or whose whole address you searched for; null otherwise. */
  email: string | null;
}
