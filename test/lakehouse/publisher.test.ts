import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { findLag, LogTaken, publishTable, publishWaiting } from '../../src/lakehouse/tables/delta/publisher.ts';
import { printEntryKey, printTableFolder } from '../../src/lakehouse/tables/delta/places.ts';
import { startLogs } from '../../src/lakehouse/tables/delta/starting.ts';
import { compactTable, sweepLake } from '../../src/lakehouse/tables/maintenance.ts';
import { commit, listFilesAt, eraseTables } from '../../src/lakehouse/tables/manifest.ts';
import { findTableById } from '../../src/lakehouse/tables/manifest.queries.ts';
import { INT, STRING } from '../../src/lakehouse/terms/catalog.ts';
import type { ObjectStore } from '../../src/storage/objects.ts';
import { openLake, type Lake } from '../ingest/setup.ts';
import { seedRandomTests } from '../support/random.ts';
import { entryOf, replay, snapshotAt, snapshotFromCheckpoint, versionsIn } from './log-reader.ts';
import { uploaded } from './support.ts';

seedRandomTests();
let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

type Table = Awaited<ReturnType<Lake['makeTable']>>;
const folderOf = ({ experimentId, id }: Table) => join(lake.folder, 'lake', printTableFolder(experimentId, id));
const csv = (table: Table, name: string, bytes: string) => lake.ingest(table, 'csv', [{ path: `${name}.csv`, bytes }]);
const publish = () => publishWaiting(lake.deps, { onProblem: (_id, error) => expect.unreachable(String(error)) });
const versionOf = async ({ id }: Table) => (await findTableById(lake.db, id))!.version;

const DELTA_OF: Record<string, string> = {
  BOOLEAN: 'boolean',
  INT32: 'integer',
  INT64: 'long',
  DOUBLE: 'double',
  BYTE_ARRAY: 'string',
};

interface Held {
  columns: Record<string, string | null>[];
  /** Of each column, by its name. */
  facts: Map<string, { low: unknown; high: unknown; nulls: number }>;
}

async function readHeld(path: string): Promise<Held> {
  const rows = async (statement: string) =>
    (await lake.reader.runAndReadAll(statement)).getRowObjectsJson() as Record<string, string | number | null>[];
  const columns = (await rows(
    `select name, type, converted_type, logical_type from parquet_schema('${path}') where type is not null`,
  )) as Held['columns'];
  const asked = columns.map(({ name }, at) => {
    const quoted = `"${String(name).replaceAll('"', '""')}"`;
    return `min(${quoted}) as low${at}, max(${quoted}) as high${at}, count(*) filter (where ${quoted} is null) as nulls${at}`;
  });
  const [row] = await rows(`select ${asked.join(', ')} from read_parquet('${path}')`);
  const facts = columns.map(
    ({ name }, at) => [String(name), { low: row![`low${at}`], high: row![`high${at}`], nulls: Number(row![`nulls${at}`]) }] as const,
  );
  return { columns, facts: new Map(facts) };
}

const held = new Map<string, Promise<Held>>();
/** What the bytes of a file hold, which is looked for once, as no file changes. */
function findHeld(path: string): Promise<Held> {
  const found = held.get(path) ?? readHeld(path);
  held.set(path, found);
  return found;
}

/** What the log says of a version, held against the manifest and the bytes of the files. */
async function compareVersion(table: Table, version: number): Promise<void> {
  const folder = folderOf(table);
  const said = snapshotAt(folder, version);
  const files = await listFilesAt(lake.db, table.id, version);
  expect([...said.files.keys()].sort()).toEqual(files.map(({ id }) => `${id}.parquet`).sort());
  const types = new Map(said.schema.map(({ name, type }) => [name, type]));
  expect(new Set([...types.keys()].map((name) => name.toLowerCase())).size).toBe(types.size);
  for (const { id, rowCount, byteCount } of files) {
    const logged = said.files.get(`${id}.parquet`)!;
    expect([logged.size, logged.stats.numRecords]).toEqual([byteCount, rowCount]);
    const path = join(folder, `${id}.parquet`);
    const { columns, facts } = await findHeld(path);
    for (const { name, type, converted_type: converted } of columns) {
      const logged = types.get(String(name));
      expect(logged, `${String(name)} of ${path}`).toBeDefined();
      if (converted === 'DATE') expect(logged).toBe('date');
      else if (String(converted).startsWith('TIMESTAMP')) expect(String(logged)).toMatch(/^timestamp/);
      else if (converted !== 'DECIMAL') expect(logged, String(name)).toBe(DELTA_OF[String(type)]);
    }
    // bounds are values that occur, or times around them
    for (const [name, low] of Object.entries<any>(logged.stats.minValues)) {
      const high = logged.stats.maxValues[name];
      const isTime = String(types.get(name)).startsWith('timestamp');
      const row = facts.get(name);
      expect(row!.nulls, name).toBe(logged.stats.nullCount[name]);
      if (!isTime) expect([String(low), String(high)], name).toEqual([String(row!.low), String(row!.high)]);
      else {
        const micros = (text: unknown) => Date.parse(String(text).replace(' ', 'T').replace(/\+00$/, '').replace(/Z?$/, 'Z')) * 1000;
        expect(micros(low)).toBeLessThanOrEqual(micros(row!.low));
        expect(micros(high)).toBeGreaterThanOrEqual(micros(row!.high));
        expect(logged.stats.tightBounds).toBe(false);
      }
    }
  }
}

