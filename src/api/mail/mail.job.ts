import { createHash } from 'node:crypto';
import { open } from '../../auth/seal.ts';
import type { Context } from '../../context.ts';
import { findNow } from '../../database/clock.ts';
import type { JobHandler } from '../../jobs/queue.ts';
import { isLetterName, writeLetter } from '../../mail/letters/catalogue.ts';
import {
  FORGET_LETTERS,
  hashRecipient,
  A_DAY_OF_TRIES,
  noteUnsent,
  SEND_LETTER,
  type ForgetLetters,
  type SealedLetter,
  type SendLetter,
} from './mail.service.ts';

/** Prints the message id of a letter, which is the same at every try. No two letters have the same sealed text. */
const messageIdOf = (sealed: string) => `<${createHash('sha256').update(sealed).digest('hex').slice(0, 32)}@fieldlake>`;

async function send(ctx: Context, { sealed }: SendLetter): Promise<void> {
  const content = open(ctx.config.secret, 'letter', sealed) as SealedLetter | undefined;
  if (content === undefined || !isLetterName(content.letter)) {
    ctx.log.error({ job: SEND_LETTER }, 'a queued letter cannot be opened: the secret has changed, or its kind is unknown');
    return;
  }
  if (content.until < (await findNow(ctx.db))) {
    ctx.log.warn({ job: SEND_LETTER, letter: content.letter }, 'a letter was dropped: it waited too long to be of use');
    return;
  }
  try {
    await ctx.mailer.send({ to: content.to, messageId: messageIdOf(sealed), ...writeLetter(content.letter, locate(ctx, content.data)) });
  } catch (error) {
    noteUnsent(ctx, error, { job: SEND_LETTER, letter: content.letter });
  }
}

/** The data of a letter whose link may be a path: a command that wrote it does not know where the service is reached. */
function locate({ baseUrl }: Context, data: object): object {
  const { url } = data as { url?: string };
  return url?.startsWith('/') === true ? { ...data, url: baseUrl + url } : data;
}

/** Sends one letter; a mail server that cannot be reached is tried again for as long as the letter is worth something. */
export const sendLetterJob = (ctx: Context): JobHandler => ({
  name: SEND_LETTER,
  concurrency: 2,
  retries: A_DAY_OF_TRIES,
  run: (payload) => send(ctx, payload as SendLetter),
});

/** Removes the letters to a closed account that lie in a folder of the service. */
export const forgetLettersJob = (ctx: Context): JobHandler => ({
  name: FORGET_LETTERS,
  run: (payload) => ctx.mailer.forget((address) => hashRecipient(ctx, address) === (payload as ForgetLetters).recipient),
});
