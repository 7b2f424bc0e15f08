import { randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { Queryable, Transaction } from '../../database/database.ts';
import { ADDRESS_BUDGETS, refund, spend } from '../budgets.ts';
import { countWrongTry, deleteCode, isKnownBrowser, lockCode, upsertCode } from './codes.queries.ts';
import { signText } from '../seal.ts';

export { rememberBrowser } from './codes.queries.ts';

export const CODE_MINUTES = 5;
const TRIES_PER_CODE = 3;
const SHARED = Buffer.alloc(0);
// stands in the look-up for the digest that a request without a browser cookie lacks; no browser has it
const NOBODY = Buffer.alloc(32);

/**
 * One-time codes: six digits, five minutes, single use, three wrong tries each.
 *
 * The odds of guessing: everybody without a browser that has signed in at the address before shares one budget of 20 tries a day. More places or more codes
 * give no more tries. The window is fixed, so that at most two budgets, 40 tries, fall into one stretch of 24 hours. Each try meets one code of a million, so
 * the chance is at most 40 / 1,000,000 = 0.004 % a day on one account.
 */
export interface CodeRequest {
  /** Canonical address. */
  address: string;
  /** Digest of the browser's own cookie; null without one. */
  browser: Buffer | null;
}

const subjectOf = (address: string, browser: Buffer) => `${address}\n${browser.toString('hex')}`;
const digestOf = (secret: Buffer, address: string, browser: Buffer, salt: Buffer, code: string) =>
  signText(secret, 'sign-in-code', `${subjectOf(address, browser)}\n${salt.toString('hex')}\n${code}`);

/** The browser when it has signed in at the address before, else the shared place. */
const roomOf = async (db: Queryable, { address, browser }: CodeRequest): Promise<Buffer> =>
  (await isKnownBrowser(db, address, browser ?? NOBODY)) && browser ? browser : SHARED;

/** Makes a code for an address, which replaces the one before. When a budget is used up, returns the seconds to wait instead. */
export async function issueCode(tx: Transaction, secret: Buffer, request: CodeRequest): Promise<{ code: string } | { wait: number }> {
  const room = await roomOf(tx, request);
  const subject = subjectOf(request.address, room);
  for (const budget of [ADDRESS_BUDGETS.sends, ADDRESS_BUDGETS.sendsOfDay]) {
    const wait = await spend(tx, secret, budget, subject);
    if (wait !== null) return { wait };
  }
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const salt = randomBytes(16);
  const digest = digestOf(secret, request.address, room, salt, code);
  await upsertCode(tx, { address: request.address, browser: room, digest, salt, seconds: CODE_MINUTES * 60 });
  return { code };
}

export type Redeemed = 'right' | 'wrong' | 'expired' | 'spent' | { wait: number };

/** Tries a code. The transaction must commit whatever the outcome, or wrong tries would not count. */
export async function redeemCode(tx: Transaction, secret: Buffer, request: CodeRequest, code: string): Promise<Redeemed> {
  const { address } = request;
  const row = await lockCode(tx, address, await roomOf(tx, request));
  if (!row) return 'wrong';
  if (!row.live || row.wrongTries >= TRIES_PER_CODE) {
    await deleteCode(tx, address, row.browser);
    return row.live ? 'spent' : 'expired';
  }
  const subject = subjectOf(address, row.browser);
  const wait = await spend(tx, secret, ADDRESS_BUDGETS.tries, subject);
  if (wait !== null) return { wait };
  if (!timingSafeEqual(row.digest, digestOf(secret, address, row.browser, row.salt, code))) {
    await countWrongTry(tx, address, row.browser);
    return 'wrong';
  }
  await deleteCode(tx, address, row.browser);
  await refund(tx, secret, ADDRESS_BUDGETS.tries, subject);
  return 'right';
}
