/** Every awkward value in every format, from both engines, read back by readers that are none of ours. */
import { buffer } from 'node:stream/consumers';
import { tableFromIPC } from 'apache-arrow';
import type { Data, Table } from 'apache-arrow';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Column, ColumnType, TableKind } from '../../src/lakehouse/terms/catalog.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import { readStream } from '../../src/lakehouse/read/read.ts';
import type { DownloadOptions } from '../../src/lakehouse/read/read.ts';
import type { Warehouse } from '../../src/lakehouse/terms/warehouse.ts';
import { parseStrict } from '../ingest/rfc4180.ts';
import { AWKWARD_COLUMNS, KINDS, ROWS, awkwardSelect, expected } from './awkward.ts';
import type { Canonical } from './awkward.ts';
import { DatabricksLake } from './databricks-lake.ts';
import type { LayingLake } from './oracle/bench.ts';
import { EXPERIMENT, Lake, page, source } from './support.ts';

/** A value that is neither nested nor null. */
type Cell = string | number | bigint | boolean;
type Cells = Record<string, Canonical[]>;

const IDENTITY = `select '${EXPERIMENT}' as experiment_id, 'u0' as user_id, 'Ada "the" B.' as name, null as avatar, 'Contributor-0' as pseudonym
  union all select '${EXPERIMENT}', 'u1', 'Eve', 'https://e', 'Contributor-1'`;
const ANNOTATIONS = `select '${EXPERIMENT}' as experiment_id, '01990000-0000-7000-8000-0000000000aa' as table_id, 'r00' || i % 3 as row_id, 'a' || i as id,
  i::bigint as sequence, false as deleted, 'comment' as type, 'said ' || i as content_text, null as flag_type, 'u1' as created_by,
  timestamptz '2024-03-31 01:00:00.123456+00' as created_at, timestamptz '2024-03-31 01:00:00+00' as updated_at from range(5) t(i)`;

const sites: Record<string, { warehouse: Warehouse; source: TableSource; close: () => Promise<void> }> = {};
beforeAll(async () => {
  const [lake, far] = await Promise.all([Lake.open(), DatabricksLake.open()]);
  const made = async (place: LayingLake) => {
    const rows = async (select: string, kind: TableKind, expanded?: readonly Column[]) =>
      place.rows([await place.write(select)], kind, expanded);
    return source([], {
      expanded: AWKWARD_COLUMNS,
      ...(await rows(awkwardSelect(), 'upload', AWKWARD_COLUMNS)),
      identity: await rows(IDENTITY, 'identity'),
      annotations: await rows(ANNOTATIONS, 'annotation'),
    });
  };
  sites.DuckDB = { warehouse: lake.warehouse, source: await made(lake), close: () => lake.close() };
  sites.Databricks = { warehouse: far.warehouse, source: await made(far), close: () => far.close() };
});
afterAll(async () => {
  for (const { close } of Object.values(sites)) await close();
});

const COLUMNS = [...KINDS.map(({ name }) => name), 'contributor', 'annotations'];
const asked = { columns: COLUMNS, orderBy: 'n' };
const fetched = async (site: string, options: DownloadOptions): Promise<Buffer> => {
  const { warehouse, source: from } = sites[site]!;
  return buffer((await readStream(warehouse, from, asked, options)).body);
};

const microsOf = (time: string): string => {
  const [, seconds = '', places = ''] = /^(.*?)(?:\.(\d+))?Z?$/.exec(time) ?? [];
  return String(BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(places.padEnd(6, '0')));
};

/** A value as JSON or CSV has it; only its text counts. */
const ofText = (type: ColumnType, value: unknown): Canonical => {
  if (value === null || value === undefined) return null;
  if (type.kind === 'variant') return JSON.stringify(value);
  const cell = value as Cell;
  const written = String(cell);
  if (type.kind === 'double') return String(Number(written));
  if (type.kind === 'date') return String(Date.parse(written) / 86_400_000);
  return type.kind === 'timestamp' || type.kind === 'timestamp_ntz' ? microsOf(written) : written;
};

const ofRows = (rows: readonly Record<string, unknown>[]): Cells =>
  Object.fromEntries(KINDS.map(({ name, type }) => [name, rows.map((row) => ofText(type, row[name]))]));

const scaled = (value: bigint, scale: number): string => {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
};

/** Arrow by its buffers, since the library's own values are rounded. */
const ofArrow = (table: Table): Cells => {
  const one = (type: ColumnType, data: Data, at: number): Canonical => {
    if (!data.getValid(at)) return null;
    const values = data.values as unknown as Uint32Array & BigInt64Array;
    if (type.kind === 'decimal') {
      const words = Array.from({ length: 4 }, (_, word) => BigInt(values[at * 4 + word] as unknown as number) << BigInt(32 * word));
      return scaled(
        BigInt.asIntN(
          128,
          words.reduce((sum, word) => sum + word),
        ),
        type.scale,
      );
    }
    if (type.kind === 'boolean') return String(((values[at >> 3] as unknown as number) >> (at & 7)) % 2 === 1);
    if (type.kind !== 'string' && type.kind !== 'variant') return String(values[at]);
    const bytes = (data.values as unknown as Uint8Array).subarray(data.valueOffsets[at], data.valueOffsets[at + 1]);
    const written = Buffer.from(bytes).toString('utf8');
    return type.kind === 'variant' ? JSON.stringify(JSON.parse(written)) : written;
  };
  return Object.fromEntries(
    KINDS.map(({ name, type }) => [
      name,
      (table.getChild(name)?.data ?? []).flatMap((data) => Array.from({ length: data.length }, (_, at) => one(type, data, at))),
    ]),
  );
};

