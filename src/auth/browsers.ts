import { randomBytes } from 'node:crypto';
import { hashToken, isSameSignature, signText } from './seal.ts';

export const BROWSER_SECONDS = 400 * 86_400;

/** Makes a new browser id, as a signed cookie value. The id gives no access. It only keeps the budgets of its owner apart from those of others. */
export function makeBrowserCookie(secret: Buffer): string {
  const id = randomBytes(24).toString('base64url');
  return `${id}.${signText(secret, 'browser', id).toString('base64url')}`;
}

/** Digest of the browser id in a cookie that we signed, as it is stored; null for any other cookie. */
export function hashBrowserCookie(secret: Buffer, cookie: string | undefined): Buffer | null {
  const [id = '', signature = ''] = (cookie ?? '').split('.');
  return isSameSignature(Buffer.from(signature, 'base64url'), signText(secret, 'browser', id)) ? hashToken(id) : null;
}
