/** Temporary credentials of people: one topic tree, for one hour. The embedded kind is a signed token, which the broker verifies. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { errors } from '../errors.ts';
import type { PolicyDocument } from './evaluator.ts';
import { printClientPrefix, makeSessionPolicy, type ArnPrefix } from './policy.ts';
import { PERSONAL_ROOT, UUID } from './topics.ts';

/** Seconds. */
export const CREDENTIAL_LIFETIME = 3_600;

/** Credentials of yours for one hour. */
export interface CloudCredentials {
  /** With the embedded broker: the MQTT user name. */
  accessKeyId: string;
  /** Secret that belongs to `accessKeyId`. */
  secretAccessKey: string;
  /** With the embedded broker: the MQTT password. */
  sessionToken: string;
  /** When they end, in UTC: an hour after they were issued. */
  expiration: Date;
  /** MQTT client ids must begin with this. */
  clientIdPrefix: string;
  /** Topics must begin with this. */
  topicPrefix: string;
  /** Object keys must begin with this; null where no objects may be written. */
  keyPrefix: string | null;
}

export interface CredentialIssuer {
  /** For one person (a UUID, else `invalidId`). */
  issue(userId: string): Promise<CloudCredentials>;
}

/** Answers what credentials of a person allow, as a client needs it. Refuses an id that is not a UUID, since it becomes part of patterns. */
export function reachOf(userId: string) {
  if (!UUID.test(userId)) throw errors.invalidId('userId');
  return {
    clientIdPrefix: printClientPrefix(userId),
    topicPrefix: `${PERSONAL_ROOT}/${userId}/`,
    keyPrefix: null,
  };
}

/** Who holds a token that verified. */
export interface PersonalSession {
  userId: string;
  expires: Date;
  policy: PolicyDocument;
}

export interface TokenOptions {
  /** At least 32 bytes. */
  key: Uint8Array;
  arnPrefix: ArnPrefix;
  /** Milliseconds; the clock. */
  now?: () => number;
}

export interface TokenIssuer extends CredentialIssuer {
  /** The session of an access key id and token, or null when either is wrong, or the hour is over. The signature is compared in constant time. */
  verify(accessKeyId: string, sessionToken: string): PersonalSession | null;
}

const FORM = /^flt1\.([0-9a-f-]{36})\.(\d{1,12})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** Tokens are `flt1.{userId}.{expiry, epoch seconds}.{128 random bits}.{HMAC-SHA-256}`; nothing is stored. */
export function openTokenIssuer({ key, arnPrefix, now = Date.now }: TokenOptions): TokenIssuer {
  if (key.length < 32) throw new Error('a token key must have at least 32 bytes');
  const mac = (purpose: string, text: string) => createHmac('sha256', key).update(`${purpose}\n${text}`).digest();
  const accessKeyOf = (nonce: string) => `FLK${nonce}`;
  return {
    async issue(userId) {
      const reach = reachOf(userId);
      const expires = Math.floor(now() / 1000) + CREDENTIAL_LIFETIME;
      const nonce = randomBytes(16).toString('base64url');
      const text = `flt1.${userId}.${expires}.${nonce}`;
      return {
        ...reach,
        accessKeyId: accessKeyOf(nonce),
        secretAccessKey: mac('secret', text).toString('base64url'),
        sessionToken: `${text}.${mac('token', text).toString('base64url')}`,
        expiration: new Date(expires * 1000),
      };
    },
    verify(accessKeyId, sessionToken) {
      const [, userId, expiry, nonce, signature] = FORM.exec(sessionToken) ?? [];
      if (!userId || !expiry || !nonce || !signature) return null;
      const text = `flt1.${userId}.${expiry}.${nonce}`;
      const signed = timingSafeEqual(mac('token', text), Buffer.from(signature, 'base64url'));
      const expires = new Date(Number(expiry) * 1000);
      if (!signed || accessKeyId !== accessKeyOf(nonce) || expires.getTime() <= now() || !UUID.test(userId)) return null;
      return { userId, expires, policy: makeSessionPolicy(arnPrefix, userId) };
    },
  };
}
