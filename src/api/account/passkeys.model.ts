import type { SpacedName } from '../sharing/sharing.model.ts';

/** A passkey of yours. */
export interface PasskeyInfo {
  /** Passkey, by its UUID. */
  id: string;
  /** What you call the passkey; null without a name. */
  name: string | null;
  /** Its public key, as base64. */
  publicKey: string;
  /** Person whose passkey it is, by their UUID. */
  userId: string;
  /** What the authenticator calls it. */
  credentialID: string;
  /** How often the authenticator says that it was used; 0 where it does not count. */
  counter: number;
  /** `singleDevice`: stays in one authenticator. `multiDevice`: is shared between devices. */
  deviceType: string;
  /** Whether it is kept elsewhere too. */
  backedUp: boolean;
  /** How the authenticator can be reached, such as `internal` or `usb`; comma-separated. */
  transports: string;
  /** Model of the authenticator; null when it does not say. */
  aaguid: string | null;
  createdAt: Date;
  /** When it last signed in, in UTC; null when it never did. */
  lastUsedAt: Date | null;
}

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
