import { buffer } from 'node:stream/consumers';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile } from '../../src/lakehouse/compile/compile.ts';
import { DOUBLE, listFixedColumns, makeDecimal } from '../../src/lakehouse/terms/catalog.ts';
import type { FileExtent } from '../../src/lakehouse/terms/extents.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import { planRead } from '../../src/lakehouse/plan/planner.ts';
import { readStream } from '../../src/lakehouse/read/read.ts';
import type { ReadRequest } from '../../src/lakehouse/ask/request.ts';
import { EXPERIMENT, Lake, OTHER_EXPERIMENT, download, page, source, uploaded } from './support.ts';

let lake: Lake;
let file: string;
beforeAll(async () => {
  lake = await Lake.open();
  file = await lake.write(`
    select lpad(i::varchar, 32, '0') as id, case when i = 9 then '${OTHER_EXPERIMENT}' else '${EXPERIMENT}' end as experiment_id,
      timestamptz '2024-01-01 00:00:00+00' as uploaded_at, 'up' as upload_id, 'u' || (i % 2) as contributor_id,
      i % 2 = 0 as bool, i::integer as int, (9007199254740990 + i)::bigint as big, (i * 1.5)::decimal(12, 3) as dec,
      case i when 3 then 'nan' when 4 then 'inf' else i / 3 end::double as dbl, case when i % 3 = 0 then null else '=t"' || i end as txt,
      date '2024-01-01' + i::integer as day, timestamptz '2024-03-31 00:00:00.5+00' + interval (i) hour as at,
      timestamp '2024-03-31 00:00:00.123456' as clock, '{"a": [' || i || ']}' as json
    from range(10) t(i)`);
});
afterAll(() => lake.close());

/** What the manifest says of files that hold so many rows each, in order of their ids and all of one time. */
function extentsOf(files: readonly string[], rowCount: number) {
  const key = '2024-01-01T00:00:00.000000Z';
  const idAt = (row: number) => String(row).padStart(32, '0');
  return files.map((path, at) => ({
    ...{ path, rowCount, nullKeys: 0, minKey: key, maxKey: key },
    ...{ minId: idAt(at * rowCount), maxId: idAt((at + 1) * rowCount - 1) },
  }));
}

test('cells are typed JSON, printed by the engine', async () => {
  const { data, ...rest } = await page(lake.warehouse, source([file]), {});
  expect(rest).toEqual({ name: 't', catalog_name: 'c', schema_name: 's', page: 1, pageSize: 100, totalPages: 1, totalRows: 9 });
  expect(data.columns.map((column) => column.type_text)).toContain('DECIMAL(12,3)');
  expect(data.rows[4]).toEqual({
    id: '00000000000000000000000000000004',
    uploaded_at: '2024-01-01T00:00:00.000Z',
    contributor: null,
    annotations: [],
    bool: true,
    int: 4,
    big: '9007199254740994',
    dec: '6.000',
    dbl: null,
    txt: '=t"4',
    day: '2024-01-05',
    at: '2024-03-31T04:00:00.500Z',
    clock: '2024-03-31T00:00:00.123456',
    json: { a: [4] },
  });
  expect(data.rows[2]?.big).toBe(9007199254740992);
});

test('a zero of either sign equals zero, also in files whose filters hold only one of them', async () => {
  const signed = await lake.write(`
    select lpad(i::varchar, 32, '0') as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at, 'up' as upload_id,
      'u1' as contributor_id, ['-0'::double, 1.5, null][1 + i % 3] as dbl from range(3000) t(i)`);
  const table = source([signed], { expanded: [uploaded('dbl', DOUBLE)] });
  const found = async (operator: 'equals' | 'in' | 'between' | 'not_equals' | 'not_in', value: unknown) =>
    (await page(lake.warehouse, table, { filters: [{ column: 'dbl', operator, value }] } as ReadRequest)).totalRows;
  expect(await found('equals', 0)).toBe(1000);
  expect(await found('equals', -0)).toBe(1000);
  expect(await found('equals', 1.5)).toBe(1000);
  expect(await found('in', [0])).toBe(1000);
  expect(await found('in', [0, 7])).toBe(1000);
  expect(await found('in', [0, 1.5])).toBe(2000);
  expect(await found('between', [0, 0])).toBe(1000);
  expect(await found('not_equals', 0)).toBe(2000);
  expect(await found('not_in', [0])).toBe(2000);
});

