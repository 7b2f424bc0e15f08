import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { hashToken } from '../seal.ts';

/**
 * A personal API key: `flk_`, 256 random bits in 43 letters and digits, and a checksum of 6. The checksum shows a malformed key without asking the database.
 * Only the SHA-256 of a key is ever stored.
 */
export const KEY_PREFIX = 'flk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const PATTERN = /^flk_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = (ALPHABET[Number(rest % 62n)] ?? '') + text;
  return text;
}

const checksum = (secret: string) => base62(BigInt(crc32(secret)), CHECKSUM_LENGTH);

/** Makes a key, which is shown once, with what is kept of it. */
export function makeApiKey() {
  const secret = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH);
  const key = `${KEY_PREFIX}${secret}${checksum(secret)}`;
  return { key, hash: hashToken(key), lastFour: key.slice(-4) };
}

/** Whether a string has the form of a key, checksum included. */
export function isWellFormedApiKey(key: string): boolean {
  const [, secret, sum] = PATTERN.exec(key) ?? [];
  return secret !== undefined && checksum(secret) === sum;
}
