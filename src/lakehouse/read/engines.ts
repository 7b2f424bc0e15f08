/** Chooses the engine for a read. DuckDB opens the files of a version; Databricks opens the same version of the Delta table. */
import { findKnownRows, dropEmptyFiles } from './count.ts';
import type { LiveTable, TableRows } from '../terms/plan.ts';
import type { TableSource } from '../terms/source.ts';
import { hasRows } from '../plan/identity.ts';
import { findKept } from '../plan/planner.ts';
import type { ReadRequest } from '../ask/request.ts';
import type { Warehouse } from '../terms/warehouse.ts';

interface EnginesOptions {
  /** The engine that opens files; undefined where it is not to be used. */
  files: Warehouse | undefined;
  /** The engine that opens tables; undefined where there is none. */
  tables: Warehouse | undefined;
  /** With both engines: a read of more bytes of files than this is read from tables. */
  mostBytes: number;
  /** Settles when the logs of these tables have these versions. Throws `errors.lakeNotPublished`. */
  published: (tables: readonly LiveTable[]) => Promise<void>;
}

/** Lists every table that a read may open. */
const tablesOf = (source: TableSource): LiveTable[] =>
  [source, source.identity, source.registry, source.annotations, source.metadata, source.metadata?.answers]
    .filter(hasRows)
    .flatMap(({ live }) => live ?? []);

/** Sums the bytes of the files that may hold a row of the read. Throws the planner's 400s of filters. */
async function bytesOf(source: TableSource, request: ReadRequest): Promise<number> {
  const { extents = [] } = dropEmptyFiles(source, await findKnownRows(source, findKept(source, request)));
  return extents.reduce((sum, { byteCount = 0 }) => sum + byteCount, 0);
}

const NO_ENGINE = 'No engine is left to read with.';

export class Engines {
  readonly #options: EnginesOptions;
  readonly #all: readonly Warehouse[];

  constructor(options: EnginesOptions) {
    this.#options = options;
    this.#all = [options.files, options.tables].filter((each) => each !== undefined);
    if (this.#all.length === 0) throw new TypeError(NO_ENGINE);
  }

  /** The number of statements that run now. */
  get running(): number {
    return this.#all.reduce((sum, { running }) => sum + running, 0);
  }

  /**
   * Chooses the engine for a read, with the source as that engine knows it, and waits until it can see the tables. Throws the planner's 400s of filters and
   * `lakeNotPublished`.
   */
  async choose(source: TableSource, request: ReadRequest = {}) {
    const { files, tables, mostBytes, published } = this.#options;
    if (files && (!tables || (await bytesOf(source, request)) <= mostBytes)) return { warehouse: files, source };
    if (!tables) throw new TypeError(NO_ENGINE);
    await published(tablesOf(source));
    // an engine that opens tables has no use for the places of rows in files
    return { warehouse: tables, source: { ...source, extents: undefined, keptRows: undefined } };
  }

  /** Whether `forSmall` opens files, which it sees as soon as they are committed. */
  get opensFiles(): boolean {
    return this.#options.files !== undefined;
  }

  /** Chooses the engine for a small table that only the service reads. Throws `lakeNotPublished`. */
  async forSmall({ live }: TableRows): Promise<Warehouse> {
    const { files, tables, published } = this.#options;
    if (files) return files;
    if (!tables) throw new TypeError(NO_ENGINE);
    await published(live ? [live] : []);
    return tables;
  }

  async close(): Promise<void> {
    for (const each of this.#all) await each.close();
  }
}
