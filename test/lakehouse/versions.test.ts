import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { INT } from '../../src/lakehouse/terms/catalog.ts';
import { commit } from '../../src/lakehouse/tables/manifest.ts';
import type { Queryable } from '../../src/lakehouse/tables/manifest.queries.ts';
import { Versions } from '../../src/lakehouse/tables/versions.ts';
import { openLake, type Lake } from '../ingest/setup.ts';
import { EXPERIMENT, uploaded } from './support.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

/** A table, each of whose versions has one file more. */
async function makeTable(versions: number): Promise<string> {
  const { id } = await lake.makeTable(EXPERIMENT);
  const columns = [{ ...uploaded('n', INT), hasValues: true, exactDouble: true }];
  for (let version = 1; version <= versions; version += 1) {
    const select = `select '${version}' as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at, ${version} as n`;
    const { files } = await lake.staging.stage({
      ...{ tableId: id, experimentId: EXPERIMENT, sortColumn: 'uploaded_at' },
      select: { sql: select, values: [] },
    });
    await lake.db.transaction((tx) => commit(tx, { tableId: id, cause: 'ingest', files, columns }));
  }
  return id;
}

/** A database that counts its statements, and refuses them while it is told to. */
function watched() {
  const state = { statements: 0, refuses: false };
  const db = Object.create(lake.db, {
    rows: {
      value: async (...asked: Parameters<Queryable['rows']>) => {
        state.statements += 1;
        if (state.refuses) throw new Error('the database is away');
        return lake.db.rows(...asked);
      },
    },
  }) as Queryable;
  return { db, state };
}

const above = (from: number) => ({
  values: null,
  ranges: { ranges: [{ column: 'n', storedAs: 'int32' as const, from, to: Infinity }], isWhole: true },
});

test('a version is asked for once, however many read it, and the next one is another', async () => {
  const id = await makeTable(3);
  const { db, state } = watched();
  const versions = new Versions({ db, lakeFolder: join(lake.folder, 'lake') });
  const read = await Promise.all([versions.parts(id, 2), versions.parts(id, 2), versions.parts(id, 2)]);
  expect(state.statements).toBe(2);
  expect(read.map(({ files }) => files.length)).toEqual([2, 2, 2]);
  expect(read[0].files).toEqual(read[0].extents.map(({ path }) => path).reverse());
  expect(read[0].columns).toMatchObject([{ name: 'n', type: INT }]);
  const rows = async (version: number, from: number) => [...(await versions.keptRows(id, version, above(from))).values()].sort();
  expect([await rows(2, 2), await rows(2, 3), await rows(2, -5)]).toEqual([
    [0, 1],
    [0, 0],
    [1, 1],
  ]);
  expect(state.statements).toBe(3);
  expect((await versions.parts(id, 3)).files).toHaveLength(3);
  expect(await rows(3, 3)).toEqual([0, 0, 1]);
  expect(state.statements).toBe(6);
});

test('what could not be asked for is asked for again', async () => {
  const id = await makeTable(1);
  const { db, state } = watched();
  const versions = new Versions({ db, lakeFolder: lake.folder });
  state.refuses = true;
  await expect(versions.parts(id, 1)).rejects.toThrow('away');
  await expect(versions.keptRows(id, 1, above(0))).rejects.toThrow('away');
  state.refuses = false;
  expect((await versions.parts(id, 1)).files).toHaveLength(1);
  expect((await versions.keptRows(id, 1, above(0))).size).toBe(1);
});

test('so many columns and files are kept at most, and the version that was read last stays longest', async () => {
  const id = await makeTable(4);
  const { db, state } = watched();
  const versions = new Versions({ db, lakeFolder: lake.folder, most: 11 });
  for (const version of [1, 2, 3]) await versions.parts(id, version);
  expect(versions.weight).toBeLessThanOrEqual(11);
  await versions.parts(id, 2);
  const before = state.statements;
  await versions.parts(id, 2);
  await versions.parts(id, 3);
  expect(state.statements).toBe(before);
  await versions.parts(id, 4);
  expect(versions.weight).toBeLessThanOrEqual(11);
  await versions.parts(id, 1);
  expect(state.statements).toBe(before + 4);
  // larger than everything that may be kept
  const small = new Versions({ db, lakeFolder: lake.folder, most: 2 });
  expect((await small.parts(id, 4)).files).toHaveLength(4);
  expect(small.weight).toBe(0);
});
