/** What every writer of tables does when another was faster, and when it fails on the way. */
import { ApiError } from '../errors.ts';
import { listKnownPaths } from '../lakehouse/tables/manifest.ts';
import type { StagingArea } from '../lakehouse/tables/staging.ts';
import type { Staged } from '../lakehouse/terms/warehouse.ts';
import type { Queryable } from '../database/database.ts';
import { retry } from '../database/retry.ts';

/** Makes an attempt, `most` times at most, until it does not find at its end that another has changed what it began with. The first is 1. */
export const retryUnchanged = <T>(most: number, attempt: (tries: number) => Promise<T>): Promise<T> =>
  retry(most, (error) => error instanceof ApiError && error.code === 'SOURCE_CHANGED', attempt);

/** After a failure the outcome of a commit may be unknown: only what the manifest does not name is removed; the sweep does the rest. Never throws. */
export async function removeUncommitted(
  { db, staging }: { db: Queryable; staging: StagingArea },
  written: readonly (Staged | undefined)[],
): Promise<void> {
  const paths = written.flatMap((staged) => staged?.files.map(({ path }) => path) ?? []);
  if (paths.length === 0) return;
  try {
    const known = new Set((await listKnownPaths(db, paths)).map(({ path }) => path));
    await staging.remove(paths.filter((path) => !known.has(path)));
  } catch {
    // the failure that led here is the one to tell
  }
}
