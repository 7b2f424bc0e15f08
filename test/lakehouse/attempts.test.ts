import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errors } from '../../src/errors.ts';
import { removeUncommitted, retryUnchanged } from '../../src/lakehouse/tables/attempts.ts';
import { openLake, type Lake } from '../ingest/setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

test('what another was faster in is tried again, so many times, and nothing else is', async () => {
  const seen: number[] = [];
  const failing = (until: number, error: Error) => (tries: number) => {
    seen.push(tries);
    return tries < until ? Promise.reject(error) : Promise.resolve('done');
  };
  expect(await retryUnchanged(3, failing(3, errors.sourceChanged()))).toBe('done');
  await expect(retryUnchanged(3, failing(4, errors.sourceChanged()))).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
  await expect(retryUnchanged(3, failing(2, errors.internal()))).rejects.toMatchObject({ code: 'INTERNAL' });
  expect(seen).toEqual([1, 2, 3, 1, 2, 3, 1]);
});

test('of written files those that no table has are removed', async () => {
  const table = await lake.makeTable();
  await lake.ingest(table, 'csv', [{ path: 'kept.csv', bytes: 'a\n1\n' }]);
  const files = () =>
    readdirSync(lake.deps.staging.lakeFolder, { recursive: true, encoding: 'utf8' }).filter((name) => /^[^.].*\.parquet$/.test(name));
  const [kept = ''] = files();
  const session = await lake.deps.staging.session();
  const select = { sql: `select 'x' as id, timestamp '2026-05-01' as uploaded_at, 1 as a`, values: [] };
  const staged = await session.stage({ tableId: table.id, experimentId: table.experimentId, select, sortColumn: 'uploaded_at' });
  session.close();
  const paths = staged.files.map(({ path }) => path);
  expect(files().sort()).toEqual([kept, ...paths].sort());
  await removeUncommitted(lake.deps, [undefined, staged, { ...staged, files: [{ ...staged.files[0]!, path: kept }] }]);
  expect(files()).toEqual([kept]);
  expect(existsSync(join(lake.deps.staging.lakeFolder, kept))).toBe(true);
});
