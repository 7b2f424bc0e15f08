/**
 * Keeps the columns and files of versions that were read. A version never changes, so the manifest is asked for it once. An `lru-cache` does not fit: it weighs
 * an entry when it is set, and these entries grow while they are kept.
 */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { FileExtent } from '../terms/extents.ts';
import { listColumnsAt, listFilesAt, type ColumnState } from './manifest.ts';
import { findNotedTexts, listCountedRows, listRanges, type Queryable } from './manifest.queries.ts';
import type { FileRange } from './manifest-rows.ts';
import type { AskedTexts, Kept } from '../terms/source.ts';
import { countRowsInRanges } from './value-notes.ts';

export interface VersionParts {
  columns: readonly ColumnState[];
  /** Absolute paths, the newest first. */
  files: readonly string[];
  /** The same files with their key ranges, the oldest first. */
  extents: readonly FileExtent[];
  /** A hash of the files' names, which no other commit has, also where a failover of Postgres gave its number again. */
  digest: string;
}

/** The most columns, files and ranges of files that are kept for all tables together. Each takes about half a kilobyte. */
const MOST = 20_000;

interface Held {
  parts?: Promise<VersionParts>;
  ranges: Map<string, Promise<readonly FileRange[]>>;
  weight: number;
}

/** Keeps versions that were read, and forgets the least recently used first. */
export class Versions {
  readonly #db: Queryable;
  readonly #lakeFolder: string;
  readonly #most: number;
  /** The versions by table and number, the least recently used first. */
  readonly #held = new Map<string, Held>();
  #weight = 0;

  constructor({ db, lakeFolder, most = MOST }: { db: Queryable; lakeFolder: string; most?: number }) {
    this.#db = db;
    this.#lakeFolder = lakeFolder;
    this.#most = most;
  }

  /** The number of columns, files and ranges that are kept. */
  get weight(): number {
    return this.#weight;
  }

  /** Loads the columns and files of a version that is known to exist. */
  async parts(tableId: string, version: number): Promise<VersionParts> {
    const [key, held] = this.#hold(tableId, version);
    held.parts ??= (async () => {
      const [columns, listed] = await Promise.all([listColumnsAt(this.#db, tableId, version), listFilesAt(this.#db, tableId, version)]);
      const extents = listed.map((file) => ({ ...file, path: join(this.#lakeFolder, file.path) }));
      this.#weigh(key, held, columns.length + extents.length);
      const digest = hash('sha256', listed.map(({ path }) => path).join(), 'base64url');
      return { columns, extents, files: extents.map(({ path }) => path).reverse(), digest };
    })();
    held.parts.catch(() => delete held.parts);
    return held.parts;
  }

  /** Counts the rows that a filter keeps in each file of a version, by absolute path. Leaves out files of which the manifest cannot tell. */
  async keptRows(tableId: string, version: number, kept: Kept): Promise<ReadonlyMap<string, number>> {
    const [key, held] = this.#hold(tableId, version);
    const absolute = <F extends { path: string }>(file: F): F => ({ ...file, path: join(this.#lakeFolder, file.path) });
    const rangesOf = async (column: string) => {
      const known = held.ranges.get(column);
      if (known) return known;
      const asked = listRanges(this.#db, { tableId, version }, column).then((files) => files.map(absolute));
      held.ranges.set(column, asked);
      asked.then(
        ({ length }) => this.#weigh(key, held, length),
        () => held.ranges.delete(column),
      );
      return asked;
    };
    const counted = kept.values ? await listCountedRows(this.#db, { tableId, version }, kept.values) : [];
    const rows = counted.length > 0 || !kept.ranges ? counted.map(absolute) : await countRowsInRanges(kept.ranges, rangesOf);
    return new Map(rows.map(({ path, rows: count }) => [path, count]));
  }

  /** Lists the distinct values of a column of a version, where the notes of all its files tell them. */
  async notedTexts(tableId: string, version: number, asked: AskedTexts): Promise<readonly string[] | null> {
    return (await findNotedTexts(this.#db, { tableId, version }, asked))?.texts ?? null;
  }

  /** Forgets every version: after a failover of Postgres that lost commits, their numbers are given again. */
  forget(): void {
    this.#held.clear();
    this.#weight = 0;
  }

  #hold(tableId: string, version: number): [string, Held] {
    const key = `${tableId}@${version}`;
    const held: Held = this.#held.get(key) ?? { ranges: new Map(), weight: 0 };
    this.#held.delete(key);
    this.#held.set(key, held);
    return [key, held];
  }

  #weigh(key: string, held: Held, more: number): void {
    // the version may have been forgotten while the manifest was asked
    if (this.#held.get(key) !== held) return;
    held.weight += 1 + more;
    this.#weight += 1 + more;
    for (const [oldest, { weight }] of this.#held) {
      if (this.#weight <= this.#most) break;
      this.#held.delete(oldest);
      this.#weight -= weight;
    }
  }
}
