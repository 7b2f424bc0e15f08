import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { quoteText } from '../../terms/quoting.ts';
import { DuckDbConnections } from './connections.ts';

interface EngineOptions {
  /** A private folder for spilling and pipes. */
  scratch: string;
  lake: string;
  threads: number;
  /** The memory limit, such as `2GB`. The engine spills beyond it and never exceeds it by much. */
  memoryLimit: string;
  connections: number;
  /** Whether statements report how much they have read. */
  tellsReading: boolean;
}

/** Settings that return memory of ended statements to the machine while the next ones run. The engine would otherwise keep it, beside what those take. */
export const GIVE_BACK = ['set global allocator_background_threads = true', `set global allocator_flush_threshold = '1MB'`] as const;

export interface Engine {
  connections: DuckDbConnections;
  close(): void;
}

/** Settings that only the engine for one use has; all others are the same. */
const SETTINGS: Record<'reads' | 'copies', readonly string[]> = {
  // memory of a read returns to the machine soon enough: to return it at once took 17 of 100 ms
  reads: [],
  // a copy frees as much memory as it writes, for minutes, and what is not returned adds to what others take: 40 MB with five streams of text
  copies: [`set global allocator_bulk_deallocation_flush_threshold = '4MB'`],
};

/** Settings of each connection. A copy prints rows in their order, and the engine's joins and filters would let full batches pass those of few rows. */
const SESSION: Record<'reads' | 'copies', readonly string[]> = { reads: [], copies: ['set enable_caching_operators = false'] };

/** Settings with which a connection counts what it has read. The engine would count only in statements that take more than two seconds. */
const TELLING = ['set enable_progress_bar = true', 'set enable_progress_bar_print = false', 'set progress_bar_time = 0'];

/** Opens and hardens an engine: no network, no extensions, no file outside the lake and a private folder, settings locked. */
export async function openEngine(
  use: keyof typeof SETTINGS,
  { scratch, lake, threads, memoryLimit, connections, tellsReading }: EngineOptions,
): Promise<Engine> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: memoryLimit,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  // the order matters: a folder is refused once external access is off
  await connection.run(`set global temp_directory = ${quoteText(join(scratch, `spill-${use}`))}`);
  await connection.run(`set global allowed_directories = [${quoteText(`${scratch}/`)}, ${quoteText(`${lake}/`)}]`);
  await connection.run(`set global timezone = 'UTC'`);
  for (const setting of [...GIVE_BACK, ...SETTINGS[use]]) await connection.run(setting);
  // files never change: a footer is read once, and kept within the memory limit while nothing else needs the room
  await connection.run('set global parquet_metadata_cache = true');
  // the operating system caches files that are read often; each engine would keep them once more
  await connection.run('set global enable_external_file_cache = false');
  // our joins have the looked-up rows on the right, which is kept in memory, and the table on the left, where its rows keep their order: the engine must not
  // swap them
  await connection.run(`set global disabled_optimizers = 'build_side_probe_side'`);
  const pool = await DuckDbConnections.open(instance, connections, [...SESSION[use], ...(tellsReading ? TELLING : [])]);
  await connection.run('set global enable_external_access = false');
  await connection.run('set global lock_configuration = true');
  connection.closeSync();
  return {
    connections: pool,
    close: () => {
      pool.close();
      instance.closeSync();
    },
  };
}
