import type { EventKind, SentKind } from '../events/events.model.ts';

export interface Webhook {
  id: string;
  organizationId: string;
  url: string;
  description: string | null;
  /** What it is told of. */
  kinds: EventKind[];
  enabled: boolean;
  /** Why it was disabled by itself; null while enabled, and when somebody disabled it. */
  disabledReason: string | null;
  /** Attempts that failed since the last one that did not. */
  failures: number;
  failingSince: Date | null;
  lastSuccessAt: Date | null;
  createdBy: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface CreatedWebhook extends Webhook {
  /** `whsec_` and base64. Shown now and never again. */
  secret: string;
}

export interface NewWebhook {
  /**
   * An https URL of a public host.
   * @maxLength 2000
   * @pattern ^https?://[^\x00-\x20\x7f/?#@]+([/?][^\x00-\x20\x7f#]*)?$
   */
  url: string;
  /** @maxLength 1000 */
  description?: string | null;
  /**
   * @minItems 1
   * @maxItems 20
   */
  kinds: EventKind[];
}

/** Absent fields keep their value. */
export interface WebhookChanges {
  /**
   * @maxLength 2000
   * @pattern ^https?://[^\x00-\x20\x7f/?#@]+([/?][^\x00-\x20\x7f#]*)?$
   */
  url?: string;
  /** @maxLength 1000 */
  description?: string | null;
  /**
   * @minItems 1
   * @maxItems 20
   */
  kinds?: EventKind[];
  /** Enabling begins anew, with no failures; what waited when it was disabled is not sent by itself. */
  enabled?: boolean;
}

export interface RotatedSecret {
  /** Shown now and never again. */
  secret: string;
  /** Until then calls carry a signature by the secret before, too. */
  oldSecretUntil: Date;
}

export type WebhookDeliveryStatus = 'pending' | 'delivered' | 'failed';

/** Why an attempt failed; null when it was accepted. */
export type WebhookFailure =
  'address-refused' | 'not-resolved' | 'timeout' | 'connection-failed' | 'tls-failed' | 'redirect-refused' | 'refused-by-endpoint' | null;

export interface WebhookDelivery {
  /** Sent as `webhook-id`, the same on every attempt. */
  id: string;
  kind: SentKind;
  status: WebhookDeliveryStatus;
  attempts: number;
  /** Null once it has ended. */
  nextAttemptAt: Date | null;
  lastAttemptAt: Date | null;
  lastStatusCode: number | null;
  lastFailure: WebhookFailure;
  createdAt: Date;
  completedAt: Date | null;
}

export interface WebhookAttempt {
  at: string;
  /** Null when there was no answer. */
  statusCode: number | null;
  failure: WebhookFailure;
  milliseconds: number;
}

export interface WebhookDeliveryReport extends WebhookDelivery {
  /** The body, byte for byte as it is signed and sent. */
  payload: string;
  /** Oldest first; the last 50. */
  log: WebhookAttempt[];
}
