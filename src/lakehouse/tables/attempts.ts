/** What every writer of tables does when another writer was faster, and when its own work fails. */
import type { Queryable } from '../../database/database.ts';
import { retry } from '../../database/retry.ts';
import { isRefusal } from '../../errors.ts';
import type { Staged } from '../terms/warehouse.ts';
import { listKnownPaths } from './manifest.queries.ts';
import type { StagingArea } from './staging.ts';

/** Repeats an attempt, at most `most` times, as long as it fails because somebody has changed what it began with (`sourceChanged`). `tries` counts from 1. */
export const retryUnchanged = <T>(most: number, attempt: (tries: number) => Promise<T>): Promise<T> =>
  retry(most, (error) => isRefusal(error, 'sourceChanged'), attempt);

/**
 * Removes those written files that the manifest does not name: after a failure the outcome of a commit may be unknown. The sweep does the rest. Never throws.
 */
export async function removeUncommitted(
  { db, staging }: { db: Queryable; staging: StagingArea },
  written: readonly (Staged | undefined)[],
): Promise<void> {
  const paths = written.flatMap((staged) => staged?.files.map(({ path }) => path) ?? []);
  if (paths.length === 0) return;
  try {
    const known = new Set(await listKnownPaths(db, paths));
    await staging.remove(paths.filter((path) => !known.has(path)));
  } catch {
    // the caller reports the failure that led here, not this one
  }
}

/** Runs work that commits written files. Where it fails, those that the manifest does not name are removed. */
export async function removeUnlessCommitted<T>(
  deps: Parameters<typeof removeUncommitted>[0],
  written: readonly (Staged | undefined)[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await removeUncommitted(deps, written);
    throw error;
  }
}
