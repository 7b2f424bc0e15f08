import type { Stored } from '../../../storage/objects.ts';
import type { RunOptions } from '../../terms/warehouse.ts';

/** A file that was written on this machine, and its place in the lake. */
export interface WrittenFile {
  /** Absolute, in `.staging` of the lake folder. */
  written: string;
  /** Relative to the lake folder. */
  path: string;
}

/** The length and hash of a file that was added. */
export type Added = Stored;

export type HoldOptions = Pick<RunOptions, 'signal' | 'timeoutMs' | 'table'>;

/**
 * The lake's files, which the engine of this process reads at absolute paths in `folder`. Where the lake is a bucket, that folder holds copies of some of them.
 * Implementations: `folder.ts`, `bucket.ts`; both pass `test/contracts/lake-files.test.ts`.
 */
export interface LakeFiles {
  readonly folder: string;
  /**
   * Brings files to this machine and keeps them until the returned function is called. Paths are absolute. Errors: `lakeCacheTooSmall` before anything is
   * brought, `lakeFileUnreadable` for a missing or damaged file, `objectsUnavailable`, `warehouseBusy` while other holds keep the room, `warehouseTimeout`.
   */
  hold(paths: readonly string[], options?: HoldOptions): Promise<() => void>;
  /** Adds written files to the lake durably, in the order given. Answers the length and hash of each. */
  add(files: readonly WrittenFile[]): Promise<Added[]>;
  /** Removes files by their paths in the lake; one that is missing is no error. */
  remove(paths: readonly string[]): Promise<{ files: number; bytes: number }>;
  /** Removes copies on this machine of files of experiments that no longer have tables. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the absolute path of a file of the lake. Throws where the path would leave the lake folder. */
export function requireInside(folder: string, path: string): string {
  if (path.startsWith('/') || path.split('/').includes('..')) throw new Error('a lake path must stay in the lake folder');
  return `${folder}/${path}`;
}
