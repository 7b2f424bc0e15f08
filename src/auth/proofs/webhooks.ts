import { createHmac, randomBytes } from 'node:crypto';
import { isSameSignature } from '../seal.ts';

/** Seconds that a delivery may be old, or ahead of our clock. */
const WEBHOOK_TOLERANCE = 300;

export interface SignedCall {
  id: string | undefined;
  /** Seconds since 1970, as text. */
  timestamp: string | undefined;
  /** One or more of `v1,<base64>`, separated by spaces. */
  signature: string | undefined;
  body: Buffer;
}

const hmac = (secret: string, id: string, timestamp: string, body: Buffer | string): Buffer =>
  createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest();

/** A new signing secret: `whsec_` and the base64 of 32 random bytes. */
export const makeWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Headers of a call that we make, signed by each of the secrets. */
export function signWebhook(id: string, body: string, secrets: readonly string[], now = Date.now()): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const signatures = secrets.map((secret) => `v1,${hmac(secret, id, timestamp, body).toString('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/**
 * Whether one of these secrets (`whsec_` and base64) signed a call under the Standard Webhooks scheme: HMAC-SHA256 over `id.timestamp.body`. A call whose time
 * is further from our clock than the tolerance does not count. Whether its id was used before is left to the caller.
 */
export function isSigned({ id, timestamp, signature, body }: SignedCall, secrets: readonly string[]): boolean {
  if (id === undefined || !/^[\x21-\x7e]{1,255}$/.test(id) || timestamp === undefined || signature === undefined) return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) > WEBHOOK_TOLERANCE) return false;
  const given = signature
    .split(' ')
    .slice(0, 20)
    .flatMap((one) => (one.startsWith('v1,') ? [Buffer.from(one.slice(3), 'base64')] : []));
  return secrets.some((secret) => {
    const wanted = hmac(secret, id, timestamp, body);
    return given.some((one) => isSameSignature(one, wanted));
  });
}
