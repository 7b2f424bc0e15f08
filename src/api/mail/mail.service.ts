import { signText, seal } from '../../auth/seal.ts';
import type { Context } from '../../context.ts';
import { findNow } from '../../database/clock.ts';
import type { Queryable } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import type { LetterData, LetterName } from '../../mail/letters/catalogue.ts';

export const SEND_LETTER = 'mail.send';

/** A minute lies between two tries of the queue after the first few. */
export const A_DAY_OF_TRIES = 1_440;

/** A letter as it waits in the queue. It is sealed under a key that is not in the database, because letters carry codes and links. */
export interface SendLetter {
  sealed: string;
  /** The recipient, as `hashRecipient` gives it: enough to find the letters to an address again, not to learn the address. */
  recipient: string;
}

export const FORGET_LETTERS = 'mail.forget';

export type ForgetLetters = Pick<SendLetter, 'recipient'>;

/** Hashes an address for the queue: 43 characters of an HMAC under a key that is not in the database. */
export const hashRecipient = (ctx: Pick<Context, 'config'>, address: string): string =>
  signText(ctx.config.secret, 'recipient', address.trim().toLowerCase()).toString('base64url');

export interface SealedLetter {
  to: string;
  letter: string;
  data: object;
  /** Milliseconds since 1970, by the clock of Postgres; a letter that is not out by then is dropped. */
  until: number;
}

interface NewLetter<N extends LetterName> {
  to: string;
  letter: N;
  data: LetterData<N>;
  /** After how many seconds a letter that was not sent is worth nothing; a day by default. */
  worthSeconds?: number;
}

/** Queues a letter; it goes out exactly when the transaction commits, and never inside the request. */
export async function enqueueLetter<N extends LetterName>(
  ctx: Pick<Context, 'config' | 'jobs'>,
  tx: Queryable,
  { to, letter, data, worthSeconds = 86_400 }: NewLetter<N>,
): Promise<void> {
  const content: SealedLetter = { to, letter, data, until: (await findNow(tx)) + worthSeconds * 1000 };
  const payload: SendLetter = { sealed: seal(ctx.config.secret, 'letter', content), recipient: hashRecipient(ctx, to) };
  // a code is worth little after a while, and goes before whatever else waits
  await ctx.jobs.enqueue(SEND_LETTER, payload, { tx, turn: letter === 'sign-in-code' ? 0 : 1 });
}

/** Notes that a letter could not be sent, and throws for another try where the mail server has not refused it. */
export function noteUnsent(ctx: Context, error: unknown, about: { job: string } & Record<string, string>): void {
  // the mail server's words may repeat the address and the text: only the code of ours is kept
  const code = error instanceof ApiError ? error.code : 'INTERNAL';
  ctx.log.warn({ ...about, failure: code }, 'a letter could not be sent');
  if (code !== 'MAIL_REFUSED') throw new Error(`${about.job}: ${code}`, { cause: code });
}

/** Removes every letter to an address from the queue, sent ones included. A job then removes the letters that the service itself keeps. */
export async function forgetLetters(ctx: Context, tx: Queryable, address: string): Promise<void> {
  const about: ForgetLetters = { recipient: hashRecipient(ctx, address) };
  await ctx.jobs.remove(SEND_LETTER, about, tx);
  await ctx.jobs.enqueue(FORGET_LETTERS, about, { tx });
}