test('a log begins with the first file, has an entry for each version, and says what the manifest says', async () => {
  const table = await lake.makeTable();
  await csv(table, 'bad', '');
  expect(await publish()).toBe(0);
  expect(versionsIn(folderOf(table))).toEqual([]);
  await csv(table, 'a', 'n,at,day,text,big\n1,2026-05-01T10:00:00.123456Z,2026-05-01,x,9007199254740993\n2,,,,\n');
  await csv(table, 'b', 'n,extra\n3,true\n');
  await publish();
  const last = await versionOf(table);
  expect(versionsIn(folderOf(table))).toEqual(Array.from({ length: last + 1 }, (_, at) => at));
  for (let version = 0; version <= last; version += 1) await compareVersion(table, version);
  const { protocol, configuration, schema } = snapshotAt(folderOf(table), last);
  expect(protocol).toEqual({ minReaderVersion: 1, minWriterVersion: 7, writerFeatures: [] });
  expect(configuration['delta.deletedFileRetentionDuration']).toBe('interval 60 days');
  expect(schema.map(({ name }) => name)).toContain('extra');
  expect(await findLag(lake.db)).toEqual({ entries: 0, seconds: 0 });
});

test('a widening is one version that writes older files anew, and no reader meets two types of a column', async () => {
  const table = await lake.makeTable();
  await csv(table, 'a', 'n,day,m\n1,2026-05-01,1\n');
  await csv(table, 'b', 'n\n2\n');
  await csv(table, 'c', 'n,day,m\n0.5,2026-05-02T10:00:00,12345678901234567890.5\n');
  await publish();
  const last = await versionOf(table);
  for (let version = 0; version <= last; version += 1) await compareVersion(table, version);
  const actions = entryOf(folderOf(table), last);
  expect(actions.filter(({ remove }) => remove).length).toBe(2);
  expect(actions.find(({ metaData }) => metaData)).toBeDefined();
  expect(actions.find(({ protocol }) => protocol)?.['protocol']).toEqual({
    minReaderVersion: 3,
    minWriterVersion: 7,
    readerFeatures: ['timestampNtz'],
    writerFeatures: ['timestampNtz'],
  });
  const schema = Object.fromEntries(snapshotAt(folderOf(table), last).schema.map(({ name, type }) => [name, type]));
  expect(schema).toMatchObject({ n: 'double', day: 'timestamp_ntz', m: expect.stringMatching(/^decimal\(38,/) as string });
  expect((await lake.rows(table.id)).map(({ n }) => n).sort()).toEqual([0.5, 1, 2]);
});

test('compaction says that no row changed; a name that needs it brings column mapping, and ids stay', async () => {
  const table = await lake.makeTable();
  await csv(table, 'a', 'n\n1\n');
  await csv(table, 'b', 'n,"leaf area (cm2)"\n2,0.5\n');
  await csv(table, 'c', 'n,"x=y"\n3,1\n');
  await compactTable(lake.deps, table.id, { sortColumn: 'uploaded_at' });
  await publish();
  const last = await versionOf(table);
  for (let version = 0; version <= last; version += 1) await compareVersion(table, version);
  const changes = entryOf(folderOf(table), last).flatMap(({ add, remove }) => (add ?? remove)?.dataChange ?? []);
  expect(new Set(changes)).toEqual(new Set([false]));
  const idsAt = (version: number) =>
    Object.fromEntries(snapshotAt(folderOf(table), version).schema.map(({ name, metadata }) => [name, metadata['delta.columnMapping.id']]));
  const [before, after] = [idsAt(last - 2), idsAt(last)];
  expect(after).toMatchObject(before);
  expect(new Set(Object.values(after)).size).toBe(Object.keys(after).length);
  const { configuration } = snapshotAt(folderOf(table), last);
  expect(Number(configuration['delta.columnMapping.maxColumnId'])).toBe(Math.max(...(Object.values(after) as number[])));
});

test('two publishers at once, a put that was made and not noted, and a restart write each entry once, with the same bytes', async () => {
  const table = await lake.makeTable();
  for (let file = 0; file < 4; file += 1) await csv(table, String(file), `n\n${file}\n`);
  const made: string[] = [];
  // the process ends between a put and the note of it
  const dying: ObjectStore = {
    ...lake.deps.lake,
    create: async (key, bytes) => {
      await lake.deps.lake.create(key, bytes);
      made.push(key);
      if (made.length === 3) throw new Error('killed');
      return true;
    },
  };
  await expect(publishTable({ ...lake.deps, lake: dying }, table.id)).rejects.toThrow('killed');
  expect(made).toHaveLength(3);
  const before = made.map((key) => readFileSync(join(lake.folder, 'lake', key), 'utf8'));
  const [one, two] = await Promise.all([publishTable(lake.deps, table.id), publishTable(lake.deps, table.id)]);
  expect([one, two].sort()).toEqual([0, 5]);
  expect(made.map((key) => readFileSync(join(lake.folder, 'lake', key), 'utf8'))).toEqual(before);
  expect(versionsIn(folderOf(table))).toEqual([0, 1, 2, 3, 4]);
  await compareVersion(table, 4);
  expect(await publishTable(lake.deps, table.id)).toBe(0);
});

test("an entry that someone else has written is left as it is; the table's log goes no further, and others do", async () => {
  const [table, other] = [await lake.makeTable(), await lake.makeTable()];
  await csv(table, 'a', 'n\n1\n');
  await publish();
  const key = printEntryKey(printTableFolder(table.experimentId, table.id), 2);
  const path = join(lake.folder, 'lake', key);
  writeFileSync(path, '{"commitInfo":{"operation":"VACUUM"}}\n');
  await csv(table, 'b', 'n\n2\n');
  await csv(table, 'c', 'n\n3\n');
  await csv(other, 'a', 'n\n1\n');
  const problems: unknown[] = [];
  await publishWaiting(lake.deps, { onProblem: (id, error) => problems.push([id, error]) });
  expect(problems).toEqual([[table.id, expect.any(LogTaken)]]);
  expect(readFileSync(path, 'utf8')).toBe('{"commitInfo":{"operation":"VACUUM"}}\n');
  expect(versionsIn(folderOf(table))).toEqual([0, 1, 2]);
  expect(versionsIn(folderOf(other))).toEqual([0, 1]);
  expect((await findLag(lake.db))?.entries).toBe(2);
  // rows are where they were for our own readers
  expect(await lake.rows(table.id)).toHaveLength(3);
  await eraseTables(lake.deps, table.experimentId);
});

test('a hundred tables that cannot be published do not hold up the others', async () => {
  const table = await lake.makeTable();
  const stuck = Array.from({ length: 100 }, () => randomUUID());
  await lake.db.run(sql('test.stuckTables')`with made as (
      insert into lake_tables (id, experiment_id, kind, identifier) select id, ${table.experimentId}, 'macro', id::text from unnest(${stuck}::uuid[]) as id returning id
    ) insert into lake_log (table_id, version, entry) select id, 0, '' from made`);
  await csv(table, 'a', 'n\n1\n');
  const create: ObjectStore['create'] = (key, bytes) =>
    stuck.some((id) => key.includes(id)) ? Promise.reject(new Error('away')) : lake.deps.lake.create(key, bytes);
  const failed: string[] = [];
  await publishWaiting({ ...lake.deps, lake: { ...lake.deps.lake, create } }, { onProblem: (id) => failed.push(id) });
  expect(failed.sort()).toEqual(stuck.sort());
  expect(versionsIn(folderOf(table))).toEqual([0, 1]);
  await eraseTables(lake.deps, table.experimentId);
});

test('an erased experiment leaves no key, whatever was published of it', async () => {
  const table = await lake.makeTable();
  await csv(table, 'a', 'n\n1\n');
  await publish();
  await csv(table, 'b', 'n\n2\n');
  const keys = async () =>
    (await readdir(join(lake.folder, 'lake'), { recursive: true, withFileTypes: true })).filter(
      (entry) => entry.isFile() && entry.parentPath.includes(table.experimentId),
    );
  expect((await keys()).length).toBe(4);
  expect(await eraseTables(lake.deps, table.experimentId)).toMatchObject({ rows: 2 });
  expect(await keys()).toEqual([]);
  expect(await publishTable(lake.deps, table.id)).toBe(0);
  expect(await keys()).toEqual([]);
});

/** Files of one row each, staged as an upload stages its rows: their columns need no types found. */
const stageFiles = (table: Table, count: number, listTexts: (file: number) => string[] = () => []) =>
  Promise.all(
    Array.from({ length: count }, async (_, file) => {
      const texts = listTexts(file);
      const values = [`${file}::integer as n`, ...texts.map((name) => `'x' as ${name}`)];
      const select = `select md5('${file}') as id, timestamptz '2026-05-01 00:00:00+00' + interval (${file}) second as uploaded_at,
        '${table.experimentId}' as experiment_id, 'upload' as upload_id, null::varchar as contributor_id, ${values.join(', ')}`;
      const columns = [uploaded('n', INT), ...texts.map((name) => uploaded(name, STRING))];
      const { files } = await lake.staging.stage({
        tableId: table.id,
        experimentId: table.experimentId,
        select: { sql: select, values: [] },
        sortColumn: 'uploaded_at',
      });
      return {
        tableId: table.id,
        cause: 'ingest' as const,
        columns: columns.map((column) => ({ ...column, hasValues: true, exactDouble: true })),
        files,
      };
    }),
  );

test('every fifty versions a checkpoint says what the entries before it say', async () => {
  const table = await lake.makeTable();
  const files = await stageFiles(table, 55, (file) => [`k${file % 3}`]);
  for (const [file, added] of files.entries()) {
    await lake.db.transaction((tx) => commit(tx, added));
    if (file % 20 === 19) await compactTable(lake.deps, table.id, { sortColumn: 'uploaded_at' });
  }
  await publish();
  const last = await versionOf(table);
  expect(last).toBeGreaterThan(55);
  const [whole, short] = [snapshotAt(folderOf(table), last), await snapshotFromCheckpoint(lake.reader, folderOf(table), last)];
  expect(short.schema).toEqual(whole.schema);
  expect(short.configuration).toEqual(whole.configuration);
  expect([...short.files].sort()).toEqual([...whole.files].sort());
  expect(short.protocol).toMatchObject({ minReaderVersion: 1, minWriterVersion: 7 });
});

test('a checkpoint is made where the sweep removes what a crash leaves', async () => {
  const table = await lake.makeTable();
  for (const added of await stageFiles(table, 55)) await lake.db.transaction((tx) => commit(tx, added));
  const { workFolder } = lake.deps.staging;
  const before = await readdir(workFolder);
  const during: string[][] = [];
  const dying: ObjectStore = {
    ...lake.deps.lake,
    put: async () => {
      during.push(await readdir(workFolder), await readdir(join(workFolder, 'ingest')));
      throw new Error('killed');
    },
  };
  await expect(publishTable({ ...lake.deps, lake: dying }, table.id)).rejects.toThrow('killed');
  const [work = [], swept = []] = during;
  expect(work.filter((name) => name !== 'ingest' && !before.includes(name))).toEqual([]);
  expect(swept).toHaveLength(1);
  expect(await publishTable(lake.deps, table.id)).toBeGreaterThan(50);
});

test('entries of versions that are not kept go, back to the checkpoint that a reader of the oldest kept version begins with', async () => {
  const table = await lake.makeTable();
  for (const added of await stageFiles(table, 110)) await lake.db.transaction((tx) => commit(tx, added));
  await publish();
  const last = await versionOf(table);
  const sweep = (mostVersions: number) => sweepLake(lake.deps, { retentionMs: 86_400_000, mostVersions, graceMs: 86_400_000 });
  expect((await sweep(1_000)).entries).toBe(0);
  // kept: the newest 40 and the current one, so that the oldest lies behind version 50
  expect(await sweep(40)).toMatchObject({ entries: 50 });
  expect(versionsIn(folderOf(table))).toEqual(Array.from({ length: last - 49 }, (_, at) => 50 + at));
  const said = await snapshotFromCheckpoint(lake.reader, folderOf(table), last);
  expect(said.files.size).toBe((await listFilesAt(lake.db, table.id, last)).length);
  expect((await sweep(2)).entries).toBeGreaterThanOrEqual(51);
  expect(versionsIn(folderOf(table))[0]).toBe(100);
  expect((await sweep(2)).entries).toBe(0);
  await csv(table, 'more', 'n\n1\n');
  await publish();
  expect(versionsIn(folderOf(table)).at(-1)).toBe(last + 1);
});

test('whatever is uploaded, widened and compacted: each version of the log is that version of the manifest', async () => {
  const cell = fc.constantFrom(
    '1',
    '2147483648',
    '9007199254740993',
    '0.5',
    '1e300',
    '',
    'x',
    'true',
    '2026-05-01',
    '2026-05-01T10:00:00',
    '2026-05-01T10:00:00.0005Z',
    '12345678901234567890.25',
  );
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        columns: fc.subarray(['a', 'b', 'c d', 'e'], { minLength: 1 }),
        rows: fc.array(fc.tuple(cell, cell, cell, cell), { minLength: 1, maxLength: 4 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant('compact' as const) },
    { weight: 1, arbitrary: fc.constant('publish' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const table = await lake.makeTable();
      for (const each of steps) {
        if (each === 'publish') await publish();
        else if (each === 'compact') await compactTable(lake.deps, table.id, { sortColumn: 'uploaded_at' });
        else
          await csv(
            table,
            randomUUID(),
            `${each.columns.join()}\n${each.rows.map((row) => row.slice(0, each.columns.length).join()).join('\n')}\n`,
          );
      }
      await publish();
      if (versionsIn(folderOf(table)).length === 0) return;
      const last = await versionOf(table);
      for (let version = 0; version <= last; version += 1) await compareVersion(table, version);
      await lake.db.run(sql('test')`delete from lake_tables where id = ${table.id}`);
    }),
    { numRuns: Number(process.env['SOAK'] ?? 0.1) * 100 },
  );
});

test('a lake of before there were logs gets them: files in their places, one type a column, and a log that begins with a checkpoint', async () => {
  const table = await lake.makeTable();
  const { experimentId, id } = table;
  await csv(table, 'a', 'n,day\n1,2026-05-01\n');
  await csv(table, 'b', 'n\n2\n');
  const [older] = await listFilesAt(lake.db, id, 1);
  await csv(table, 'c', 'n\n0.5\n');
  // as it was: a file with the older type is live, files lie in another folder, and there is no log
  const last = await versionOf(table);
  const rewritten = (await listFilesAt(lake.db, id, last)).filter(({ rowCount }) => rowCount === 2).map((file) => file.id);
  await lake.db.run(sql('test')`delete from lake_files where id = any (${rewritten}::uuid[])`);
  await lake.db.run(sql('test')`update lake_files set to_version = null, retired_at = null where table_id = ${id}`);
  await lake.db.run(sql('test')`delete from lake_log where table_id = ${id}`);
  const old = join(lake.folder, 'lake', id);
  mkdirSync(old);
  for (const file of await listFilesAt(lake.db, id, last)) {
    renameSync(join(lake.folder, 'lake', file.path), join(old, `${file.id}.parquet`));
    await lake.db.run(sql('test')`update lake_files set path = ${`${id}/${file.id}.parquet`} where id = ${file.id}`);
  }
  rmSync(folderOf(table), { recursive: true });
  await lake.db.run(sql('test')`update lake_tables set log_state = null, published_version = null where id = ${id}`);
  const before = await lake.rows(id);
  expect(before.map(({ n }) => n).sort()).toEqual([0.5, 1, 2]);
  // without a log nothing is published, whatever comes
  await csv(table, 'd', 'n,late\n4,x\n');
  await publish();
  expect(versionsIn(folderOf(table))).toEqual([]);

  // ended between the new name of a file and the note of it
  mkdirSync(folderOf(table), { recursive: true });
  linkSync(join(old, `${older!.id}.parquet`), join(folderOf(table), `${older!.id}.parquet`));
  const [one, two] = [await startLogs(lake.deps, { upload: 'uploaded_at' }), await startLogs(lake.deps, { upload: 'uploaded_at' })];
  expect([one, two]).toEqual([
    { tables: 1, moved: 3, rewritten: 2 },
    { tables: 0, moved: 0, rewritten: 0 },
  ]);
  await csv(table, 'e', 'n\n5\n');
  await publish();
  const now = await versionOf(table);
  expect(versionsIn(folderOf(table))).toEqual([now - 1, now]);
  const said = await snapshotFromCheckpoint(lake.reader, folderOf(table), now);
  expect([...said.files.keys()].sort()).toEqual((await listFilesAt(lake.db, id, now)).map((file) => `${file.id}.parquet`).sort());
  expect(Object.fromEntries(said.schema.map(({ name, type }) => [name, type]))).toMatchObject({ n: 'double', day: 'date', late: 'string' });
  // the entry beside the checkpoint says as much as it does
  expect([...replay([entryOf(folderOf(table), now - 1), entryOf(folderOf(table), now)]).files.keys()].sort()).toEqual(
    [...said.files.keys()].sort(),
  );
  expect((await lake.rows(id)).map(({ n }) => n).sort()).toEqual([0.5, 1, 2, 4, 5]);
  await eraseTables(lake.deps, experimentId);
});
