import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors.ts';

/** Rows of one call that are worked on at a time. */
export const ROWS_AT_ONCE = 6;

/** Makes the caller for one row of many. Each row is a change of its own, of which nothing is kept for an Idempotency-Key. */
export const makeRowCaller = (caller: Caller): Caller => ({ ...caller, created: (_tx, answer) => Promise.resolve(answer) });

/** Explains in one sentence why one row of many failed. The details of an unexpected error go to the log only. */
export function explainFailure(ctx: Context, error: unknown): string {
  if (error instanceof ApiError && error.status < 500) return error.message;
  ctx.log.warn({ err: error }, 'one of many failed');
  return error instanceof ApiError && error.status === 503 ? error.message : 'Something went wrong on our side; try this one again.';
}
