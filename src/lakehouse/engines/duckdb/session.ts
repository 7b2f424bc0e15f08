import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  DuckDBInstance,
  INTEGER,
  LIST,
  VARCHAR,
  listValue,
  type DuckDBConnection,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import { printTableFolder } from '../../tables/delta/places.ts';
import type { Added, LakeFiles } from '../../tables/files/files.ts';
import { isOutOfMemory } from '../../terms/memory.ts';
import { quoteName, quoteText } from '../../terms/quoting.ts';
import type { ColumnValues, StagingSession, ValuesAsked } from '../../tables/staging.ts';
import { explainFailure } from './damage.ts';
import { GIVE_BACK } from './engine.ts';
import { countValues } from './values.ts';
import { cutRowGroups, type CutFile } from '../parquet/cut.ts';
import { ROWS_PER_FILE, type Staged, type StagedFile, type StageRequest, type Statement } from '../../terms/warehouse.ts';
import type { BoundValue } from '../../terms/dialect.ts';

const VECTOR = 2_048;
/** By how much fewer rows of a row group are tried after those before did not fit the memory. */
const FEWER = 16;
const WHOLE = 'whole.parquet';

type Scalar = string | number | bigint | boolean | null;

const DRIVER_TYPES: Partial<Record<BoundValue['type']['kind'], DuckDBType>> = {
  bigint: BIGINT,
  int: INTEGER,
  double: DOUBLE,
  boolean: BOOLEAN,
};

function bound({ type, value }: BoundValue): { value: DuckDBValue; type: DuckDBType } {
  const one = (each: Scalar): DuckDBValue => {
    if (each === null) return null;
    return type.kind === 'bigint' ? BigInt(each) : type.kind === 'double' ? Number(each) : each;
  };
  const kind = DRIVER_TYPES[type.kind] ?? VARCHAR;
  return Array.isArray(value)
    ? { value: listValue((value as readonly Scalar[]).map(one)), type: LIST(kind) }
    : { value: one(value as Scalar), type: kind };
}

class DuckdbSession implements StagingSession {
  readonly #connection: DuckDBConnection;
  readonly #lake: LakeFiles;
  readonly #signal: AbortSignal | undefined;
  /**
   * The held files of the lake that statements have bound in lists, by the SQL of the statement. A statement that runs again replaces its files, as with a
   * variable.
   */
  readonly #files = new Map<string, { paths: string[]; release: () => void }>();
  readonly #onAbort = () => this.#connection.interrupt();

  constructor(connection: DuckDBConnection, lake: LakeFiles, signal: AbortSignal | undefined) {
    this.#connection = connection;
    this.#lake = lake;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort);
  }

  async #run({ sql, values }: Statement) {
    this.#signal?.throwIfAborted();
    const all = values.map(bound);
    const [given, types] = [all.map(({ value }) => value), all.map(({ type }) => type)];
    const lists = values.flatMap(({ value }) => (Array.isArray(value) ? (value as readonly unknown[]) : []));
    const isOurs = (each: unknown): each is string => typeof each === 'string' && each.startsWith(`${this.#lake.folder}/`);
    if (lists.length > 0) await this.#hold(sql, lists.filter(isOurs));
    try {
      return await this.#connection.runAndReadAll(sql, given, types);
    } catch (error) {
      this.#signal?.throwIfAborted();
      throw await explainFailure(this.#connection, error, { files: [...this.#files.values()].flatMap(({ paths }) => paths) });
    }
  }

