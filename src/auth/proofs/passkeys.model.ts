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
