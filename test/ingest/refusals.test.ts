import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { listFunctions } from '../../src/ingest/pipeline.ts';
import { ingestUpload } from '../../src/ingest/uploads/ingest.ts';
import { openDuckdbWriter } from '../../src/lakehouse/engines/duckdb/write.ts';
import { fixture, openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const names = readdirSync(fixture('')).sort();
const ingest = async (name: string) => {
  const kind = name.slice(name.lastIndexOf('.') + 1);
  const table = await lake.makeTable();
  const result = await lake.ingest(table, kind, [{ path: name, bytes: readFileSync(fixture(name)) }]);
  return { ...result, table, file: result.report!.files[0]! };
};

test.each(names.filter((name) => !name.startsWith('refused.')))(
  '%s: the good rows are stored, the bad one has the reason its name says',
  async (name) => {
    const { upload, file, table } = await ingest(name);
    const reason = name.split('.').at(-2);
    expect(upload).toMatchObject({ status: 'partial', rowsIn: 3, stored: 2, quarantined: 1 });
    expect(file).toMatchObject({ status: 'partial', reason });
    expect(await lake.rows(table.id)).toHaveLength(2);
    const [row] = await lake.quarantined(table.experimentId);
    expect(row).toMatchObject({ reason, path: name });
    expect(String(row!.original_text).length).toBeGreaterThan(0);
  },
);

test.each(names.filter((name) => name.startsWith('refused.')))('%s: the file is refused and its bytes are gone', async (name) => {
  const { id, upload, file, table } = await ingest(name);
  expect(upload).toMatchObject({ status: 'failed', rowsIn: 0 });
  expect(file).toMatchObject({ status: 'failed', reason: name.split('.')[1] });
  expect(file.message).toMatch(/\.$/);
  expect(await lake.rows(table.id)).toEqual([]);
  for await (const { key } of lake.store.list(`uploads/${id}/`)) expect.unreachable(key);
});

test('a damaged page of a Parquet file is the fault of the file', async () => {
  const path = join(lake.folder, 'good.parquet');
  await lake.reader.run(
    `copy (select i as a, hash(i)::varchar as b from range(5000) t(i)) to '${path}' (format parquet, compression zstd)`,
  );
  const table = await lake.makeTable();
  const good = readFileSync(path);
  expect((await lake.ingest(table, 'parquet', [{ path: 'good.parquet', bytes: good }])).upload).toMatchObject({
    status: 'completed',
    stored: 5000,
  });
  const bad = Buffer.from(good);
  bad.fill(0xff, 200, 4_000);
  const { upload, report } = await lake.ingest(table, 'parquet', [{ path: 'bad.parquet', bytes: bad }]);
  expect(upload).toMatchObject({ status: 'failed' });
  expect(report!.files[0]).toMatchObject({ reason: 'unreadable' });
  expect(await lake.rows(table.id)).toHaveLength(5000);
});

test('a page behind the first values that is damaged is found as the rows are written, and nothing stays of them', async () => {
  const path = join(lake.folder, 'numbers.parquet');
  const select = `select i::integer as a, hash(i) / 3.7e19 as b from range(300000) t(i)`;
  await lake.reader.run(`copy (${select}) to '${path}' (format parquet, compression zstd, row_group_size 100352)`);
  const table = await lake.makeTable();
  const good = readFileSync(path);
  const bad = Buffer.from(good);
  // where the last compressed page begins
  const page = bad.lastIndexOf(Buffer.from('28b52ffd', 'hex'));
  bad.fill(0xff, page, page + 12);
  const first = await lake.ingest(table, 'parquet', [{ path: 'bad.parquet', bytes: bad }]);
  expect(first.report!.files[0]).toMatchObject({ status: 'failed', reason: 'unreadable' });
  expect(readdirSync(join(lake.folder, 'lake', '.staging'))).toEqual([]);
  expect(await lake.rows(table.id)).toEqual([]);
  const second = await lake.ingest(table, 'parquet', [{ path: 'good.parquet', bytes: good }]);
  expect(second.upload).toMatchObject({ status: 'completed', stored: 300_000 });
});

test('a lake that takes no rows is not the fault of a Parquet file, which comes in once it does', async () => {
  const path = join(lake.folder, 'few.parquet');
  await lake.reader.run(`copy (select i as a from range(10) t(i)) to '${path}' (format parquet)`);
  const table = await lake.makeTable();
  const id = await lake.receive(table, 'parquet', [{ path: 'few.parquet', bytes: readFileSync(path) }]);
  const [folder, aside] = [join(lake.folder, 'lake', '.staging'), join(lake.folder, 'aside')];
  renameSync(folder, aside);
  writeFileSync(folder, '');
  await expect(ingestUpload(lake.deps, id)).rejects.toThrow(/ENOTDIR|EEXIST/);
  unlinkSync(folder);
  renameSync(aside, folder);
  const report = await ingestUpload(lake.deps, id);
  expect(report).toMatchObject({ status: 'completed', files: [{ stored: 10 }] });
});

test('one bad file among good ones makes a partial upload that says which', async () => {
  const table = await lake.makeTable();
  const { upload } = await lake.ingest(table, 'csv', [
    { path: 'good.csv', bytes: 'a\n1\n' },
    { path: 'empty.csv', bytes: '' },
  ]);
  expect(upload).toMatchObject({ status: 'partial', stored: 1, rowsIn: 1 });
  expect(upload.errorMessage).toContain('empty.csv: The file is empty');
});

test('a file whose records do not fit the memory of the engine is refused; the same file is read where they do', async () => {
  const csv = ['n,note', ...Array.from({ length: 30 }, (_, row) => `${row},${String.fromCodePoint(97 + (row % 26)).repeat(4_000_000)}`)];
  const functions = listFunctions(lake.deps.pipelines);
  const read = async (memoryLimit: string) => {
    const staging = await openDuckdbWriter({
      lakeFolder: join(lake.folder, 'lake'),
      workFolder: join(lake.folder, 'work'),
      memoryLimit,
      functions,
    });
    try {
      const id = await lake.receive(await lake.makeTable(), 'csv', [{ path: 'notes.csv', bytes: csv.join('\n') }]);
      return await ingestUpload({ ...lake.deps, staging }, id);
    } finally {
      await staging.close();
    }
  };
  expect(await read('1GB')).toMatchObject({ status: 'completed', files: [{ stored: 30 }] });
  expect(await read('80MB')).toMatchObject({ status: 'failed', files: [{ reason: 'takes_too_much_memory', stored: 0 }] });
});

test('a replay whose records do not fit the memory of the engine ends, and its bytes stay for another', async () => {
  const long = Array.from({ length: 30 }, (_, row) => `${row},${String.fromCodePoint(97 + (row % 26)).repeat(4_000_000)}`);
  const table = await lake.makeTable();
  const id = await lake.receive(table, 'csv', [{ path: 'notes.csv', bytes: ['n,note', '99,short', ...long].join('\n') }]);
  const first = await ingestUpload({ ...lake.deps, maxRecordBytes: 3_000_000 }, id);
  expect(first).toMatchObject({ status: 'partial', files: [{ stored: 1, quarantined: 30 }] });
  const functions = listFunctions(lake.deps.pipelines);
  const replay = async (memoryLimit: string) => {
    await lake.db.run(sql('test')`update upload_files set replay_requested_at = now() where upload_id = ${id}`);
    await lake.db.run(sql('test')`update uploads set status = 'running', completed_at = null where id = ${id}`);
    const staging = await openDuckdbWriter({
      lakeFolder: join(lake.folder, 'lake'),
      workFolder: join(lake.folder, 'work'),
      memoryLimit,
      functions,
    });
    try {
      return await ingestUpload({ ...lake.deps, staging }, id);
    } finally {
      await staging.close();
    }
  };
  const message = expect.stringContaining('more memory') as string;
  expect(await replay('80MB')).toMatchObject({ status: 'partial', files: [{ stored: 1, quarantined: 30, message }] });
  const open = sql('test')`select from upload_files where upload_id = ${id} and replay_requested_at is not null`;
  expect(await lake.db.rows(open)).toEqual([]);
  expect(await replay('1GB')).toMatchObject({ status: 'completed', files: [{ stored: 31, quarantined: 0 }] });
});

test('rows that are too wide to be written by the hundred thousand at once are written by fewer, and so when their types widen', async () => {
  const trace = (row: number) => createHash('shake256', { outputLength: 20_000 }).update(String(row)).digest('hex');
  const rows = Array.from({ length: 1_200 }, (_, row) => [row, trace(row)] as const);
  const staging = await openDuckdbWriter({
    lakeFolder: join(lake.folder, 'lake'),
    workFolder: join(lake.folder, 'work'),
    memoryLimit: '80MB',
    functions: listFunctions(lake.deps.pipelines),
  });
  const table = await lake.makeTable();
  const bring = async (name: string, lines: readonly unknown[]) => {
    const id = await lake.receive(table, 'csv', [{ path: name, bytes: ['n,trace', ...lines].join('\n') }]);
    return ingestUpload({ ...lake.deps, staging }, id);
  };
  expect(await bring('traces.csv', rows)).toMatchObject({ status: 'completed', files: [{ stored: 1_200 }] });
  expect(await bring('one.csv', ['0.5,x'])).toMatchObject({ status: 'completed', files: [{ stored: 1 }] });
  await staging.close();
  const read = await lake.rows(table.id);
  expect(read).toHaveLength(1_201);
  expect(new Map(read.map(({ n, trace: text }) => [Number(n), text]))).toEqual(new Map([...rows, [0.5, 'x']]));
});

test('records of two megabytes, one of which lies over the end of what the engine reads at once, are all stored', async () => {
  for (const rows of [8, 20]) {
    const table = await lake.makeTable();
    const text = 'ab'.repeat(1_048_576);
    const { upload } = await lake.ingest(table, 'csv', [{ path: 'long.csv', bytes: `a\n${`${text}\n`.repeat(rows)}` }]);
    expect(upload).toMatchObject({ status: 'completed', rowsIn: rows, stored: rows });
  }
});
