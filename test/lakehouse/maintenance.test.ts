import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, mkdirSync, renameSync, writeFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compactTables, type Rests } from '../../src/api/data/compaction.service.ts';
import type { Database } from '../../src/database/database.ts';
import { openDuckdbWriter } from '../../src/lakehouse/engines/duckdb/write.ts';
import { printTableFolder } from '../../src/lakehouse/tables/delta/places.ts';
import { compactTable, listFragmentedTables, sweepLake } from '../../src/lakehouse/tables/maintenance.ts';
import { findTableById, listFiles } from '../../src/lakehouse/tables/manifest.queries.ts';
import { openLake, type Lake } from '../ingest/setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const files = async (id: string) => {
  const table = (await findTableById(lake.db, id))!;
  return listFiles(lake.db, id, table.version);
};

test('compaction makes few disjoint files of many, keeps every row, also of widened columns, and readers never miss or double one', async () => {
  const table = await lake.makeTable();
  for (let file = 0; file < 13; file += 1) {
    const value = file === 4 ? '0.5' : file === 6 ? 'n/a' : String(file);
    await lake.ingest(table, 'csv', [{ path: `${file}.csv`, bytes: `a,b${file}\n${value},x\n${file},\n` }]);
  }
  const before = await lake.rows(table.id);
  expect(before).toHaveLength(26);
  // the first four were written anew as one, when the fifth made whole numbers fractions
  expect((await files(table.id)).length).toBe(10);
  expect(await listFragmentedTables(lake.db)).toMatchObject([{ id: table.id, kind: 'upload', smallFiles: 10 }]);

  const counts = new Set<number>();
  let reading = true;
  const reads = (async () => {
    while (reading) counts.add((await lake.rows(table.id)).length);
  })();
  expect(await compactTable(lake.deps, table.id, { sortColumn: 'uploaded_at' })).toEqual({ before: 10, after: 1 });
  reading = false;
  await reads;
  expect([...counts]).toEqual([26]);
  expect(await lake.rows(table.id)).toEqual(before);
  expect(await compactTable(lake.deps, table.id, { sortColumn: 'uploaded_at' })).toEqual({ before: 0, after: 0 });
});

test('compaction that meets another writer leaves the table as that one made it', async () => {
  const table = await lake.makeTable();
  for (let file = 0; file < 3; file += 1) await lake.ingest(table, 'csv', [{ path: `${file}.csv`, bytes: `a\n${file}\n` }]);
  const [first, second] = await Promise.all([
    compactTable(lake.deps, table.id, { sortColumn: 'uploaded_at' }),
    compactTable(lake.deps, table.id, { sortColumn: 'uploaded_at' }),
  ]);
  expect(first.before + second.before).toBe(3);
  expect((await lake.rows(table.id)).map(({ a }) => a)).toHaveLength(3);
  expect(readdirSync(join(lake.folder, 'lake', printTableFolder(table.experimentId, table.id)))).toHaveLength(4);
});

test('compaction that can neither commit nor look what became of that throws why it could not commit', async () => {
  const table = await lake.makeTable();
  for (let file = 0; file < 3; file += 1) await lake.ingest(table, 'csv', [{ path: `${file}.csv`, bytes: `a\n${file}\n` }]);
  let isLost = false;
  const losing: Database = {
    ...lake.db,
    transaction: () => {
      isLost = true;
      return Promise.reject(new Error('not committed'));
    },
    rows: (query) => (isLost ? Promise.reject(new Error('not found out')) : lake.db.rows(query)),
  };
  const { staging } = lake.deps;
  await expect(compactTable({ db: losing, staging }, table.id, { sortColumn: 'uploaded_at' })).rejects.toThrow('not committed');
  expect(await compactTable({ db: lake.db, staging }, table.id, { sortColumn: 'uploaded_at' })).toEqual({ before: 3, after: 1 });
});

test('a table whose file is lost is told of, and holds back no other', async () => {
  const tables = [await lake.makeTable(), await lake.makeTable()] as const;
  for (const [at, table] of tables.entries())
    for (let file = 0; file < 4 - at; file += 1) await lake.ingest(table, 'csv', [{ path: `${file}.csv`, bytes: `a\n${file}\n` }]);
  const [broken, whole] = tables;
  const lost = join(lake.folder, 'lake', (await files(broken.id))[0]!.path);
  renameSync(lost, `${lost}.away`);
  const failed: string[] = [];
  const compact = () => compactTables(lake.deps, { atLeast: 2, limit: 100, onFailure: (tableId) => failed.push(tableId) });
  // the table with more files comes first
  expect((await compact()).map(({ tableId }) => tableId)).toEqual([whole.id]);
  expect(failed).toEqual([broken.id]);
  renameSync(`${lost}.away`, lost);
  expect(await compact()).toEqual([{ tableId: broken.id, before: 4, after: 1 }]);
  expect(failed).toEqual([broken.id]);
});

