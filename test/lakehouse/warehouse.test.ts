import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BIGINT, BOOLEAN, STRING, makeDecimal, listFixedColumns } from '../../src/lakehouse/terms/catalog.ts';
import { compile } from '../../src/lakehouse/compile/compile.ts';
import { duckdb } from '../../src/lakehouse/compile/dialects/duckdb.ts';
import { planRead } from '../../src/lakehouse/plan/planner.ts';
import { describePlan, readPage, readStream } from '../../src/lakehouse/read/read.ts';
import { readRequest } from '../../src/lakehouse/ask/request.ts';
import type { Statement } from '../../src/lakehouse/terms/warehouse.ts';
import { EXPERIMENT, Lake, OTHER_EXPERIMENT, download, page, source, uploaded } from './support.ts';

const ROWS = 100_001;
const COLUMNS = [uploaded('n', BIGINT), uploaded('tied', BIGINT), uploaded('txt', STRING)];

let lake: Lake;
let file: string;
beforeAll(async () => {
  lake = await Lake.open();
  file = await lake.write(`
    select md5(i::varchar) as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' + interval (i % 5) day as uploaded_at,
      i::bigint as n, case when i % 3 = 0 then null else i % 4 end as tied, 'row ' || i as txt from range(${ROWS}) t(i)`);
});
afterAll(() => lake.close());

const rows = () => source([file], { expanded: COLUMNS });
const endless: Statement = { sql: 'select sum(a.i * b.i) as line from range(10000000) a(i), range(10000000) b(i)', values: [] };
const flood: Statement = { sql: `select '{"i":' || i || '}' as line from range(1000000000) t(i)`, values: [] };

const settled = async (): Promise<number> => {
  const from = performance.now();
  while (lake.warehouse.running > 0 && performance.now() - from < 5000) await sleep(5);
  return performance.now() - from;
};

describe('how much goes out', () => {
  test('pages over tied keys give each row once, in both directions', async () => {
    for (const orderDirection of ['ASC', 'DESC'] as const) {
      const filters = [{ column: 'n', operator: 'less_than' as const, value: 1000 }];
      const seen: unknown[] = [];
      for (let number = 1; number <= 10; number += 1) {
        const { data, totalPages, totalRows } = await page(lake.warehouse, rows(), {
          columns: ['n', 'tied'],
          orderBy: 'tied',
          orderDirection,
          filters,
          page: number,
          pageSize: 100,
        });
        expect([totalPages, totalRows, data.truncated]).toEqual([10, 1000, false]);
        seen.push(...data.rows.map((row) => row.n));
        if (number === 10) expect(data.rows.at(-1)?.tied).toBeNull();
      }
      expect(new Set(seen).size).toBe(1000);
    }
  });

  test('truncated is exact around a limit', async () => {
    const upTo = (value: number) => [{ column: 'n', operator: 'less_than' as const, value }];
    for (const limit of [0, 1, 1000, 1001, 5000]) {
      for (const [matching, cut] of [
        [limit - 1, false],
        [limit, false],
        [limit + 1, true],
      ] as const) {
        if (matching < 0) continue;
        const { data, ...rest } = await page(lake.warehouse, rows(), { columns: ['n'], filters: upTo(matching), limit });
        expect([limit, matching, data.rows.length, data.totalRows, data.truncated]).toEqual([
          limit,
          matching,
          Math.min(limit, matching),
          Math.min(limit, matching),
          cut,
        ]);
        expect(rest).toMatchObject({ page: 1, totalPages: 1, pageSize: Math.min(limit, matching), totalRows: matching });
      }
    }
  });

  test('a JSON answer holds at most 100,000 rows and says when that cut it', async () => {
    for (const matching of [99_999, 100_000, 100_001]) {
      const { data, totalRows } = await page(lake.warehouse, rows(), {
        columns: ['n'],
        filters: [{ column: 'n', operator: 'less_than', value: matching }],
        limit: 100_000,
      });
      expect([data.rows.length, data.truncated, totalRows]).toEqual([Math.min(100_000, matching), matching > 100_000, matching]);
      expect(new Set(data.rows.map((row) => row.n)).size).toBe(data.rows.length);
    }
  });

  test('streams hold every row, in order, in every format', async () => {
    const csv = await download(lake.warehouse, rows(), { columns: ['n'], orderBy: 'n' }, { format: 'csv' });
    expect(csv.split('\n')).toEqual(['n', ...Array.from({ length: ROWS }, (_, index) => String(index)), '']);
    const lines = (
      await download(lake.warehouse, rows(), { columns: ['n'], orderBy: 'n', orderDirection: 'DESC', limit: 2000 }, { format: 'ndjson' })
    ).split('\n');
    expect([lines.length, lines[0], lines[1999]]).toEqual([2001, '{"n":100000}', '{"n":98001}']);
    const parquet = await readStream(lake.warehouse, rows(), { columns: ['n', 'txt'] }, { format: 'parquet' });
    const bytes = await buffer(parquet.body);
    expect(bytes.subarray(0, 4).toString()).toBe('PAR1');
    for (const limit of [ROWS - 1, ROWS]) {
      const cut = await readStream(lake.warehouse, rows(), { columns: ['n'], limit }, { format: 'ndjson' });
      expect((await text(cut.body)).split('\n')).toHaveLength(limit + 1);
      expect(await cut.truncated).toBe(limit < ROWS);
    }
  });

  test('streams beside another, which one thread prints, hold the same rows in the same order', async () => {
    const asked = { columns: ['n', 'tied', 'txt'], orderBy: 'tied' };
    for (const format of ['csv', 'ndjson'] as const) {
      const alone = await download(lake.warehouse, rows(), asked, { format });
      expect(alone.split('\n').length).toBeGreaterThan(ROWS);
      // it is not read yet, and so goes on while the others run
      const first = await readStream(lake.warehouse, rows(), asked, { format });
      const beside = await Promise.all([1, 2].map(() => download(lake.warehouse, rows(), asked, { format })));
      expect(lake.warehouse.running).toBe(1);
      expect(beside.map((text) => text === alone)).toEqual([true, true]);
      expect((await text(first.body)) === alone).toBe(true);
    }
  });

  test('an empty table has a header, no rows, and one page of none', async () => {
    expect(await download(lake.warehouse, source([], { expanded: COLUMNS }), { columns: ['n', 'txt'] }, { format: 'csv' })).toBe('n,txt\n');
    expect(await page(lake.warehouse, source([], { expanded: COLUMNS }), {})).toMatchObject({
      data: { rows: [], totalRows: 0 },
      totalPages: 0,
    });
    expect(await page(lake.warehouse, source([], { expanded: COLUMNS }), { limit: 5 })).toMatchObject({
      data: { rows: [], truncated: false },
      totalPages: 1,
      pageSize: 0,
    });
  });
});

