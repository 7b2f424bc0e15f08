import type { Stored } from '../../../storage/objects.ts';
import type { RunOptions } from '../../terms/warehouse.ts';

/** A file that was written on this machine, and where it belongs. */
export interface WrittenFile {
  /** Absolute, in `.staging` of the lake folder. */
  written: string;
  /** Relative to the lake folder. */
  path: string;
}

/** What a file that was added holds. */
export type Added = Stored;

export type HoldOptions = Pick<RunOptions, 'signal' | 'timeoutMs' | 'table'>;

/**
 * The lake's files as the engine of this process reads them: at absolute paths in `folder`. Where the lake is a bucket, that folder holds copies of some of them.
 * Implementations: `folder.ts`, `bucket.ts`; both pass `test/contracts/lake-files.test.ts`.
 */
export interface LakeFiles {
  readonly folder: string;
  /**
   * Brings files to this machine and keeps them until the answer is called. Paths are absolute. Errors: `lakeCacheTooSmall` before anything is brought, `lakeFileUnreadable` for one
   * that is not there, `objectsUnavailable`, `warehouseBusy` while others keep the room, `warehouseTimeout`.
   */
  hold(paths: readonly string[], options?: HoldOptions): Promise<() => void>;
  /** Makes written files files of the lake, durably, in their order; answers what each holds. */
  add(files: readonly WrittenFile[]): Promise<Added[]>;
  /** Removes files by their paths in the lake; one that is missing is no error. */
  remove(paths: readonly string[]): Promise<{ files: number; bytes: number }>;
  /** Removes what this machine keeps of experiments that have no tables any more. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

/** The path of a file in the lake folder, refused where it would leave it. */
export function requireInside(folder: string, path: string): string {
  if (path.startsWith('/') || path.split('/').includes('..')) throw new Error('a lake path must stay in the lake folder');
  return `${folder}/${path}`;
}