test('csv and ndjson stream every row', async () => {
  const csv = await download(lake.warehouse, source([file]), { columns: ['int', 'txt', 'dbl', 'dec', 'json'] }, { format: 'csv' });
  expect(csv.split('\n').slice(0, 6)).toEqual([
    'int,txt,dbl,dec,json',
    '0,,0.0,0.000,"{""a"": [0]}"',
    `1,"'=t""1",0.3333333333333333,1.500,"{""a"": [1]}"`,
    `2,"'=t""2",0.6666666666666666,3.000,"{""a"": [2]}"`,
    '3,,,4.500,"{""a"": [3]}"',
    `4,"'=t""4",,6.000,"{""a"": [4]}"`,
  ]);
  const lines = (await download(lake.warehouse, source([file]), { columns: ['int'], limit: 2 }, { format: 'ndjson' }))
    .trimEnd()
    .split('\n');
  expect(lines).toEqual(['{"int":0}', '{"int":1}']);
});

test('a long download keeps its order in every format', async () => {
  const long = await lake.write(`
    select lpad((300000 - i)::varchar, 32, '0') as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
      'up' as upload_id, 'u1' as contributor_id, i::integer as int, 'note ' || i as txt from range(300000) t(i)`);
  const expected = Array.from({ length: 300_000 }, (_, at) => at).join();
  for (const format of ['csv', 'ndjson', 'json'] as const) {
    const text = await download(lake.warehouse, source([long]), { columns: ['int', 'txt'], orderBy: 'int' }, { format });
    const numbers =
      format === 'json'
        ? (JSON.parse(text) as { int: number }[]).map(({ int }) => int)
        : text
            .trimEnd()
            .split('\n')
            .slice(format === 'csv' ? 1 : 0)
            .map((line) => /\d+/.exec(line)?.[0]);
    expect(numbers.join() === expected, format).toBe(true);
  }
});

test('a download by one thread keeps the order of files that have few rows, or of which a filter leaves few', async () => {
  const exporting = await Lake.open({ wideStreams: 0 });
  try {
    const counts = [7, 3_000, 1, 2_050, 40];
    const extents: FileExtent[] = [];
    let rows = 0;
    for (const count of counts) {
      const path = await exporting.write(`
        select lpad((${rows} + i)::varchar, 32, '0') as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
          'up' as upload_id, 'u' as contributor_id, (${rows} + i)::integer as int from range(${count}) t(i)`);
      const [minId, maxId] = [rows, rows + count - 1].map((id) => String(id).padStart(32, '0'));
      extents.push(...extentsOf([path], count).map((extent) => ({ ...extent, minId: minId ?? null, maxId: maxId ?? null })));
      rows += count;
    }
    const files = extents.map(({ path }) => path);
    const table = source(files.toReversed(), { extents });
    expect(compile(planRead(table, { columns: ['int'] }, null).rows, exporting.warehouse.dialect).sql).not.toContain('order by');
    for (const filters of [[], [{ column: 'int', operator: 'not_equals' as const, value: 8 }]]) {
      const expected = Array.from({ length: rows }, (_, int) => int).filter((int) => filters.length === 0 || int !== 8);
      const text = await download(exporting.warehouse, table, { columns: ['int'], filters }, { format: 'csv' });
      expect(text === ['int', ...expected, ''].join('\n')).toBe(true);
    }
  } finally {
    await exporting.close();
  }
});

