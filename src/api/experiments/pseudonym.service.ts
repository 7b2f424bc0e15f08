import { createHmac } from 'node:crypto';

/**
 * The name of a person in an anonymised experiment: `Contributor-` and 16 hex digits of an HMAC-SHA256 over the user id, under the experiment's own
 * secret. Two experiments name the same person differently, and without the secret nobody can tell who it is.
 */
export const pseudonymOf = (secret: Buffer, userId: string): string =>
  `Contributor-${createHmac('sha256', secret).update(userId.toLowerCase()).digest('hex').slice(0, 16).toUpperCase()}`;
