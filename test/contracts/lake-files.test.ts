import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBucketFiles } from '../../src/lakehouse/tables/files/bucket.ts';
import { openFolderFiles } from '../../src/lakehouse/tables/files/folder.ts';
import { openFolderStore } from '../../src/storage/folder.ts';
import { cloneDatabase } from '../support/database.ts';
import { lakeFilesContract } from './lake-files.suite.ts';

lakeFilesContract('a folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-files-'));
  const database = await cloneDatabase();
  return {
    files: openFolderFiles(folder),
    db: database.db,
    close: async () => {
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});

// over a real bucket: test/conformance/lake-bucket.test.ts
lakeFilesContract('copies of a store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-files-'));
  const database = await cloneDatabase();
  const store = await openFolderStore({ folder: join(folder, 'store'), secret: Buffer.alloc(32, 3), baseUrl: () => '' });
  const files = await openBucketFiles({ store, db: database.db, cacheFolder: join(folder, 'cache'), cacheBytes: 400_000 });
  return {
    files,
    db: database.db,
    close: async () => {
      await files.close();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