test('a download of files in order keeps that order beside looked-up names, sorted or not', async () => {
  const [FILES, ROWS] = [6, 100_000];
  const files: string[] = [];
  for (let at = 0; at < FILES; at += 1)
    files.push(
      await lake.write(`
    select lpad((${at * ROWS} + i)::varchar, 32, '0') as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
      'up' as upload_id, case when i % 11 > 0 then 'u' || (i % 3 + case when i % 7 = 0 then 60000 else 0 end) end as contributor_id, (${at * ROWS} + i)::integer as int, 'note ' || i as txt from range(${ROWS}) t(i)`),
    );
  // rows of nobody and of people who are not known lie among the others
  const people = await lake.write(`
    select 'u' || i as user_id, '${EXPERIMENT}' as experiment_id, 'Name ' || i as name, null::varchar as avatar, 'p' || i as pseudonym from range(50000) t(i)`);
  const extents = extentsOf(files, ROWS);
  const known = source([...files].reverse(), { identity: { files: [people] } });
  for (const format of ['csv', 'ndjson'] as const) {
    const columns = ['int', 'contributor.name', 'annotations'];
    const filters = [{ column: 'txt', operator: 'not_equals' as const, value: 'note 7' }];
    const lined = await download(lake.warehouse, { ...known, extents }, { columns, filters }, { format });
    expect(lined === (await download(lake.warehouse, known, { columns, filters }, { format })), format).toBe(true);
    expect(lined.split('\n').length, format).toBe(FILES * ROWS - FILES + (format === 'csv' ? 2 : 1));
  }
  for (const columns of [
    ['int', 'contributor.name'],
    ['contributor', 'int'],
  ]) {
    const { body } = await readStream(lake.warehouse, { ...known, extents }, { columns }, { format: 'arrow' });
    const table = tableFromIPC(await buffer(body));
    const unsorted = table.getChild('int')?.toArray() as Int32Array;
    expect(unsorted.length).toBe(FILES * ROWS);
    expect(unsorted.findIndex((value, place) => value !== place)).toBe(-1);
    const contributors = table.getChild(columns.find((name) => name !== 'int') ?? '');
    const name = (place: number) => (contributors?.get(place) as { name: string } | string | null) ?? null;
    expect([name(0), name(7), name(11), name(22)]).toEqual([null, null, null, null]);
    expect(JSON.stringify(name(1))).toContain('Name 1');
  }
  const { rows } = planRead({ ...known, extents }, { columns: ['int', 'contributor'] }, null);
  expect(compile(rows, lake.warehouse.dialect).sql).not.toContain('order by');
  // a row of every hundred thousand has two annotations, and rows of another table have some too
  const log = await lake.write(`
    select '${EXPERIMENT}' as experiment_id, case when i % 2 = 0 then '${known.table.identifier}' else 'another' end as table_id,
      lpad((100000 * (i // 4) + 17)::varchar, 32, '0') as row_id, 'a' || i as id, i::bigint as sequence, false as deleted, 'comment' as type,
      'said ' || i as content_text, null::varchar as flag_type, 'u1' as created_by,
      timestamptz '2024-03-31 01:00:00+00' + interval (i) second as created_at, timestamptz '2024-03-31 01:00:00+00' as updated_at from range(20) t(i)`);
  const annotated = { ...known, annotations: { files: [log], rowCount: 20 } };
  const columns = ['int', 'contributor.name', 'annotations'];
  const statement = (from: TableSource) => compile(planRead(from, { columns }, null).rows, lake.warehouse.dialect).sql;
  expect(statement({ ...annotated, extents })).not.toContain('order by "uploaded_at"');
  expect(statement({ ...annotated, extents, annotations: { files: [log], rowCount: 1_000_000 } })).toContain('order by "uploaded_at"');
  const streamed = await download(lake.warehouse, { ...annotated, extents }, { columns }, { format: 'ndjson' });
  expect(streamed === (await download(lake.warehouse, annotated, { columns }, { format: 'ndjson' }))).toBe(true);
  const said = streamed.split('\n').flatMap((line, place) => (line.includes('said ') ? [place] : []));
  expect(said).toEqual([17, 100_017, 200_017, 300_017, 400_017]);
});

