/** A person, as a search finds them. */
export interface FoundUser {
  /** Person, by their UUID. */
  userId: string;
  /** First name, as in the person's profile; `Unknown` where it is not active, `Deleted` where the account is closed. */
  firstName: string;
  /** Last name, as in the person's profile; `User` where it is not active, or the account is closed. */
  lastName: string;
  /** What the person says of themselves; null when nothing. */
  bio: string | null;
  /** Whether the profile is active. */
  activated: boolean;
  /** Only of people you share an organization or a resource with, or whose whole address you searched for; null otherwise. */
  email: string | null;
  /** Web address of the person's picture; null without one. */
  avatarUrl: string | null;
}
