import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errors } from '../../../errors.ts';
import { Kept } from '../../../kept.ts';
import type { LakeFiles } from '../../tables/files/files.ts';
import { openFolderFiles } from '../../tables/files/folder.ts';
import { useSession, type SessionOptions, type StagingArea, type StagingSession } from '../../tables/staging.ts';
import { readSchema } from '../parquet/cut.ts';

interface WriterOptions {
  /** Holds `tables/<experiment id>/<table id>/<file id>.parquet`. */
  lakeFolder: string;
  /** The lake's files. When not given, they are in the folder on this machine alone. */
  files?: LakeFiles;
  /** The folder of source files and spill. `sweepLake` removes source files that a crash left in it. */
  workFolder: string;
  threads?: number;
  /** The memory limit in DuckDB's own words, such as `400MB`. What does not fit is spilled to the work folder. */
  memoryLimit?: string;
  /** Statements that make what every session finds there. */
  functions?: readonly string[];
}

/** Writes tables on one machine, with engines that open at their first use. */
export async function openDuckdbWriter({
  lakeFolder,
  files = openFolderFiles(lakeFolder),
  workFolder,
  threads = 2,
  memoryLimit = '400MB',
  functions = [],
}: WriterOptions): Promise<StagingArea> {
  const lake = resolve(lakeFolder);
  const work = resolve(workFolder);
  await mkdir(join(lake, '.staging'), { recursive: true });
  // a service that nobody uses holds 60 MB less without the engine
  const engineOf = (count: number) =>
    new Kept(async () => (await import('./session.ts')).openWriterEngine(count, { files, lake, work, memoryLimit, functions }));
  const [whole, small] = [engineOf(threads), engineOf(1)];
  let closed = false;
  const session = async (options: SessionOptions = {}): Promise<StagingSession> => {
    if (closed) throw errors.shuttingDown();
    const engine = await (options.small === true ? small : whole).get();
    return engine.session(options.signal);
  };
  return {
    workFolder: work,
    lakeFolder: lake,
    session,
    stage: (request, options = {}) => useSession({ session }, options, (one) => one.stage(request)),
    readColumns: async (path) => {
      const release = await files.hold([join(lake, path)]);
      try {
        return await readSchema(join(lake, path));
      } finally {
        release();
      }
    },
    remove: (paths) => files.remove(paths),
    close: async () => {
      closed = true;
      for (const engine of [whole, small]) (await engine.made)?.close();
    },
  };
}