test('a file list with another experiment in it still shows nothing of it', async () => {
  const foreign = await lake.write(
    `select '${'f'.repeat(32)}' as id, '${OTHER_EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at, 1::bigint as n`,
  );
  const mine = await page(lake.warehouse, source([foreign, file], { expanded: COLUMNS }), {
    filters: [{ column: 'n', operator: 'equals', value: 1 }],
  });
  expect(mine.data.rows).toHaveLength(1);
  expect((await page(lake.warehouse, source([foreign], { expanded: COLUMNS }), {})).totalRows).toBe(0);
});

test('paths may be relative to the lake', async () => {
  const relative = file.slice(lake.folder.length + 1);
  expect((await page(lake.warehouse, source([relative], { expanded: COLUMNS }), { limit: 1 })).data.rows).toHaveLength(1);
});

test('a contributor is who the dimension says, under a pseudonym where the experiment says so', async () => {
  const people =
    await lake.write(`select '${EXPERIMENT}' as experiment_id, 'u1' as user_id, 'Ada' as name, 'https://a' as avatar, 'Contributor-1' as pseudonym
    union all select '${OTHER_EXPERIMENT}', 'u2', 'Eve', null, 'Contributor-2'`);
  const written = await lake.write(
    `select '0' || i as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at, 'u' || i as contributor_id, i as n from range(1, 3) t(i)`,
  );
  const read = (anonymised: boolean, request = {}) =>
    page(lake.warehouse, source([written], { expanded: COLUMNS, identity: { files: [people] }, anonymised }), {
      columns: ['contributor'],
      ...request,
    });
  expect((await read(false)).data.rows).toEqual([{ contributor: { id: 'u1', name: 'Ada', avatar: 'https://a' } }, { contributor: null }]);
  expect((await read(true)).data.rows).toEqual([
    { contributor: { id: 'Contributor-1', name: 'Contributor-1', avatar: null } },
    { contributor: null },
  ]);
  const byId = (value: string) => ({ filters: [{ column: 'contributor.id', operator: 'equals' as const, value }] });
  expect((await read(true, byId('Contributor-1'))).totalRows).toBe(1);
  expect((await read(true, byId('u1'))).totalRows).toBe(0);
  const shown = await read(true, {
    aggregation: { groupBy: [{ column: 'contributor.name' }], functions: [{ column: 'contributor.name', function: 'max' }] },
  });
  expect(JSON.stringify(shown.data.rows)).not.toContain('Ada');
});

