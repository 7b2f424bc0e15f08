/** A personal API key, without the key. */
export interface ApiKeyInfo {
  /** API key, by its UUID. */
  id: string;
  /** Kind of key, for the common client; always the same. */
  configId: string;
  /** What you call the key. */
  name: string;
  /** What the key begins with; no part of the secret. */
  start: string;
  /** What every key of this service begins with. */
  prefix: string;
  /** The last four characters of the checksum part, to tell keys apart. */
  lastFour: string;
  /** Its owner, by their UUID. */
  referenceId: string;
  /** Whether it is accepted; false when it was turned off or revoked. */
  enabled: boolean;
  /** Always true: its requests are counted against `rateLimitMax`. */
  rateLimitEnabled: boolean;
  /** Milliseconds of the window that requests are counted in; always 60,000. */
  rateLimitTimeWindow: number;
  /** Requests accepted in any such window. */
  rateLimitMax: number;
  /** Requests accepted in the last minute. */
  requestCount: number;
  /** For the common client; always null. */
  remaining: number | null;
  /** For the common client; always null. */
  refillInterval: number | null;
  /** For the common client; always null. */
  refillAmount: number | null;
  /** For the common client; always null. */
  lastRefillAt: Date | null;
  /** When it was last used, in UTC, written at most once a minute; null when it never was. */
  lastRequest: Date | null;
  /** When it ends by itself, in UTC; null: never. */
  expiresAt: Date | null;
  /** When it was revoked, in UTC; a revoked key stays in the list. Null otherwise. */
  revokedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** For the common client; always null: a key may what its owner may. */
  permissions: string | null;
  /** For the common client; always null. */
  metadata: string | null;
}

/** An API key, shown once. */
export interface CreatedApiKey extends ApiKeyInfo {
  /** The key itself: shown here and never again. */
  key: string;
}

/** What an API key is made with. */
export interface NewApiKeyRequest {
  /** What you call the key, 1 to 32 characters. It is needed. */
  name?: string;
  /** Seconds until it expires, 86,400 (1 day) to 31,536,000 (365 days); null or absent: never. */
  expiresIn?: number | null;
}

/** Which API key changes, and how. */
export interface ApiKeyChange {
  /**
   * API key, by its UUID.
   * @maxLength 100
   */
  keyId: string;
  /** What you call the key, 1 to 32 characters. */
  name?: string;
  /** Turns it off or on again. */
  enabled?: boolean;
  /**
   * Seconds from now until it expires, at least 86,400 (1 day); null: never. No key lives longer than 365 days from its creation, unless it never
   * expires.
   */
  expiresIn?: number | null;
}

/** Which API key is meant. */
export interface ApiKeyNamed {
  /**
   * API key, by its UUID.
   * @maxLength 100
   */
  keyId: string;
}

/** A page of your API keys. */
export interface ApiKeyList {
  /** The asked ones. */
  apiKeys: ApiKeyInfo[];
  /** How many keys you have, revoked ones included. */
  total: number;
  /** `limit` as it was asked; null when it was not. */
  limit: number | null;
  /** `offset` as it was asked; null when it was not. */
  offset: number | null;
}

/** That an API key was revoked. */
export interface KeyRevoked {
  success: boolean;
}
