/** Keeps a lake in a folder of this machine. The engine reads the files where they lie. */
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { writeThrough } from '../../../storage/folder.ts';
import { Meter } from '../../../storage/metering.ts';
import type { Stored } from '../../../storage/objects.ts';
import { requireInside, type LakeFiles } from './files.ts';

/** Measures the length and the hash of a body. */
export async function measureBody(body: AsyncIterable<Uint8Array>): Promise<Stored> {
  const meter = new Meter({});
  for await (const _ of meter.pass(body));
  return meter.stored;
}

export function openFolderFiles(lakeFolder: string): LakeFiles {
  const folder = resolve(lakeFolder);
  return {
    folder,
    hold: () => Promise.resolve(() => undefined),
    add: async (files) => {
      const stored: Stored[] = [];
      const folders = new Set<string>();
      for (const { written, path } of files) {
        const full = requireInside(folder, path);
        await writeThrough(written);
        stored.push(await measureBody(createReadStream(written)));
        await mkdir(dirname(full), { recursive: true });
        await rename(written, full);
        for (let at = dirname(full); at.startsWith(folder); at = dirname(at)) folders.add(at);
      }
      for (const each of folders) await writeThrough(each);
      return stored;
    },
    remove: async (paths) => {
      const removed = { files: 0, bytes: 0 };
      for (const path of paths) {
        const full = requireInside(folder, path);
        const size = await stat(full).then(
          (found) => found.size,
          () => undefined,
        );
        if (size === undefined) continue;
        await rm(full, { force: true });
        removed.files += 1;
        removed.bytes += size;
      }
      return removed;
    },
    tidy: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
