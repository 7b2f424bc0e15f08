import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Column } from '../terms/catalog.ts';
import type { PhysicalColumn, RunOptions, Staged, StageRequest, Statement } from '../terms/warehouse.ts';

/** A connection of the writing engine, with temporary views and macros of its own. One caller uses it at a time, and must close it. */
export interface StagingSession {
  /** Runs statements one after the other (views, macros, variables). */
  prepare(statements: readonly Statement[]): Promise<void>;
  /** Runs a statement and answers its few rows as objects: BIGINT, DECIMAL and times as text, other numbers as numbers. */
  rows(statement: Statement): Promise<Record<string, unknown>[]>;
  /** Writes the rows of a SELECT as immutable files of about `rowsPerFile` rows that do not overlap in (sort column, id). */
  stage(request: StageRequest): Promise<Staged>;
  /** Counts the rows of each value in the columns of a file that have few values. Answers none when the file has rows of another experiment. */
  values(asked: ValuesAsked): Promise<ColumnValues[]>;
  close(): void;
}

export interface ValuesAsked {
  /** Absolute. */
  path: string;
  experimentId: string;
  columns: readonly Column[];
}

/** How many rows of a file have each value of a column. */
export interface ColumnValues {
  name: string;
  /** `printType` of the column. */
  type: string;
  /** The number of rows of each value, by the value's `printValue`. */
  counts: Record<string, number>;
  nulls: number;
}

export interface SessionOptions extends RunOptions {
  /**
   * Says that the session writes few rows while others do too. An engine of one thread then does the work: for a few milliseconds of work, waiting threads
   * would cost as much again.
   */
  small?: boolean;
}

/** The writing half of a warehouse on one machine. Its sessions read and write files in the lake folder and the work folder. */
export interface StagingArea {
  /** The absolute path of the folder for source files that the engine is to read. The engine reads nothing outside this folder and the lake. */
  readonly workFolder: string;
  readonly lakeFolder: string;
  session(options?: SessionOptions): Promise<StagingSession>;
  /** Stages in a session of its own. Nothing is visible until the caller commits the files in the manifest. */
  stage(request: StageRequest, options?: RunOptions): Promise<Staged>;
  /** Reads the columns that a file holds. The path is relative to the lake folder. */
  readColumns(path: string): Promise<PhysicalColumn[]>;
  /** Removes files that were staged or have been retired; a missing file is no error. Paths are relative to the lake folder. */
  remove(paths: readonly string[]): Promise<{ files: number; bytes: number }>;
  close(): Promise<void>;
}

/** Runs work with a session of its own, and closes it. */
export async function useSession<T>(
  staging: Pick<StagingArea, 'session'>,
  options: SessionOptions,
  work: (session: StagingSession) => Promise<T>,
): Promise<T> {
  const session = await staging.session(options);
  try {
    return await work(session);
  } finally {
    session.close();
  }
}

/** Runs work with a folder of its own, and removes it. The sweep removes folders that a crash leaves. */
export async function useFolder<T>({ workFolder }: Pick<StagingArea, 'workFolder'>, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(workFolder, 'ingest', randomUUID());
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Lists where files of the lake lie on this machine, as absolute paths. */
export const listPaths = ({ lakeFolder }: Pick<StagingArea, 'lakeFolder'>, files: readonly { path: string }[]): string[] =>
  files.map(({ path }) => join(lakeFolder, path));
