/** A passkey of yours. */
export interface PasskeyInfo {
  id: string;
  name: string | null;
  /** Base64. */
  publicKey: string;
  userId: string;
  credentialID: string;
  counter: number;
  /** `singleDevice` or `multiDevice`. */
  deviceType: string;
  backedUp: boolean;
  /** Comma-separated. */
  transports: string;
  aaguid: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export interface PasskeyRegistration {
  /** What `navigator.credentials.create` answered, as JSON. */
  response: Record<string, unknown>;
  /** @maxLength 255 */
  name?: string;
}

export interface PasskeyAnswer {
  /** What `navigator.credentials.get` answered, as JSON. */
  response: Record<string, unknown>;
}

export interface PasskeyRename {
  /** @maxLength 100 */
  id: string;
  /** @maxLength 255 */
  name: string;
}

export interface PasskeyNamed {
  /** @maxLength 100 */
  id: string;
}

export interface PasskeyRenamed {
  passkey: PasskeyInfo;
}