test('tables that fail each time rest longer and longer, and hold back no other that has fewer files', async () => {
  const tables = [await lake.makeTable(), await lake.makeTable()] as const;
  for (const [at, table] of tables.entries())
    for (let file = 0; file < 4 - at; file += 1) await lake.ingest(table, 'csv', [{ path: `${file}.csv`, bytes: `a\n${file}\n` }]);
  const [broken, whole] = tables;
  const lost = join(lake.folder, 'lake', (await files(broken.id))[0]!.path);
  renameSync(lost, `${lost}.away`);
  const failed: string[] = [];
  const rests: Rests = new Map();
  const onFailure = (tableId: string) => failed.push(tableId);
  // one place, which the table with more files takes as long as it is looked at
  const compact = () => compactTables(lake.deps, { atLeast: 2, limit: 1, rests, onFailure });
  expect(await compact()).toEqual([]);
  expect(await compact()).toEqual([{ tableId: whole.id, before: 3, after: 1 }]);
  expect(failed).toEqual([broken.id]);
  const minutes = () => Math.round((rests.get(broken.id)!.until - performance.now()) / 30_000) / 2;
  const waited: number[] = [minutes()];
  for (let time = 1; time < 13; time += 1) {
    rests.get(broken.id)!.until = 0;
    await compact();
    waited.push(minutes());
  }
  expect(waited).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_440, 1_440].map((most) => most - 0.5));
  rests.get(broken.id)!.until = 0;
  renameSync(`${lost}.away`, lost);
  expect(await compact()).toEqual([{ tableId: broken.id, before: 4, after: 1 }]);
  expect(rests.size).toBe(0);
});

test('rows too wide to be written anew together are written in smaller files, which are then left alone', async () => {
  const table = await lake.makeTable();
  // 16 MiB a file, each text another one
  for (let file = 0; file < 6; file += 1) {
    const rows = Array.from({ length: 8 }, () => randomBytes(1_000_000).toString('hex'));
    await lake.ingest(table, 'csv', [{ path: `${file}.csv`, bytes: `a\n${rows.join('\n')}\n` }]);
  }
  const staging = await openDuckdbWriter({
    lakeFolder: join(lake.folder, 'lake'),
    workFolder: join(lake.folder, 'work'),
    memoryLimit: '150MB',
  });
  const outOfMemory: string[] = [];
  const rowsPerFile = new Map<string, number>();
  const compact = () =>
    compactTables(
      { db: lake.db, staging },
      { atLeast: 2, limit: 100, rowsPerFile, onFailure: (_, error) => outOfMemory.push(String(error)) },
    );
  await compact();
  expect(outOfMemory).toMatchObject([expect.stringContaining('Out of Memory')]);
  for (let time = 0; time < 9 && outOfMemory.length > 0; time += 1) {
    outOfMemory.length = 0;
    await compact();
  }
  expect(outOfMemory).toEqual([]);
  const written = await files(table.id);
  expect(written.length).toBeLessThan(6);
  expect(await compact()).toEqual([]);
  expect(outOfMemory).toEqual([]);
  expect(await files(table.id)).toEqual(written);
  expect(written.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(48);
  await staging.close();
});

test('retired files stay while a version that reads them is kept, then go; what nothing names goes when it is old', async () => {
  const table = await lake.makeTable();
  await lake.ingest(table, 'csv', [{ path: 'a.csv', bytes: 'a\n1\n' }]);
  await lake.ingest(table, 'csv', [{ path: 'b.csv', bytes: 'a\n2\n' }]);
  const [one] = await files(table.id);
  await compactTable(lake.deps, table.id, { sortColumn: 'uploaded_at' });
  const orphan = join(lake.folder, 'lake', printTableFolder(table.experimentId, table.id), 'orphan.parquet');
  writeFileSync(orphan, 'x');
  const fresh = join(lake.folder, 'lake', '.staging', 'fresh');
  mkdirSync(fresh);
  const id = join(lake.folder, 'lake', 'id');
  writeFileSync(id, 'of the lake');
  const old = new Date(Date.now() - 7_200_000);
  for (const path of [orphan, id]) utimesSync(path, old, old);

  expect(await sweepLake(lake.deps, { retentionMs: 86_400_000, graceMs: 3_600_000 })).toMatchObject({
    versions: 0,
    retired: 0,
    orphans: 1,
  });
  expect(existsSync(orphan)).toBe(false);
  expect(existsSync(id)).toBe(true);
  expect(existsSync(fresh)).toBe(true);
  expect(existsSync(join(lake.folder, 'lake', one!.path))).toBe(true);
  expect(await lake.rows(table.id, 2)).toHaveLength(2);

  const later = await sweepLake(lake.deps, { retentionMs: 0, graceMs: 3_600_000, now: Date.now() + 1_000 });
  expect(later.retired).toBeGreaterThanOrEqual(2);
  expect(existsSync(join(lake.folder, 'lake', one!.path))).toBe(false);
  expect((await lake.rows(table.id)).map(({ a }) => a).sort()).toEqual([1, 2]);
});
