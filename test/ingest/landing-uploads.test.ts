import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { landUploads } from '../../src/ingest/landing-uploads.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
let folder: string;
beforeAll(async () => {
  lake = await openLake();
  folder = join(lake.folder, 'landing');
});
afterAll(() => lake.close());

const land = () => landUploads(lake.deps, folder);
const path = (kind: string, upload: string, ordinal = 0) => join(folder, kind, `${upload}-${ordinal}.json`);
const lines = (kind: string, upload: string, ordinal = 0) =>
  readFileSync(path(kind, upload, ordinal), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const cells = (upload: string, ordinal = 0) =>
  lines('upload_records', upload, ordinal).map((line) => JSON.parse(String(line['cells'])) as unknown);

test('every value of a file is there as it was written, and every refused record', async () => {
  const table = await lake.makeTable();
  const csv = await lake.ingest(table, 'csv', [
    { path: 'a.csv', bytes: 'id,"it\'s ""k"""\n7,\n1,2,3\n007,"x\ny"\n"",n\0l\n' },
    { path: 'empty.csv', bytes: '' },
  ]);
  const json = await lake.ingest(table, 'ndjson', [
    { path: 'a.ndjson', bytes: '{"n":12345678901234567890,"b":true,"s":"7","j":[1,{"a":null}]}\n{"n":1e5}\n{}\nnone\n{"z":null}' },
  ]);
  const file = join(lake.folder, 'typed.parquet');
  await lake.reader.run(
    `copy (select 1.5::double as d, 2::utinyint as i, timestamptz '2024-01-01 00:00:00.123456+00' as at, [1, null] as l, 'x' as t) to '${file}' (format parquet)`,
  );
  const parquet = await lake.ingest(table, 'parquet', [{ path: 'typed.parquet', bytes: readFileSync(file) }]);
  expect(await land()).toStrictEqual({ files: 4, thereAlready: 0, records: 8, refused: 2 });

  expect(cells(csv.id)).toStrictEqual([
    { data_id: 't7', [`it's "k"`]: null },
    { data_id: 't007', [`it's "k"`]: 'tx\ny' },
    { data_id: 't', [`it's "k"`]: 'tn\0l' },
  ]);
  expect(lines('upload_refusals', csv.id)).toStrictEqual([
    {
      ...{ file_id: `${csv.id}/0`, fieldlake_row: '000000000001', line: '3', byte_offset: '19' },
      reason: 'too_many_fields',
      original_text: '1,2,3',
    },
  ]);
  const [header] = lines('upload_files', csv.id);
  expect(header).toMatchObject({
    ...{
      file_id: `${csv.id}/0`,
      table_id: table.id,
      table_name: table.name,
      experiment_id: table.experimentId,
      upload_id: csv.id,
      source_kind: 'csv',
    },
    ...{ path: 'a.csv', ordinal: '0', reason: null, message: null },
  });
  expect(String(header?.['source'])).toMatch(/^[0-9a-f]{20}$/);
  expect(JSON.parse(String(header?.['columns']))).toStrictEqual([
    { position: 0, key: 'id', name: 'data_id', form: 'text' },
    { position: 1, key: `it's "k"`, name: `it's "k"`, form: 'text' },
  ]);
  expect(lines('upload_files', csv.id, 1)).toMatchObject([{ path: 'empty.csv', ordinal: '1', reason: 'empty_file', columns: '[]' }]);
  expect(existsSync(path('upload_records', csv.id, 1))).toBe(false);

  const none = { n: null, b: null, s: null, j: null, z: null };
  expect(cells(json.id)).toStrictEqual([
    { ...none, n: 'n12345678901234567890', b: 'btrue', s: 's7', j: 'j[1,{"a":null}]' },
    { ...none, n: 'n1e5' },
    none,
    none,
  ]);
  expect(cells(parquet.id)).toStrictEqual([{ d: 'd1.5', i: 'd2', at: 'd2024-01-01 00:00:00.123456+00', l: 'd[1,null]', t: 'dx' }]);
  expect(
    (JSON.parse(String(lines('upload_files', parquet.id)[0]?.['columns'])) as { form: string }[]).map(({ form }) => form),
  ).toStrictEqual(['DOUBLE', 'INT', 'TIMESTAMP', 'VARIANT', 'STRING']);
});

test('a number says the same whatever stands beside it', async () => {
  const table = await lake.makeTable();
  const bytes = '{"a":891.0,"b":-0,"c":-12345678901234.0,"e":1.102942449506372e-21}\n{"a":12.50,"e":0.5}';
  const { id } = await lake.ingest(table, 'ndjson', [{ path: 'beside.ndjson', bytes }]);
  expect(await land()).toMatchObject({ files: 1, records: 2 });
  expect(cells(id)).toStrictEqual([
    { a: 'n891', b: 'n0', c: 'n-12345678901234', e: 'n1.102942449506372e-21' },
    { a: 'n12.5', b: null, c: null, e: 'n0.5' },
  ]);
  expect(await lake.types(table.id)).toStrictEqual({ a: 'DOUBLE', b: 'INT', c: 'BIGINT', e: 'DOUBLE' });
  for (const kind of ['upload_files', 'upload_records', 'upload_refusals']) rmSync(path(kind, id));
  await lake.deps.db.run(sql('test')`delete from uploads where id = ${id}`);
});

test('an upload is waited for from the moment at which a file of it is written', async () => {
  const table = await lake.makeTable();
  const { id } = await lake.ingest(table, 'csv', [{ path: 'waited.csv', bytes: 'a\n1\n' }]);
  const awaited = async () =>
    (await lake.deps.db.one<{ awaited: boolean }>(
      sql('test')`select landed_at is not null and shared_at is null as awaited from uploads where id = ${id}`,
    ))!.awaited;
  expect(await awaited()).toBe(false);
  expect(await land()).toMatchObject({ files: 1 });
  expect(await awaited()).toBe(true);
  await lake.deps.db.run(sql('test')`update uploads set shared_at = now() where id = ${id}`);
  await land();
  expect(await awaited()).toBe(false);
  rmSync(path('upload_files', id));
  expect(await land()).toMatchObject({ files: 1 });
  expect(await awaited()).toBe(true);
  for (const kind of ['upload_files', 'upload_records', 'upload_refusals']) rmSync(path(kind, id));
  await lake.deps.db.run(sql('test')`delete from uploads where id = ${id}`);
});

test('what is there is left alone, and what a crash left half done is written again', async () => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));
  const read = () => names.map((name) => readFileSync(join(folder, name), 'utf8'));
  const [before, times] = [read(), names.map((name) => statSync(join(folder, name)).mtimeMs)];
  expect(await land()).toStrictEqual({ files: 0, thereAlready: 4, records: 0, refused: 0 });
  expect(names.map((name) => statSync(join(folder, name)).mtimeMs)).toStrictEqual(times);
  for (const name of readdirSync(join(folder, 'upload_files'))) rmSync(join(folder, 'upload_files', name));
  rmSync(join(folder, 'upload_records'), { recursive: true });
  expect(await land()).toMatchObject({ files: 4 });
  expect(read()).toStrictEqual(before);
});