// the engine opens no file before it plans, and guesses by the number of files which side of a join is the smaller one
test.each([
  [1, 1],
  [1, 8],
  [6, 30],
])('%i files in order keep that order beside names from %i files', async (fileCount, partCount) => {
  const ROWS = 5_000;
  const PEOPLE = 1_000;
  const files: string[] = [];
  for (let at = 0; at < fileCount; at += 1)
    files.push(
      await lake.write(`
    select lpad((${at * ROWS} + i)::varchar, 32, '0') as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
      'up' as upload_id, 'u' || (i * 7919 % ${PEOPLE}) as contributor_id, (${at * ROWS} + i)::integer as int from range(${ROWS}) t(i)`),
    );
  const people: string[] = [];
  for (let at = 0; at < partCount; at += 1)
    people.push(
      await lake.write(`
    select 'u' || i as user_id, '${EXPERIMENT}' as experiment_id, 'Name ' || i as name, null::varchar as avatar, 'p' || i as pseudonym
    from range(${PEOPLE}) t(i) where i % ${partCount} = ${at}`),
    );
  const extents = extentsOf(files, ROWS);
  const known = { ...source([...files].reverse(), { identity: { files: people } }), extents };
  const columns = ['int', 'contributor.name'];
  expect(compile(planRead(known, { columns }, null).rows, lake.warehouse.dialect).sql).not.toContain('order by');
  const lines = (await download(lake.warehouse, known, { columns }, { format: 'csv' })).trimEnd().split('\n').slice(1);
  expect(lines).toHaveLength(fileCount * ROWS);
  expect(lines.findIndex((line, at) => line !== `${at},Name ${((at % ROWS) * 7919) % PEOPLE}`)).toBe(-1);
});

// at a join the engine holds back batches of fewer than 64 rows, while larger ones pass them
test('few rows beside many keep their order beside names, filtered or not', async () => {
  const files: string[] = [];
  const extents: ReturnType<typeof extentsOf> = [];
  let first = 0;
  for (const count of [10, 3_000, 40, 2_500, 63, 64]) {
    const end = first + count;
    const path = await lake.write(`
      select lpad(i::varchar, 32, '0') as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
        'up' as upload_id, 'u' || (i % 3) as contributor_id, i::integer as int,
        case when i % 2100 < 50 or i > 4000 and i % 2 = 0 then 'rare' else 'common' end as txt from range(${first}, ${end}) t(i)`);
    files.push(path);
    const idAt = (row: number) => String(row).padStart(32, '0');
    extents.push(...extentsOf([path], count).map((extent) => ({ ...extent, minId: idAt(first), maxId: idAt(end - 1) })));
    first = end;
  }
  const people = await lake.write(`
    select 'u' || i as user_id, '${EXPERIMENT}' as experiment_id, 'Name ' || i as name, null::varchar as avatar, 'p' || i as pseudonym from range(2) t(i)`);
  const known = source([...files].reverse(), { identity: { files: [people] } });
  const rare = [{ column: 'txt', operator: 'equals' as const, value: 'rare' }];
  for (const filters of [[], rare])
    for (const columns of [['int'], ['int', 'contributor.name'], ['int', 'contributor', 'txt']]) {
      const lined = { ...known, extents };
      expect(compile(planRead(lined, { columns, filters }, null).rows, lake.warehouse.dialect).sql).not.toContain('order by');
      const sorted = await download(lake.warehouse, known, { columns, filters }, { format: 'ndjson' });
      expect(await download(lake.warehouse, lined, { columns, filters }, { format: 'ndjson' })).toBe(sorted);
      const numbers = sorted
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { int: number }).int);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      const { body } = await readStream(lake.warehouse, lined, { columns, filters }, { format: 'arrow' });
      expect([
        ...(tableFromIPC(await buffer(body))
          .getChild('int')
          ?.toArray() as Int32Array),
      ]).toEqual(numbers);
    }
});

