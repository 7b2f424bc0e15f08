/**
 * The columns and files of versions that were read: a version never changes, so the manifest is asked for it once. Not an `lru-cache`, which weighs an
 * entry when it is set: these grow while they are kept.
 */
import { join } from 'node:path';
import type { FileExtent } from '../terms/extents.ts';
import { listColumnsAt, listFilesAt, type ColumnState } from './manifest.ts';
import { listCountedRows, listRanges } from './manifest.queries.ts';
import type { FileRange } from './manifest-rows.ts';
import type { Queryable } from './manifest.queries.ts';
import type { Kept } from '../terms/source.ts';
import { countRowsInRanges } from './value-notes.ts';

export interface VersionParts {
  columns: readonly ColumnState[];
  /** Absolute paths, the newest first. */
  files: readonly string[];
  /** The same, the oldest first. */
  extents: readonly FileExtent[];
}

/** Columns, files and ranges of files that are kept at most, of all tables: about half a kilobyte each. */
const MOST = 20_000;

interface VersionOptions {
  db: Queryable;
  lakeFolder: string;
  most?: number;
}

interface Held {
  parts?: Promise<VersionParts>;
  ranges: Map<string, Promise<readonly FileRange[]>>;
  weight: number;
}

/** Versions that were read, the least lately read first to be forgotten. */
export class Versions {
  readonly #db: Queryable;
  readonly #lakeFolder: string;
  readonly #most: number;
  /** In the order of use. */
  readonly #held = new Map<string, Held>();
  #weight = 0;

  constructor({ db, lakeFolder, most = MOST }: VersionOptions) {
    this.#db = db;
    this.#lakeFolder = lakeFolder;
    this.#most = most;
  }

  /** Columns, files and ranges that are kept. */
  get weight(): number {
    return this.#weight;
  }

  /** The columns and files of a version that is known to be there. */
  async parts(tableId: string, version: number): Promise<VersionParts> {
    const [key, held] = this.#hold(tableId, version);
    held.parts ??= (async () => {
      const [columns, listed] = await Promise.all([listColumnsAt(this.#db, tableId, version), listFilesAt(this.#db, tableId, version)]);
      const extents = listed.map((file) => ({ ...file, path: join(this.#lakeFolder, file.path) }));
      this.#weigh(key, held, columns.length + extents.length);
      return { columns, extents, files: extents.map(({ path }) => path).reverse() };
    })();
    held.parts.catch(() => delete held.parts);
    return held.parts;
  }

  /** Rows that a filter keeps, of each file of a version of which that is known, by absolute path. */
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

  #hold(tableId: string, version: number): [string, Held] {
    const key = `${tableId}@${version}`;
    const held: Held = this.#held.get(key) ?? { ranges: new Map(), weight: 0 };
    this.#held.delete(key);
    this.#held.set(key, held);
    return [key, held];
  }

  #weigh(key: string, held: Held, more: number): void {
    // it may have been forgotten while it was asked for
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
