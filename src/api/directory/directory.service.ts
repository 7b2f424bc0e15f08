/** Who can be found, and by whom. */
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { FoundUser } from './directory.model.ts';
import { searchPeople } from './directory.queries.ts';

/** Finds the people that a caller may find, best match first; those of the caller's organizations without a query. */
export const findPeople = (
  ctx: Context,
  caller: Caller,
  { query = '', limit, offset = 0 }: { query?: string | undefined; limit: number; offset?: number | undefined },
): Promise<FoundUser[]> => searchPeople(ctx.db, { viewerId: caller.userId, query: query.trim(), limit, offset });