test('points on a line correlate by one or minus one, never by more', async () => {
  const line = await lake.write(`
    select lpad(i::varchar, 32, '0') as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at,
      i * 0.1::double as dbl, i::integer as int, (3 - i * 0.3)::decimal(12, 3) as dec from range(13) t(i)`);
  const functions = ['int', 'dec'].map((secondColumn) => ({ column: 'dbl', function: 'corr' as const, secondColumn }));
  const { data } = await page(lake.warehouse, source([line]), { aggregation: { groupBy: [], functions } });
  expect(data.rows).toEqual([{ dbl_corr_int: expect.closeTo(1, 12) as number, dbl_corr_dec: expect.closeTo(-1, 12) as number }]);
  for (const correlation of Object.values(data.rows[0] ?? {})) expect(Math.abs(Number(correlation))).toBeLessThanOrEqual(1);
});

test('what empty dimensions would say is null, also without a join that finds nothing in them', async () => {
  const rows =
    await lake.write(`select printf('%02x', i) as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' + interval (i) hour as "timestamp",
    'u' || i as contributor_id, 'c' || i as client_id from range(20) t(i)`);
  const none = (kind: 'identity' | 'registry') =>
    lake.write(
      `select ${listFixedColumns(kind)
        .map(({ name }) => `null::varchar as ${name}`)
        .join(', ')} where false`,
    );
  const [people, devices] = [await none('identity'), await none('registry')];
  const asked: ReadRequest[] = [
    {},
    {
      filters: [{ column: 'contributor.name', operator: 'is_null' }],
      orderBy: 'device.status',
      columns: ['id', 'device', 'contributor.id'],
    },
    { filters: [{ column: 'contributor.name', operator: 'equals', value: 'Name' }] },
    { aggregation: { groupBy: [{ column: 'contributor.name' }], functions: [{ column: '*', function: 'count' }] } },
  ];
  for (const anonymised of [false, true]) {
    const of = { anonymised, table: { kind: 'raw_data', identifier: 'raw_data' } as const, columns: listFixedColumns('raw_data') };
    const joined = source([rows], { ...of, identity: { files: [people] }, registry: { files: [devices] } });
    const lacking: TableSource = { ...joined, identity: { files: [] }, registry: { files: [] } };
    for (const request of asked) {
      expect(await page(lake.warehouse, lacking, request)).toEqual(await page(lake.warehouse, joined, request));
      const csv = (of: TableSource) => download(lake.warehouse, of, request, { format: 'csv' });
      expect(await csv(lacking)).toBe(await csv(joined));
    }
    expect(compile(planRead(lacking, {}, 100).rows, lake.warehouse.dialect).sql).not.toContain('join');
    expect((await page(lake.warehouse, lacking, {})).data.rows[0]).toMatchObject({ id: '00', contributor: null, device: null });
  }
});

test('a document keeps its digits in every format, and lies in one line', async () => {
  const document = '{"mass": 12345678901234567890.12,\r\n "share": [0.12345678901234567890, 1.50]}';
  const files = [
    await lake.write(`select '1' as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at, 'up' as upload_id,
      'u1' as contributor_id, '${document}' as json`),
  ];
  const ask = (format: 'csv' | 'ndjson') => download(lake.warehouse, source(files), { columns: ['json'] }, { format });
  expect(await ask('csv')).toBe(`json\n"${document.replaceAll('"', '""')}"\n`);
  expect(await ask('ndjson')).toBe(`{"json":${document.replace('\r\n', '  ')}}\n`);
});

test('a decimal without digits before its point has a zero there, as everywhere else', async () => {
  const columns = [uploaded('share', makeDecimal(4, 4))];
  const files = [
    await lake.write(`select n || '' as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at, 'up' as upload_id,
      'u1' as contributor_id, share::decimal(4, 4) as share from (values (1, '0.25'), (2, '-0.0001'), (3, '0'), (4, null)) t(n, share)`),
  ];
  const ask = (format: 'csv' | 'ndjson') =>
    download(lake.warehouse, source(files, { expanded: columns }), { columns: ['share'] }, { format });
  expect(await ask('csv')).toBe('share\n0.2500\n-0.0001\n0.0000\n\n');
  expect(await ask('ndjson')).toBe('{"share":"0.2500"}\n{"share":"-0.0001"}\n{"share":"0.0000"}\n{"share":null}\n');
});
