import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ParquetFile } from '../../src/lakehouse/engines/parquet/file.ts';
import { STRING } from '../../src/lakehouse/terms/catalog.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parquet-file-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('a file that cannot be begun leaves nothing behind, as one that is closed', async () => {
  const file = await ParquetFile.open(folder, [{ as: 'a', name: 'a', type: STRING }]);
  expect(await readdir(folder)).toHaveLength(1);
  await file.close();
  expect(await readdir(folder)).toEqual([]);
  // no table has no columns
  await expect(ParquetFile.open(folder, [])).rejects.toThrow();
  expect(await readdir(folder)).toEqual([]);
});
