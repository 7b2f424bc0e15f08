/** Finds the file of the lake that made a statement fail. It looks only after the engine has failed, so a read that succeeds pays nothing for it. */
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { LIST, VARCHAR, listValue, type DuckDBConnection } from '@duckdb/node-api';
import { ApiError, errors } from '../../../errors.ts';

const MAGIC = 'PAR1';
const LEAST_BYTES = 12;
/** Failures for which no file is to blame: the engine or the machine has reached a limit, or somebody stopped the engine. The files are not examined then. */
const NOT_OF_FILES = /^(Out of Memory|INTERRUPT)|Too many open files|No space left on device|Disk quota exceeded|Cannot allocate memory/i;

/**
 * Statements that find damage. Each reads more of a file than the one before: the footer, then every page. The hash is needed because the engine skips a column
 * of which nothing is made.
 */
const READS = [
  'select count(*) from parquet_file_metadata($1)',
  'select bit_xor(hash(t)) from read_parquet($1, hive_partitioning = false) t',
] as const;

/** What the engine says when a sum of whole numbers or decimals leaves the 128 bits in which it is kept. */
const OVERFLOW = /^Out of Range Error: Overflow in HUGEINT/;

const firstLine = (error: unknown): string => (error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));

/** Finds what is wrong with the ends of a file. Undefined when the file exists and begins and ends as a Parquet file does. */
async function problemOfEnds(path: string): Promise<string | undefined> {
  const handle = await open(path, 'r').catch((error: unknown) => firstLine(error));
  if (typeof handle === 'string') return handle;
  try {
    const { size } = await handle.stat();
    if (size < LEAST_BYTES) return `it has ${size} bytes`;
    const ends = Buffer.alloc(8);
    await handle.read(ends, 0, 4, 0);
    await handle.read(ends, 4, 4, size - 4);
    return ends.toString('latin1') === MAGIC + MAGIC ? undefined : 'it does not begin and end as a Parquet file does';
  } catch (error) {
    return firstLine(error);
  } finally {
    await handle.close();
  }
}

async function findDamage(connection: DuckDBConnection, files: readonly string[], failure: string) {
  const named = files.find((path) => failure.includes(path));
  if (named !== undefined) return { path: named, problem: failure };
  for (const path of files) {
    const problem = await problemOfEnds(path);
    if (problem !== undefined) return { path, problem };
  }
  for (const sql of READS)
    for (const path of files) {
      const problem = await connection.run(sql, [listValue([path])], [LIST(VARCHAR)]).then(() => undefined, firstLine);
      if (problem !== undefined && !NOT_OF_FILES.test(problem)) return { path, problem };
    }
  return undefined;
}

/**
 * Explains the failure of a statement that reads files of the lake. Answers `errors.sumTooLarge` where a sum overflowed, and `errors.lakeFileUnreadable` where a
 * file is missing or damaged, with its path for the log only; otherwise the engine's own error. The caller is told `table`, or else the id of the table that the file belongs to.
 */
export async function explainFailure(
  connection: DuckDBConnection,
  error: unknown,
  { files, table }: { files: readonly string[]; table?: string },
): Promise<unknown> {
  if (error instanceof ApiError) return error;
  const failure = firstLine(error);
  if (OVERFLOW.test(failure)) return errors.sumTooLarge().with({ cause: error });
  if (files.length === 0 || !(error instanceof Error) || NOT_OF_FILES.test(failure)) return error;
  const damage = await findDamage(connection, [...new Set(files)], failure);
  if (!damage) return error;
  const { path, problem } = damage;
  return errors.lakeFileUnreadable(table ?? basename(dirname(path))).with({ facts: { file: path, problem } });
}
