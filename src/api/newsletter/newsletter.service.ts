import { cutAddress, spend } from '../../auth/budgets.ts';
import type { Caller } from '../../auth/caller.ts';
import { open, seal } from '../../auth/seal.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { canonicaliseAddress } from '../input/input.service.ts';
import { enqueueLetter } from '../mail/mail.service.ts';
import type { NewsletterState } from './newsletter.model.ts';
import { confirmPending, findAddress, findStatus, leaveAddress, upsertPending, upsertStatus } from './newsletter.queries.ts';

/** Days in which a letter's link works; an address that did not confirm by then is forgotten. */
export const CONFIRM_DAYS = 7;
const DAY = 86_400;
const PLACE = { kind: 'newsletter-place', most: 5, seconds: 60 };
const ADDRESS = { kind: 'newsletter-address', most: 3, seconds: DAY };

interface Link {
  email: string;
  /** Milliseconds since 1970. */
  until: number;
  /** Whether the link ends a subscription. */
  leaves?: true;
}

/** Days in which a link to unsubscribe works: a letter may be found again long after it came. */
const LEAVE_DAYS = 2 * 365;

const tokenOf = (ctx: Context, link: Omit<Link, 'until'>, days: number): string =>
  seal(ctx.config.secret, 'newsletter', { ...link, until: Date.now() + days * DAY * 1_000 });

function linkOf(ctx: Context, token: string): Link {
  const link = open(ctx.config.secret, 'newsletter', token) as Link | undefined;
  if (!link || link.until < Date.now()) throw errors.newsletterLinkInvalid();
  return link;
}

/**
 * Asks an address by letter. An address gets three letters a day at most. Further letters are left out silently, because a refusal would tell about the
 * address.
 */
async function askByLetter(ctx: Context, tx: Transaction, email: string): Promise<void> {
  if ((await spend(tx, ctx.config.secret, ADDRESS, email)) !== null) return;
  const leaving = tokenOf(ctx, { email, leaves: true }, LEAVE_DAYS);
  const data = {
    url: `${ctx.baseUrl}/newsletter/confirm?token=${tokenOf(ctx, { email }, CONFIRM_DAYS)}`,
    days: CONFIRM_DAYS,
    leaveUrl: `${ctx.baseUrl}/newsletter/unsubscribe?token=${leaving}`,
    oneClickUrl: `${ctx.baseUrl}/api/v1/newsletter/unsubscribe?token=${leaving}`,
  };
  await enqueueLetter(ctx, tx, { to: email, letter: 'newsletter-confirmation', data, worthSeconds: DAY });
}

/** Asks an address whether it wants the newsletter. A subscribed address gets no letter. Errors: invalid email, rate limited. */
export async function subscribeAddress(ctx: Context, ip: string, given: string): Promise<void> {
  const email = canonicaliseAddress(given);
  const wait = await spend(ctx.db, ctx.config.secret, PLACE, cutAddress(ip));
  if (wait !== null) throw errors.rateLimited(wait).with({ retryAfter: wait });
  await ctx.db.transaction(async (tx) => {
    const { status } = (await upsertPending(tx, email)) ?? {};
    if (status === 'pending') await askByLetter(ctx, tx, email);
  });
}

/** Confirms the address of a letter's link. Errors: newsletter link invalid. */
export async function confirmAddress(ctx: Context, token: string): Promise<NewsletterState> {
  const link = linkOf(ctx, token);
  if (link.leaves) throw errors.newsletterLinkInvalid();
  return (await confirmPending(ctx.db, link.email)) ?? refuse(errors.newsletterLinkInvalid());
}

/** Ends the subscription that a letter's link is about, whatever its state. Errors: newsletter link invalid. */
export async function unsubscribeAddress(ctx: Context, token: string): Promise<NewsletterState> {
  const link = linkOf(ctx, token);
  if (!link.leaves) throw errors.newsletterLinkInvalid();
  await leaveAddress(ctx.db, link.email);
  return { status: 'unsubscribed' };
}

async function addressOf(ctx: Context, caller: Caller): Promise<{ email: string; isVerified: boolean }> {
  const found = await findAddress(ctx.db, caller.userId);
  if (!found?.email) throw errors.noAddress();
  return { email: found.email, isVerified: found.isVerified };
}

export async function loadSubscription(ctx: Context, caller: Caller): Promise<NewsletterState> {
  const { email } = await addressOf(ctx, caller);
  return (await findStatus(ctx.db, email)) ?? { status: 'none' };
}

/** Subscribes the caller: at once when the address is proven, else by a letter. */
export async function subscribeCaller(ctx: Context, caller: Caller): Promise<NewsletterState> {
  const { email, isVerified } = await addressOf(ctx, caller);
  return ctx.db.transaction(async (tx) => {
    if (isVerified) {
      await upsertStatus(tx, email, 'subscribed');
      return { status: 'subscribed' };
    }
    const { status = 'pending' } = (await upsertPending(tx, email)) ?? {};
    if (status === 'pending') await askByLetter(ctx, tx, email);
    return { status };
  });
}

/** Ends the caller's subscription; never having had one is no error. */
export async function unsubscribeCaller(ctx: Context, caller: Caller): Promise<NewsletterState> {
  const { email } = await addressOf(ctx, caller);
  await upsertStatus(ctx.db, email, 'unsubscribed');
  return { status: 'unsubscribed' };
}
