/** Chooses the engine for a read. DuckDB opens the files of a version; Databricks opens the same version of the Delta table. */
import { errors } from '../../errors.ts';
import { Kept } from '../../kept.ts';
import { findKnownRows, dropEmptyFiles } from './count.ts';
import type { LiveTable, TableRows } from '../terms/plan.ts';
import type { TableSource } from '../terms/source.ts';
import { hasRows } from '../plan/identity.ts';
import { findKept } from '../plan/planner.ts';
import type { ReadRequest } from '../ask/request.ts';
import type { Warehouse } from '../terms/warehouse.ts';

interface EnginesOptions {
  /** Opens the engine that opens files, when it is first used; undefined where it is not to be used. */
  openFiles: (() => Promise<Warehouse>) | undefined;
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
  readonly #files: Kept<Warehouse> | undefined;
  readonly #open: Warehouse[];
  #closed = false;

  constructor(options: EnginesOptions) {
    const { openFiles, tables } = options;
    if (!openFiles && !tables) throw new TypeError(NO_ENGINE);
    this.#options = options;
    this.#open = tables ? [tables] : [];
    this.#files =
      openFiles &&
      new Kept(async () => {
        const opened = await openFiles();
        this.#open.push(opened);
        return opened;
      });
  }

  /** The number of statements that run now. */
  get running(): number {
    return this.#open.reduce((sum, { running }) => sum + running, 0);
  }

  /**
   * Chooses the engine for a read, with the source as that engine knows it, and waits until it can see the tables. Throws the planner's 400s of filters and
   * `lakeNotPublished`.
   */
  async choose(source: TableSource, request: ReadRequest = {}) {
    if (this.#closed) throw errors.shuttingDown();
    const { tables, mostBytes, published } = this.#options;
    if (this.#files && (!tables || (await bytesOf(source, request)) <= mostBytes)) return { warehouse: await this.#files.get(), source };
    if (!tables) throw new TypeError(NO_ENGINE);
    await published(tablesOf(source));
    // an engine that opens tables has no use for the places of rows in files
    return { warehouse: tables, source: { ...source, extents: undefined, keptRows: undefined } };
  }

  /** Whether `forSmall` opens files, which it sees as soon as they are committed. */
  get opensFiles(): boolean {
    return this.#files !== undefined;
  }

  /** Chooses the engine for a small table that only the service reads. Throws `lakeNotPublished`. */
  async forSmall({ live }: TableRows): Promise<Warehouse> {
    if (this.#closed) throw errors.shuttingDown();
    const { tables, published } = this.#options;
    if (this.#files) return this.#files.get();
    if (!tables) throw new TypeError(NO_ENGINE);
    await published(live ? [live] : []);
    return tables;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#files?.made;
    for (const each of this.#open) await each.close();
  }
}