test('a device is what the registry says, and its owner is a person too', async () => {
  const people = await lake.write(
    `select '${EXPERIMENT}' as experiment_id, 'u1' as user_id, 'Ada' as name, null::varchar as avatar, 'Contributor-1' as pseudonym`,
  );
  const registry = await lake.write(
    `select '${EXPERIMENT}' as experiment_id, 'thing' as client_id, 'd1' as id, 'S-1' as serial_number, 'u1' as owner_id, 'active' as status, 'ambyte' as device_type`,
  );
  const raw = await lake.write(
    `select 'a' || i as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as timestamp, if(i = 0, 'thing', 'other') as client_id, '{"v": 1}' as data from range(2) t(i)`,
  );
  const read = async (anonymised: boolean) => {
    const more = {
      identity: { files: [people] },
      registry: { files: [registry] },
      table: { kind: 'raw_data' as const, identifier: 'raw_data' },
      columns: listFixedColumns('raw_data'),
      anonymised,
    };
    return (await page(lake.warehouse, source([raw], more), { columns: ['device', 'data'], orderBy: 'device.serial_number' })).data.rows;
  };
  const facts = { id: 'd1', serial_number: 'S-1', status: 'active', device_type: 'ambyte' };
  expect(await read(false)).toEqual([
    { device: { ...facts, owner: 'u1' }, data: { v: 1 } },
    { device: null, data: { v: 1 } },
  ]);
  expect(await read(true)).toEqual([
    { device: { ...facts, owner: 'Contributor-1' }, data: { v: 1 } },
    { device: null, data: { v: 1 } },
  ]);
});

test('no bucket depends on the session', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const answers = new Set<string>();
  for (const zone of ['UTC', 'Asia/Kathmandu', 'America/Havana', 'Australia/Lord_Howe']) {
    await connection.run(`set timezone = '${zone}'`);
    for (const unit of ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const) {
      const filters = [{ column: 'n', operator: 'less_than' as const, value: 500 }];
      const aggregation = {
        groupBy: [{ column: 'uploaded_at', timeBucket: unit, timezone: 'Europe/Amsterdam' }],
        functions: [{ column: 'uploaded_at', function: 'max' as const }],
      };
      const { rows: plan, columns } = planRead(rows(), { filters, aggregation }, null);
      const outputs = columns.map(({ as, name, type }) => ({ as, name, expr: { kind: 'column' as const, name: as, type } }));
      const { sql, values } = compile({ kind: 'print', from: plan, format: 'json', outputs, guard: false }, duckdb);
      const inlined = values.reduce(
        (made, { value }) =>
          made.replace('?', () => (Array.isArray(value) ? `['${value.join("','")}']` : `'${String(value).replaceAll("'", "''")}'`)),
        sql,
      );
      answers.add(`${unit} ${JSON.stringify(await (await connection.run(inlined)).getRows())}`);
    }
  }
  expect(answers.size).toBe(7);
  instance.closeSync();
});