const bigEndian = (bytes: Uint8Array): bigint => BigInt.asIntN(8 * bytes.length, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));

/** Parquet without the reader's own roundings: decimals from their bytes, times from their counts. */
const ofParquet = async (bytes: Buffer): Promise<{ cells: Cells; rows: Record<string, unknown>[] }> => {
  const file = new Uint8Array(bytes).buffer;
  const metadata = parquetMetadata(file);
  for (const element of metadata.schema)
    if (element.converted_type === 'DECIMAL') {
      delete element.converted_type;
      delete element.logical_type;
    }
  const parsers = { timestampFromMicroseconds: (micros: bigint) => micros, dateFromDays: (days: number) => days };
  const rows = await parquetReadObjects({ file, metadata, compressors, utf8: true, parsers });
  const one = (type: ColumnType, value: unknown): Canonical => {
    if (value === null || value === undefined) return null;
    if (type.kind === 'decimal')
      return scaled(value instanceof Uint8Array ? bigEndian(value) : BigInt(value as bigint | number), type.scale);
    const cell = value as Cell;
    return type.kind === 'variant' ? JSON.stringify(JSON.parse(String(cell))) : String(cell);
  };
  return { cells: Object.fromEntries(KINDS.map(({ name, type }) => [name, rows.map((row) => one(type, row[name]))])), rows };
};

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? String(each) : each)) ?? 'null');

describe.each(['DuckDB', 'Databricks'])('%s', (site) => {
  test('JSON pages and whole JSON', async () => {
    const { data } = await page(sites[site]!.warehouse, sites[site]!.source, { ...asked, pageSize: 100 });
    expect(data.rows).toHaveLength(ROWS);
    expect(ofRows(data.rows)).toEqual(expected(true));
    const whole = JSON.parse((await fetched(site, { format: 'json' })).toString('utf8')) as Record<string, unknown>[];
    expect(whole).toEqual(data.rows);
    expect([whole[0]?.contributor, whole[1]?.contributor, whole[2]?.contributor]).toEqual([
      { id: 'u0', name: 'Ada "the" B.', avatar: null },
      { id: 'u1', name: 'Eve', avatar: 'https://e' },
      null,
    ]);
    expect(whole.slice(0, 4).map(({ annotations }) => (annotations as object[]).length)).toEqual([2, 2, 1, 0]);
  });

  test('NDJSON', async () => {
    const lines = (await fetched(site, { format: 'ndjson' })).toString('utf8').trimEnd().split('\n');
    expect(ofRows(lines.map((line) => JSON.parse(line) as Record<string, unknown>))).toEqual(expected(true));
  });

  test('CSV', async () => {
    const [header, ...records] = parseStrict((await fetched(site, { format: 'csv', raw: true })).toString('utf8'));
    expect(header).toEqual(COLUMNS);
    const rows = records.map((record) =>
      Object.fromEntries(
        KINDS.map(({ name, type }, at) => {
          const cell = record[at] ?? null;
          return [name, type.kind === 'variant' && cell !== null ? (JSON.parse(cell) as unknown) : cell];
        }),
      ),
    );
    expect(ofRows(rows)).toEqual(expected(true));
  });

  test('Arrow', async () => {
    const table = tableFromIPC(await fetched(site, { format: 'arrow' }));
    expect(ofArrow(table)).toEqual(expected(false));
    const json = JSON.parse((await fetched(site, { format: 'json' })).toString('utf8')) as Record<string, unknown>[];
    const nested = table.toArray().map((row: { toJSON(): Record<string, unknown> }) => plain({ contributor: row.toJSON().contributor }));
    expect(nested).toEqual(json.map(({ contributor }) => ({ contributor })));
    const notes = table
      .toArray()
      .map((row: { toJSON(): Record<string, unknown> }) => plain(row.toJSON().annotations) as Record<string, unknown>[]);
    const timeless = (list: Record<string, unknown>[]) => list.map(({ createdAt: _c, updatedAt: _u, ...rest }) => rest);
    expect(notes.map(timeless)).toEqual(json.map(({ annotations }) => timeless(annotations as Record<string, unknown>[])));
  });

  test('Parquet', async () => {
    const { cells, rows } = await ofParquet(await fetched(site, { format: 'parquet' }));
    expect(cells).toEqual(expected(false));
    const json = JSON.parse((await fetched(site, { format: 'json' })).toString('utf8')) as Record<string, unknown>[];
    expect(rows.map(({ contributor }) => plain(contributor))).toEqual(json.map(({ contributor }) => contributor));
    const [note] = rows[0]?.annotations as Record<string, unknown>[];
    expect(plain(note)).toMatchObject({
      id: 'a0',
      rowId: 'r000',
      content: { text: 'said 0' },
      createdAt: microsOf('2024-03-31T01:00:00.123456Z'),
    });
  });
});