  /** Holds the files that a statement binds, and releases those that it bound before. */
  async #hold(sql: string, paths: string[]): Promise<void> {
    this.#files.get(sql)?.release();
    this.#files.delete(sql);
    this.#files.set(sql, { paths, release: await this.#lake.hold(paths, { signal: this.#signal }) });
  }

  async prepare(statements: readonly Statement[]): Promise<void> {
    for (const statement of statements) await this.#run(statement);
  }

  async rows(statement: Statement): Promise<Record<string, unknown>[]> {
    return (await this.#run(statement)).getRowObjectsJson();
  }

  async stage(request: StageRequest): Promise<Staged> {
    const { tableId, experimentId, select, sortColumn, sorted = false, rowsPerFile = ROWS_PER_FILE, rowsPerGroup = rowsPerFile } = request;
    await this.prepare(request.prepare ?? []);
    const table = printTableFolder(experimentId, tableId);
    const temporary = join(this.#lake.folder, '.staging', randomUUID());
    await mkdir(temporary, { recursive: true });
    try {
      const vectors = (rows: number) => Math.max(VECTOR, Math.round(rows / VECTOR) * VECTOR);
      // All threads write one file, in order, which is cut afterwards. Several files written at once would each get rows from anywhere.
      const ordered = sorted ? select.sql : `select * from (${select.sql}) order by ${quoteName(sortColumn)} nulls last, id`;
      await this.#write({ sql: ordered, values: select.values }, join(temporary, WHOLE), vectors(rowsPerGroup));
      const cut = await cutRowGroups(temporary, WHOLE, { rowsPerFile: vectors(rowsPerFile), sortColumn });
      const parts = await this.#describe(temporary, cut, { sortColumn, sorted });
      const written = parts.map(({ file }) => ({ written: join(temporary, file), path: `${table}/${randomUUID()}.parquet` }));
      const stored = await this.#lake.add(written);
      const files = parts.map(({ facts }, index): StagedFile => ({
        path: written[index]?.path ?? '',
        ...facts,
        ...(stored[index] as Added),
      }));
      return { tableId, files, rowCount: files.reduce((sum, { rowCount }) => sum + rowCount, 0) };
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }

  /** Writes rows as one Parquet file. Where so many rows a row group do not fit the memory, it is written anew with fewer. */
  async #write({ sql, values }: Statement, path: string, rowsPerGroup: number): Promise<void> {
    const options = `format parquet, compression zstd, row_group_size ${rowsPerGroup}, preserve_order true`;
    try {
      await this.#run({ sql: `copy (${sql}) to ${quoteText(path)} (${options})`, values });
    } catch (error) {
      const fewer = Math.floor(rowsPerGroup / FEWER);
      if (!isOutOfMemory(error) || fewer === 0) throw error;
      await this.#write({ sql, values }, path, fewer);
    }
  }

  /** Describes the files of a cut. `sorted` is only a promise of the caller, so each such file is read to see whether its rows are in order. */
  async #describe(folder: string, cut: readonly CutFile[], { sortColumn, sorted }: { sortColumn: string; sorted: boolean }) {
    const sorting = quoteName(sortColumn);
    const key = (aggregate: string) =>
      `strftime((${aggregate}(${quoteName(sortColumn)})::timestamptz at time zone 'UTC'), '%Y-%m-%dT%H:%M:%S.%fZ')`;
    const parts: { file: string; facts: Omit<StagedFile, 'path' | keyof Added> }[] = [];
    for (const { name: file, ranges, nullCounts, columns, edges } of cut) {
      if (edges && !sorted) {
        const { rows: rowCount, low: minKey, high: maxKey, nulls: nullKeys, firstId: minId, lastId: maxId } = edges;
        parts.push({ file, facts: { rowCount, minKey, maxKey, minId, maxId, nullKeys, ranges, nullCounts, columns } });
        continue;
      }
      const result = await this.#run({
        sql: `select count(*) as rows, ${key('min')} as low, ${key('max')} as high, count(*) - count(${sorting}) as nulls,
            min(id) as first_id, max(id) as last_id,
            coalesce(bool_and(coalesce(case when ${sorting} is not distinct from before then id > id_before else ${sorting} > before or ${sorting} is null end, false))
              filter (where place > 1), true) as in_order
          from (select ${sorting}, id, lag(${sorting}) over () as before, lag(id) over () as id_before, row_number() over () as place
            from (select null::varchar as id where false union all by name select * from read_parquet(${quoteText(join(folder, file))})))`,
        values: [],
      });
      const [row] = result.getRowObjectsJson();
      if (row && Number(row.rows) > 0)
        parts.push({
          file,
          facts: {
            rowCount: Number(row.rows),
            minKey: row.low as string | null,
            maxKey: row.high as string | null,
            // the ids of a file whose rows are not in order do not tell where a row lies
            minId: row.in_order === true ? (row.first_id as string | null) : null,
            maxId: row.in_order === true ? (row.last_id as string | null) : null,
            nullKeys: Number(row.nulls),
            ranges,
            nullCounts,
            columns,
          },
        });
    }
    return parts;
  }

  async values(asked: ValuesAsked): Promise<ColumnValues[]> {
    return countValues(this, asked);
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#connection.closeSync();
    for (const { release } of this.#files.values()) release();
    this.#files.clear();
  }
}

/** What an engine that writes works with. */
interface WriterFolders {
  files: LakeFiles;
  lake: string;
  work: string;
  memoryLimit: string;
  functions: readonly string[];
}

interface WriterEngine {
  session(signal: AbortSignal | undefined): Promise<StagingSession>;
  close(): void;
}

/** Opens an engine that sees the lake folder and the work folder and nothing else. */
export async function openWriterEngine(
  threads: number,
  { files, lake, work, memoryLimit, functions }: WriterFolders,
): Promise<WriterEngine> {
  const spill = join(work, 'spill');
  await mkdir(spill, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:', { threads: String(threads), memory_limit: memoryLimit, temp_directory: spill });
  const setup = await instance.connect();
  const settings = [
    `set timezone = 'UTC'`,
    // keeps the names of all zones, because asking for them takes as long as thousands of rows that name one
    `create table time_zones as select distinct name from pg_timezone_names()`,
    `set preserve_insertion_order = true`,
    `set autoinstall_known_extensions = false`,
    `set autoload_known_extensions = false`,
    // without these settings, a 5 GB CSV file took 1,042 MB
    ...GIVE_BACK,
    // this engine reads what it wrote once or twice and never again: a cache would keep every file in memory until the limit is reached
    `set enable_external_file_cache = false`,
    `set allowed_directories = [${quoteText(`${lake}/`)}, ${quoteText(`${work}/`)}]`,
    `set enable_external_access = false`,
    `set lock_configuration = true`,
    // made anew for each file, they took 28 ms of processor
    ...functions,
  ];
  for (const setting of settings) await setup.run(setting);
  setup.closeSync();
  return {
    session: async (signal) => new DuckdbSession(await instance.connect(), files, signal),
    close: () => instance.closeSync(),
  };
}
