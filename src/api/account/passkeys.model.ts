import type { PasskeyInfo } from '../../auth/proofs/passkeys.model.ts';
import type { SpacedName } from '../sharing/sharing.model.ts';

/** A passkey that was made. */
export interface PasskeyRegistration {
  /** What `navigator.credentials.create` answered, as JSON. */
  response: Record<string, unknown>;
  /**
   * What you call the passkey, at most 255 characters. Blanks take the place of control characters and invisible direction marks.
   * @maxLength 255
   */
  name?: string;
}

/** What a passkey answered. */
export interface PasskeyAnswer {
  /** What `navigator.credentials.get` answered, as JSON. */
  response: Record<string, unknown>;
}

/** Which passkey gets which name. */
export interface PasskeyRename {
  /**
   * Passkey, by its UUID.
   * @maxLength 100
   */
  id: string;
  /** What you call the passkey, at most 255 characters. */
  name: SpacedName;
}

/** Which passkey is meant. */
export interface PasskeyNamed {
  /**
   * Passkey, by its UUID.
   * @maxLength 100
   */
  id: string;
}

/** A passkey that was renamed. */
export interface PasskeyRenamed {
  /** The passkey with its new name. */
  passkey: PasskeyInfo;
}