describe('cancelling', () => {
  test('a deadline frees the engine and says so', async () => {
    await expect(lake.warehouse.rows(endless, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'WAREHOUSE_TIMEOUT', status: 504 });
    expect(lake.warehouse.running).toBe(0);
    await expect(lake.warehouse.rows({ sql: 'select 1 as one', values: [] }, { timeoutMs: 5000 })).resolves.toEqual([{ one: 1 }]);
  });

  test('an abort frees the engine, before, at and after the start', async () => {
    for (let turn = 0; turn < 40; turn += 1) {
      const caller = new AbortController();
      const asked = lake.warehouse.rows(endless, { signal: caller.signal });
      if (turn > 0) await sleep(turn % 8);
      caller.abort(new Error('gone'));
      await expect(asked).rejects.toThrow('gone');
    }
    expect(lake.warehouse.running).toBe(0);
  });

  test('destroying a stream frees the engine, whether bytes flow or not', async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      const stream = await lake.warehouse.stream(turn % 2 === 0 ? flood : endless, 'json');
      if (turn % 2 === 0) await new Promise((resolve) => stream.once('readable', resolve));
      stream.destroy();
      await settled();
      expect(lake.warehouse.running).toBe(0);
    }
    expect(lake.warehouse.running).toBe(0);
  });

  test('bytes of a Parquet file come while its rows are still made, and one that fails midway is destroyed', async () => {
    const columns = [{ as: 'line', name: 'line', type: STRING }];
    const body = await lake.warehouse.typed(flood, 'parquet', columns);
    const first = await new Promise<Buffer>((resolve, reject) => body.once('data', resolve).once('error', reject));
    expect(first.toString('latin1', 0, 4)).toBe('PAR1');
    expect(lake.warehouse.running).toBe(1);
    body.destroy();
    await settled();
    expect(lake.warehouse.running).toBe(0);
    const lines = (sql: string): Statement => ({ sql: `select ${sql} as line from range(4000000) t(i)`, values: [] });
    const whole = await buffer(await lake.warehouse.typed(lines(`'row'`), 'parquet', columns));
    expect(whole.toString('latin1', whole.length - 4)).toBe('PAR1');
    const failing = lines(`case when i = 3000000 then error('midway') else 'row' end`);
    await expect(buffer(await lake.warehouse.typed(failing, 'parquet', columns))).rejects.toThrow('midway');
  });

  test('a page that nobody reads to its end frees the engine', async () => {
    const { rows: body } = await readPage(lake.warehouse, rows(), { limit: 100_000 });
    body.destroy();
    await settled();
    expect(lake.warehouse.running).toBe(0);
  });

  test('a stream that fails midway is destroyed, not ended', async () => {
    const failing: Statement = {
      sql: `select case when i = 3000000 then error('midway') else 'row' end as line from range(4000000) t(i)`,
      values: [],
    };
    const stream = await lake.warehouse.stream(failing, 'json');
    await expect(text(stream)).rejects.toThrow('midway');
    const deadline = await lake.warehouse.stream(flood, 'csv', { timeoutMs: 200 });
    await expect(pipeline(deadline, new Writable({ write: (_chunk, _encoding, done) => done() }))).rejects.toMatchObject({
      code: 'WAREHOUSE_TIMEOUT',
    });
    await settled();
    expect(lake.warehouse.running).toBe(0);
  });

  test.each([
    ['text', (signal: AbortSignal) => lake.warehouse.stream(flood, 'json', { signal })],
    ['Arrow', (signal: AbortSignal) => lake.warehouse.typed(flood, 'arrow', [{ as: 'line', name: 'line', type: STRING }], { signal })],
    ['Parquet', (signal: AbortSignal) => lake.warehouse.typed(flood, 'parquet', [{ as: 'line', name: 'line', type: STRING }], { signal })],
  ])('%s that is cancelled before anybody reads it fails for its reader, and for nobody else', async (_format, open) => {
    const stop = new AbortController();
    const stream = await open(stop.signal);
    stop.abort(new Error('the caller left'));
    // a failure that nobody listens to would end the process
    await settled();
    await sleep(50);
    expect(stream.destroyed).toBe(true);
    await expect(text(stream)).rejects.toThrow();
  });

  test('slow readers do not stop other statements', async () => {
    const streams = await Promise.all(Array.from({ length: 5 }, () => lake.warehouse.stream(flood, 'json')));
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('readable', resolve))));
    await expect(
      lake.warehouse.rows({ sql: 'select count(*)::integer as n from range(1000000)', values: [] }, { timeoutMs: 10_000 }),
    ).resolves.toEqual([{ n: 1_000_000 }]);
    for (const stream of streams) stream.destroy();
    await settled();
    expect(lake.warehouse.running).toBe(0);
  });

  test('an engine that is asked to says how far it has read, before and while rows go out', async () => {
    const telling = await Lake.open({ tellsReading: true });
    try {
      const path = await telling.write(`select i, md5(i::varchar) as txt from range(${ROWS}) t(i)`);
      const sorted: Statement = { sql: `select i || txt as line from read_parquet('${path}') order by txt`, values: [] };
      const shares: number[] = [];
      // nobody reads yet: the statement waits with its rows in order
      const stream = await telling.warehouse.stream(sorted, 'csv', { onReading: (share) => shares.push(share) });
      while (shares.length < 3) await sleep(20);
      expect(shares.at(-1)).toBeGreaterThan(0.9);
      expect(shares.every((share, at) => share >= (shares[at - 1] ?? 0) && share <= 1)).toBe(true);
      expect((await text(stream)).split('\n')).toHaveLength(ROWS + 1);
      const told = shares.length;
      await sleep(1_100);
      expect(shares).toHaveLength(told);
    } finally {
      await telling.close();
    }
  });

  test('nothing is left behind', async () => {
    const [scratch = ''] = readdirSync(lake.temporary);
    const left = () => readdirSync(join(lake.temporary, scratch)).filter((name) => name !== 'spill' && name !== 'pipes');
    for (let tries = 0; tries < 1_200 && left().length > 0; tries += 1) await sleep(50);
    expect(left()).toEqual([]);
    // made in advance, or used before
    expect(readdirSync(join(lake.temporary, scratch, 'pipes')).length).toBeLessThan(24);
  });
});

