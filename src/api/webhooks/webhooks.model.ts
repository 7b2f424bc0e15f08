import type { EventKind, SentKind } from '../events/events.model.ts';

/** An endpoint that is called when something of an organization changes. */
export interface Webhook {
  /** Webhook, by its UUID. */
  id: string;
  /** Organization whose changes it is told of. */
  organizationId: string;
  /** Address that is called. */
  url: string;
  /** What it is for; null without one. */
  description: string | null;
  /** What it is told of. */
  kinds: EventKind[];
  /** Whether it is called. */
  enabled: boolean;
  /** Why it was disabled by itself; null while enabled, and when somebody disabled it. */
  disabledReason: string | null;
  /** Attempts that failed since the last one that did not. */
  failures: number;
  /** When the first of those attempts failed, in UTC; null without any. */
  failingSince: Date | null;
  /** When it last accepted a call, in UTC; null when it never did. */
  lastSuccessAt: Date | null;
  /** Person who registered it, by their UUID; null when the account is gone. */
  createdBy: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A webhook, with its signing secret. */
export interface CreatedWebhook extends Webhook {
  /** `whsec_` and base64. Shown now and never again. */
  secret: string;
}

/** What a webhook is registered with. */
export interface NewWebhook {
  /**
   * Address to call: an https URL of a public host, at most 2,000 characters.
   * @maxLength 2000
   * @pattern ^https?://[^\x00-\x20\x7f/?#@]+([/?][^\x00-\x20\x7f#]*)?$
   */
  url: string;
  /**
   * What it is for, at most 1,000 characters.
   * @maxLength 1000
   */
  description?: string | null;
  /**
   * What it is told of; 1 to 20.
   * @minItems 1
   * @maxItems 20
   */
  kinds: EventKind[];
}

/** Absent fields keep their value. */
export interface WebhookChanges {
  /**
   * Address to call: an https URL of a public host, at most 2,000 characters.
   * @maxLength 2000
   * @pattern ^https?://[^\x00-\x20\x7f/?#@]+([/?][^\x00-\x20\x7f#]*)?$
   */
  url?: string;
  /**
   * What it is for, at most 1,000 characters; null takes it away.
   * @maxLength 1000
   */
  description?: string | null;
  /**
   * Replaces what it is told of; 1 to 20.
   * @minItems 1
   * @maxItems 20
   */
  kinds?: EventKind[];
  /** Enabling begins anew, with no failures; what waited when it was disabled is not sent by itself. */
  enabled?: boolean;
}

/** A new signing secret. */
export interface RotatedSecret {
  /** `whsec_` and base64. Shown now and never again. */
  secret: string;
  /** Until then (UTC, 24 hours) calls carry a signature by the secret before, too. */
  oldSecretUntil: Date;
}

/** `pending` while it is being tried, then `delivered` or `failed`. */
export type WebhookDeliveryStatus = 'pending' | 'delivered' | 'failed';

/**
 * Why an attempt failed; null when it was accepted. `secret-lost` ends with a new signing secret: the service's own was replaced since this one was made.
 * `queue-full` is given to what comes while 10,000 others wait: it is sent only by hand.
 */
export type WebhookFailure =
  | 'address-refused'
  | 'not-resolved'
  | 'timeout'
  | 'connection-failed'
  | 'tls-failed'
  | 'redirect-refused'
  | 'refused-by-endpoint'
  | 'secret-lost'
  | 'queue-full'
  | null;

/** One message to a webhook. */
export interface WebhookDelivery {
  /** Sent as `webhook-id`, the same on every attempt. */
  id: string;
  /** What it tells of. */
  kind: SentKind;
  status: WebhookDeliveryStatus;
  /** How often it was tried since it was made, or sent again by hand; the log has all attempts. */
  attempts: number;
  /** When it is tried next, in UTC; null once it has ended. */
  nextAttemptAt: Date | null;
  /** When it was tried last, in UTC; null until the first attempt. */
  lastAttemptAt: Date | null;
  /** HTTP status of the last answer; null when there was none. */
  lastStatusCode: number | null;
  /** Why the last attempt failed; null when it was accepted, and before the first. */
  lastFailure: WebhookFailure;
  createdAt: Date;
  /** When it was delivered or given up, in UTC; null until then. */
  completedAt: Date | null;
}

/** One attempt to deliver a message. */
export interface WebhookAttempt {
  /** When it was made, in UTC. */
  at: string;
  /** HTTP status of the answer; null when there was no answer. */
  statusCode: number | null;
  /** Why it failed; null when it was accepted. */
  failure: WebhookFailure;
  /** How long it took. */
  milliseconds: number;
}

/** A delivery, with its body and its attempts. */
export interface WebhookDeliveryReport extends WebhookDelivery {
  /** The body, byte for byte as it is signed and sent. */
  payload: string;
  /** Oldest first; the last 50. */
  log: WebhookAttempt[];
}
