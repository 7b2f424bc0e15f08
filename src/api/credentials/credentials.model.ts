/** A personal API key, without the key. */
export interface ApiKeyInfo {
  id: string;
  configId: string;
  name: string;
  /** What the key begins with; no part of the secret. */
  start: string;
  prefix: string;
  /** The last four characters of the checksum part, to tell keys apart. */
  lastFour: string;
  /** The owner. */
  referenceId: string;
  enabled: boolean;
  rateLimitEnabled: boolean;
  /** Milliseconds. */
  rateLimitTimeWindow: number;
  /** Requests accepted in any such window. */
  rateLimitMax: number;
  /** Requests accepted in the last minute. */
  requestCount: number;
  remaining: number | null;
  refillInterval: number | null;
  refillAmount: number | null;
  lastRefillAt: Date | null;
  /** Written at most once a minute. */
  lastRequest: Date | null;
  /** Null: never. */
  expiresAt: Date | null;
  /** When it was revoked; a revoked key stays in the list. */
  revokedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  permissions: string | null;
  metadata: string | null;
}

export interface CreatedApiKey extends ApiKeyInfo {
  /** The key itself: shown here and never again. */
  key: string;
}

export interface NewApiKeyRequest {
  /** 1 to 32 characters. */
  name?: string;
  /** Seconds until it expires, 1 to 365 days; null or absent: never. */
  expiresIn?: number | null;
}

export interface ApiKeyChange {
  /** @maxLength 100 */
  keyId: string;
  /** 1 to 32 characters. */
  name?: string;
  enabled?: boolean;
  /** Seconds from now; null: never. No key lives longer than 365 days from its creation, unless it never expires. */
  expiresIn?: number | null;
}

export interface ApiKeyNamed {
  /** @maxLength 100 */
  keyId: string;
}

export interface ApiKeyList {
  apiKeys: ApiKeyInfo[];
  total: number;
  limit: number | null;
  offset: number | null;
}

export interface KeyRevoked {
  success: boolean;
}
