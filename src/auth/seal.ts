import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { readJson } from '../json.ts';

/** What a key is for. Every purpose has a key of its own, so that nothing made for one is accepted for another. */
type Purpose = 'sign-in-code' | 'budget' | 'letter' | 'recipient' | 'browser' | 'ceremony' | 'newsletter' | 'webhook' | 'authority';

const derived = (secret: Buffer, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `fieldlake/${purpose}`, 32));

/** HMAC-SHA256 of text under the purpose's key. 32 bytes. */
export const signText = (secret: Buffer, purpose: Purpose, text: string): Buffer =>
  createHmac('sha256', derived(secret, purpose)).update(text).digest();

/** SHA-256 of what is given to a caller once: all that is ever stored of it. */
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');

/** Compares two signatures in a time that does not tell where they differ. */
export const isSameSignature = (given: Buffer, wanted: Buffer): boolean => given.length === wanted.length && timingSafeEqual(given, wanted);

const NONCE = 12;
const TAG = 16;

/** Encrypts and authenticates a JSON value (AES-256-GCM). Returns base64url. */
export function seal(secret: Buffer, purpose: Purpose, value: object): string {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', derived(secret, purpose), nonce);
  const body = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
}

/** Opens what was sealed for the purpose; undefined for anything else. */
export function open(secret: Buffer, purpose: Purpose, sealed: string): unknown {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < NONCE + TAG) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', derived(secret, purpose), bytes.subarray(0, NONCE));
    decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
    return readJson(Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8'));
  } catch {
    return undefined;
  }
}
