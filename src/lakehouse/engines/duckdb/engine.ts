import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { quoteText } from '../../terms/quoting.ts';
import { DuckDbConnections } from './connections.ts';

interface EngineOptions {
  /** A private folder for spilling and pipes. */
  scratch: string;
  lake: string;
  threads: number;
  /** Such as `2GB`; the engine spills beyond it and never exceeds it by much. */
  memoryLimit: string;
  connections: number;
  /** Whether statements say how far they are in reading. */
  tellsReading: boolean;
}

/** What a statement has let go of returns to the machine while the next ones run, instead of being kept for them beside what they take. */
export const GIVE_BACK = ['set global allocator_background_threads = true', `set global allocator_flush_threshold = '1MB'`] as const;

export interface Engine {
  connections: DuckDbConnections;
  close(): void;
}

/** What the engine of a use has besides; the other settings are the same. */
const SETTINGS: Record<'reads' | 'copies', readonly string[]> = {
  // what a read lets go of returns to the machine soon enough: at once, it took 17 of 100 ms
  reads: [],
  // a copy lets go of as much as it writes, for minutes, and what stays stands beside what the others take: 40 MB of five streams of text
  copies: [`set global allocator_bulk_deallocation_flush_threshold = '4MB'`],
};

/** Settings of a connection that keeps count of what it has read; the engine would count only what takes more than two seconds. */
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
  // the machine keeps the bytes of files that are read often; every engine would keep them once more
  await connection.run('set global enable_external_file_cache = false');
  // plans put what is looked up on the right, where it is kept in memory: never the table itself, whose rows keep their order on the left
  await connection.run(`set global disabled_optimizers = 'build_side_probe_side'`);
  const pool = await DuckDbConnections.open(instance, connections, tellsReading ? TELLING : []);
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
