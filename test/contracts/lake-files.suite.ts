import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import type { Database } from '../../src/database/database.ts';
import type { LakeFiles } from '../../src/lakehouse/tables/files/files.ts';
import { createTable } from '../../src/lakehouse/tables/manifest.ts';
import { printTableFolder } from '../../src/lakehouse/tables/delta/places.ts';

export const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

export interface OpenedFiles {
  files: LakeFiles;
  db: Database;
  close(): Promise<void>;
}

export interface Made {
  path: string;
  full: string;
  bytes: Buffer;
  experimentId: string;
}

/** Adds a file as a writer does, and names it in the manifest. */
export async function makeFile(
  { files, db }: Pick<OpenedFiles, 'files' | 'db'>,
  bytes: Buffer,
  experimentId = randomUUID(),
): Promise<Made> {
  const { id: tableId } = await createTable(db, { experimentId, kind: 'upload', name: `t_${randomUUID().slice(0, 8)}` });
  const id = randomUUID();
  const folder = join(files.folder, '.staging', randomUUID());
  mkdirSync(folder, { recursive: true });
  const written = join(folder, 'part.parquet');
  writeFileSync(written, bytes);
  const path = `${printTableFolder(experimentId, tableId)}/${id}.parquet`;
  const stored = await files.add([{ written, path }]);
  expect(stored).toEqual([{ byteCount: bytes.length, sha256: digest(bytes) }]);
  expect(existsSync(written)).toBe(false);
  await db.run(sql('test.file')`insert into lake_files (id, table_id, path, row_count, byte_count, sha256, from_version)
    values (${id}, ${tableId}, ${path}, 1, ${bytes.length}, decode(${digest(bytes)}, 'hex'), 1)`);
  return { path, full: join(files.folder, path), bytes, experimentId };
}

/** What the lake's files promise, in a folder and in a bucket. */
export function lakeFilesContract(name: string, open: () => Promise<OpenedFiles>): void {
  describe(name, () => {
    let opened: OpenedFiles;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    test('files that were added are here, as they were written, while they are held', async () => {
      const made = [];
      for (const size of [1, 10_000, 300_000]) made.push(await makeFile(opened, Buffer.alloc(size, `${size} `)));
      const release = await opened.files.hold(made.map(({ full }) => full));
      for (const { full, bytes } of made) expect(readFileSync(full).equals(bytes)).toBe(true);
      release();
      release();
      for (let turn = 0; turn < 3; turn += 1) {
        const again = await opened.files.hold([made[turn]!.full, made[turn]!.full]);
        expect(readFileSync(made[turn]!.full).equals(made[turn]!.bytes)).toBe(true);
        again();
      }
    });

    test('what is removed is gone and counted once, and what was never there is no error', async () => {
      const [gone, stays] = [await makeFile(opened, Buffer.from('gone')), await makeFile(opened, Buffer.from('stays'))];
      expect(await opened.files.remove([gone.path, `tables/${randomUUID()}/x/y.parquet`])).toEqual({ files: 1, bytes: 4 });
      expect(await opened.files.remove([gone.path])).toEqual({ files: 0, bytes: 0 });
      expect(existsSync(gone.full)).toBe(false);
      const release = await opened.files.hold([stays.full]);
      expect(readFileSync(stays.full, 'utf8')).toBe('stays');
      release();
    });

    test('a path that leaves the lake is refused', async () => {
      for (const path of ['../x', 'tables/../../x', '/etc/hostname']) {
        const written = join(opened.files.folder, '.staging', randomUUID());
        mkdirSync(join(opened.files.folder, '.staging'), { recursive: true });
        writeFileSync(written, 'x');
        await expect(opened.files.add([{ written, path }])).rejects.toThrow();
        await expect(opened.files.remove([path])).rejects.toThrow();
      }
      expect(existsSync('/etc/hostname')).toBe(true);
    });

    test('to tidy leaves what experiments with tables have', async () => {
      const made = await makeFile(opened, Buffer.from('here'));
      await opened.files.tidy();
      const release = await opened.files.hold([made.full]);
      expect(readFileSync(made.full, 'utf8')).toBe('here');
      release();
    });
  });
}
