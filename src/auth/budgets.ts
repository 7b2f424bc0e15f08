import type { Queryable } from '../database/database.ts';
import { findBudgetWait, giveBack, takeFromBudget } from './budgets.queries.ts';
import { signText } from './seal.ts';

/** One limit: `most` in a window of `seconds`, which begins with the first. In any stretch as long as a window, at most twice as many pass. */
export interface Budget {
  kind: string;
  most: number;
  seconds: number;
}

const MINUTE = 60;
const DAY = 86_400;

/**
 * Limits of one email address, whoever asks and however many codes are sent. `codes.ts` explains the odds of guessing that follow. A browser that has signed in
 * at the address before has budgets of its own, so that nobody else can use them up.
 */
export const ADDRESS_BUDGETS = {
  sends: { kind: 'code-sends', most: 5, seconds: 10 * MINUTE },
  sendsOfDay: { kind: 'code-sends-day', most: 20, seconds: DAY },
  tries: { kind: 'code-tries-day', most: 20, seconds: DAY },
} as const satisfies Record<string, Budget>;

/** What one place (an IPv4 address, or a /64 of IPv6) may do in a minute. */
export const makePlaceBudgets = (perMinute: number) =>
  ({
    sends: { kind: 'place-sends', most: perMinute, seconds: MINUTE },
    tries: { kind: 'place-tries', most: perMinute, seconds: MINUTE },
    ceremonies: { kind: 'place-ceremonies', most: perMinute * 3, seconds: MINUTE },
  }) as const satisfies Record<string, Budget>;

/** Takes one from a budget. Returns null when one was left, else the seconds until one is. */
export async function spend(db: Queryable, secret: Buffer, budget: Budget, subject: string): Promise<number | null> {
  const key = signText(secret, 'budget', subject);
  if (await takeFromBudget(db, { ...budget, key })) return null;
  return (await findBudgetWait(db, budget.kind, key)) ?? 1;
}

/** Gives one back: what was spent turned out to be rightful. */
export const refund = async (db: Queryable, secret: Buffer, budget: Budget, subject: string): Promise<void> => {
  await giveBack(db, budget.kind, signText(secret, 'budget', subject));
};

/** The part of an IP address that one subscriber holds: all of IPv4, the first 64 bits of IPv6. */
export function cutAddress(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined || !ip.includes(':')) return mapped ?? ip;
  const [head = '', tail] = ip.toLowerCase().split('%')[0]?.split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined ? front : [...front, ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0'), ...back];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