test('the engine reads the lake and nothing else', async () => {
  const read = (path: string) => lake.warehouse.rows({ sql: `select count(*)::integer as n from read_parquet('${path}')`, values: [] });
  await expect(read(file)).resolves.toEqual([{ n: ROWS }]);
  await expect(read('/etc/passwd')).rejects.toThrow(/Permission|disabled/);
  await expect(read('https://example.org/a.parquet')).rejects.toThrow();
  for (const sql of [
    `copy (select 1) to '/tmp/escaped.csv'`,
    `attach '/tmp/escaped.db'`,
    `install httpfs`,
    `set memory_limit = '100GB'`,
    `set enable_external_access = true`,
  ]) {
    await expect(lake.warehouse.rows({ sql, values: [] }), sql).rejects.toThrow();
  }
  expect(existsSync('/tmp/escaped.csv')).toBe(false);
});

test('a plan can be shown without its values', () => {
  const request = readRequest({ filters: JSON.stringify([{ column: 'txt', operator: 'equals', value: 'a secret' }]) });
  const shown = describePlan(duckdb, rows(), request);
  expect(shown.statement).toContain('where "txt" = cast(? as varchar)');
  expect(shown.parameters.length).toBe(shown.statement.split('?').length - 1);
  expect(JSON.stringify(shown)).not.toContain('a secret');
  expect(JSON.stringify(shown)).not.toContain(file);
});

test('an Arrow stream of many batches holds what NDJSON holds: no batch keeps anything of the one before', async () => {
  const written = await lake.write(`
    select lpad(i::varchar, 32, '0') as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
      case when i // 20000 % 2 = 0 or i % 7 = 0 then i::bigint end as n, case when i % (2 + i // 30000) = 0 then i % 4 end as tied,
      case i % 6 when 0 then null when 1 then '' when 2 then 'short' when 3 then repeat('é', 1 + i % 90) when 4 then 'of more than twelve bytes ' || i
        else repeat('long ', 1 + (i // 1000) % 60) end as txt,
      case when i % 5 > 0 then i % 3 = 0 end as bool, case when i % 11 > 0 then (i % 100000)::decimal(12, 3) / 8 end as dec
    from range(${ROWS}) t(i)`);
  const from = source([written], { expanded: [...COLUMNS, uploaded('bool', BOOLEAN), uploaded('dec', makeDecimal(12, 3))] });
  const asked = { columns: ['n', 'tied', 'txt', 'bool', 'dec'], orderBy: 'id' };
  const { body } = await readStream(lake.warehouse, from, asked, { format: 'arrow' });
  const table = tableFromIPC(await buffer(body));
  expect([table.numRows, table.batches.length > 5]).toEqual([ROWS, true]);
  const lines = (await download(lake.warehouse, from, asked, { format: 'ndjson' })).split('\n');
  const columns = asked.columns.map((name) => table.getChild(name));
  const thousandths = (value: Uint32Array | null) => (value === null ? 'null' : `"${(Number(value[0]) / 1000).toFixed(3)}"`);
  let different = 0;
  for (let row = 0; row < ROWS; row += 1) {
    const [n, tied, txt, bool] = columns.map((column) => String(column?.get(row)));
    const dec = thousandths(columns[4]?.get(row) as Uint32Array | null);
    const text = columns[2]?.get(row) === null ? 'null' : JSON.stringify(txt);
    const line = `{"n":${n},"tied":${tied},"txt":${text},"bool":${bool},"dec":${dec}}`;
    if (line !== lines[row]) different += 1;
    if (different === 1) expect(line).toBe(lines[row]);
  }
  expect(different).toBe(0);
});
