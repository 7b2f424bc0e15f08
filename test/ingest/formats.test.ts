import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixture, openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

test('NDJSON keeps every digit, kind and key', async () => {
  const table = await lake.makeTable();
  const lines = [
    '{"id": 7, "n": 12.50, "t": "007", "ok": true, "at": "2024-01-02T03:04:05Z", "nested": {"a": [1, 2.10]}, "mix": 1}',
    '{"n": 123456789012345678901234, "späť": "x\\ny, \\"z\\"", "ok": false, "mix": 2, "t": ""}',
    '',
    '{"n": 0.1234567890123456789, "nested": [1e2, 12345678901234567890], "mix": "n/a", "nul": "a\\u0000b"}',
  ];
  const { upload, report } = await lake.ingest(table, 'ndjson', [{ path: 'a.ndjson', bytes: lines.join('\n') }]);
  expect(upload).toMatchObject({ status: 'completed', rowsIn: 3, stored: 3 });
  expect(await lake.types(table.id)).toEqual({
    data_id: 'INT',
    n: 'STRING',
    t: 'STRING',
    ok: 'BOOLEAN',
    at: 'TIMESTAMP',
    nested: 'VARIANT',
    mix: 'INT',
    späť: 'STRING',
    mix__text: 'STRING',
    nul: 'STRING',
  });
  const rows = await lake.rows(table.id);
  expect(rows[1]).toMatchObject({ späť: 'x\ny, "z"', t: '' });
  expect(rows[2]).toMatchObject({ mix: null, mix__text: 'n/a', nested: '[1e2,12345678901234567890]', nul: 'a\0b' });
  expect(report?.files[0]?.columns.find((column) => (column as { name: string }).name === 'mix')).toMatchObject({ oddValues: 1 });
});

test.each([
  ['the engine reads', ''],
  ['only the long way keeps', ',"far":123456789012345678901'],
])('NDJSON that %s comes back the same', async (_, more) => {
  const table = await lake.makeTable();
  const records = [
    `{"i": 5, "d": 0.12345678901234568, "odd": 1, "flag": true, "nested": {"a": [1, null, "x"]}, "day": "2024-02-29", "s": "\\u00e4\\/\\ud83d\\ude00"}`,
    `{"i":-7,"d":1e-7,"odd":"n/a","flag":"maybe","day":"","s":"q\\"\\\\","it's \\"k\\"":"x\\ny"}`,
    '{}',
    `{"i":null,"d":3,"odd":2.5,"flag":false,"day":null,"s":"2024-02-30","big":9007199254740991,"at":"2024-01-02T03:04:05.123+05:30"${more}}`,
    `{"day":"2024-12-31","odd":[1],"at":"2024-01-02 03:04:05Z","nested":[{"b":"é"}],"s":7.5, "Ok":"a\\u0000b"}`,
  ];
  const { upload, report } = await lake.ingest(table, 'ndjson', [{ path: 'a.ndjson', bytes: records.join('\r\n') }]);
  expect(upload).toMatchObject({ status: 'completed', rowsIn: 5, stored: 5 });
  const { far, ...types } = await lake.types(table.id);
  expect(far).toBe(more === '' ? undefined : 'DECIMAL(38,0)');
  expect(types).toEqual({
    ...{ i: 'INT', d: 'DOUBLE', odd: 'DOUBLE', flag: 'BOOLEAN', nested: 'VARIANT', day: 'DATE', s: 'STRING', [`it's "k"`]: 'STRING' },
    ...{ big: 'BIGINT', at: 'TIMESTAMP', odd__text: 'STRING', flag__text: 'STRING', Ok: 'STRING' },
  });
  const rows = (await lake.rows(table.id)).map(({ far: _far, ...row }) =>
    Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
  );
  expect(rows).toEqual([
    { i: 5, d: 0.12345678901234568, odd: 1, flag: true, nested: '{"a":[1,null,"x"]}', day: '2024-02-29', s: 'ä/😀' },
    { i: -7, d: 1e-7, odd__text: 'n/a', flag__text: 'maybe', s: 'q"\\', [`it's "k"`]: 'x\ny' },
    {},
    { d: 3, odd: 2.5, flag: false, s: '2024-02-30', big: '9007199254740991', at: '2024-01-01 21:34:05.123+00' },
    { day: '2024-12-31', odd__text: '[1]', at: '2024-01-02 03:04:05+00', nested: '[{"b":"é"}]', s: '7.5', Ok: 'a\0b' },
  ]);
  const odd = report!.files[0]!.columns.filter(({ oddValues }) => oddValues > 0).map(({ name, oddValues }) => [name, oddValues]);
  expect(odd.sort()).toEqual([
    ['flag', 1],
    ['odd', 2],
  ]);
});

test.each([
  ['the engine reads', ''],
  ['only the long way keeps', ',"far":123456789012345678901'],
])('of values of two kinds that %s only those of the other kind are odd', async (_, more) => {
  const table = await lake.makeTable();
  const lines = [`{"b":true,"n":1${more}}`, '{"b":7,"n":false}', '{"b":false,"n":2.5}', '{"b":null,"n":-3}', '{"b":false,"n":true}'];
  await lake.ingest(table, 'ndjson', [{ path: 'a.ndjson', bytes: lines.join('\n') }]);
  expect(Object.keys(await lake.types(table.id)).filter((name) => name !== 'far')).toEqual(['b', 'n', 'b__text', 'n__text']);
  const rows = await lake.rows(table.id);
  expect(rows.map(({ b, b__text, n, n__text }) => [b, b__text, n, n__text])).toEqual([
    [true, null, 1, null],
    [null, '7', null, 'false'],
    [false, null, 2.5, null],
    [null, null, -3, null],
    [false, null, null, 'true'],
  ]);
});

test.each([
  ['text', '"x"', 'v'],
  ['booleans', 'true', 'v__text'],
])('numbers and lists among %s are the text that they are elsewhere', async (_, most, column) => {
  const table = await lake.makeTable();
  const sent = ['12.0', '0.00001', '1e-7', '-3.5e-7', '12.50', '[1.0, {"a" : 2.50}]'];
  const lines = [...sent.map((value) => `{"v":${value}}`), ...sent.map(() => `{"v":${most}}`), `{"v":${most}}`];
  await lake.ingest(table, 'ndjson', [{ path: 'a.ndjson', bytes: lines.join('\n') }]);
  expect((await lake.rows(table.id)).slice(0, sent.length).map((row) => row[column])).toEqual([
    '12',
    '0.00001',
    '1e-7',
    '-3.5e-7',
    '12.5',
    '[1,{"a":2.5}]',
  ]);
});

test('what the engine alone would read otherwise goes the long way', async () => {
  const table = await lake.makeTable();
  const file = (name: string, bytes: string) => ({ path: `${name}.ndjson`, bytes });
  const { upload } = await lake.ingest(table, 'ndjson', [
    file('twice', '{"n":1,"n":2}\n{"n":3}'),
    file('cases', '{"a":"x","A":"y"}'),
    file('february', '{"day":"2024-02-30"}\n{"day":"2024-02-28"}'),
    file('lenient', '{"n":1,}\n{"n":NaN}\n{"n":4}\n{"n":01}'),
  ]);
  expect(upload).toMatchObject({ status: 'partial', rowsIn: 9, stored: 6, quarantined: 3 });
  expect((await lake.types(table.id))['day']).toBe('STRING');
  const rows = await lake.rows(table.id);
  expect(rows.flatMap(({ n }) => (n === null ? [] : [n])).sort()).toEqual([2, 3, 4]);
  expect(rows.flatMap(({ day }) => (day === null ? [] : [day])).sort()).toEqual(['2024-02-28', '2024-02-30']);
  expect(rows.find(({ a }) => a === 'x')).toMatchObject({ A_2: 'y' });
});

test('JSON: a list, a wrapped list and one object are the same records', async () => {
  const table = await lake.makeTable();
  const list = '[{"a": 1, "s": "]},{"}, {"a": 2}]';
  const { upload } = await lake.ingest(table, 'json', [
    { path: 'list.json', bytes: list },
    { path: 'wrapped.json', bytes: ` {"data" : ${list} }\n` },
    { path: 'one.json', bytes: '\ufeff{"a": 3, "data": [1]}' },
    { path: 'none.json', bytes: '[]' },
  ]);
  expect(upload).toMatchObject({ status: 'completed', rowsIn: 5, stored: 5 });
  const rows = await lake.rows(table.id);
  expect(rows.map(({ a }) => a).sort()).toEqual([1, 1, 2, 2, 3]);
  expect(rows.filter(({ s }) => s === ']},{')).toHaveLength(2);
});

test('Parquet times in nanoseconds are times where microseconds can say them, and text where not', async () => {
  const table = await lake.makeTable();
  const path = join(lake.folder, 'nanoseconds.parquet');
  await lake.reader.run(`copy (select i as n, '2026-05-01 10:00:00.123456'::timestamp_ns + to_days(i::int) as whole,
    make_timestamp_ns(1777629600123456780 + i) as finer, null::timestamp_ns as nothing from range(3) t(i)) to '${path}' (format parquet)`);
  const { upload, report } = await lake.ingest(table, 'parquet', [{ path: 'nanoseconds.parquet', bytes: readFileSync(path) }]);
  expect(upload).toMatchObject({ status: 'completed', stored: 3 });
  expect(await lake.types(table.id)).toEqual({ n: 'BIGINT', whole: 'TIMESTAMP_NTZ', finer: 'STRING', nothing: 'TIMESTAMP_NTZ' });
  const told = report?.files[0]?.columns ?? [];
  expect(told.map(({ name, note }) => [name, note])).toEqual([
    ['n', undefined],
    ['whole', undefined],
    ['finer', 'Some of these times are finer than a microsecond, so they are kept as text.'],
    ['nothing', undefined],
  ]);
  const rows = await lake.rows(table.id);
  expect(rows.map(({ finer }) => finer)).toContain('2026-05-01 10:00:00.123456782');
});

test('Parquet times that are infinite are text, and its report says so', async () => {
  const table = await lake.makeTable();
  const sent = async (name: string, values: string) => {
    const path = join(lake.folder, name);
    await lake.reader
      .run(`copy (select i as n, t::timestamptz as zoned, t::timestamp as local, t::date as day from (values ${values}) v(i, t))
      to '${path}' (format parquet)`);
    const { report } = await lake.ingest(table, 'parquet', [{ path: name, bytes: readFileSync(path) }]);
    return report?.files[0]?.columns.map(({ name: column, type, oddValues, note }) => [column, type, oddValues, note?.slice(0, 32)]);
  };
  const note = 'Some of these times are infinite';
  const finite = [
    ['n', 'INT', 0, undefined],
    ['zoned', 'TIMESTAMP', 0, undefined],
    ['local', 'TIMESTAMP_NTZ', 0, undefined],
    ['day', 'DATE', 0, undefined],
  ];
  expect(await sent('finite.parquet', `(1, '2026-05-01'), (2, null)`)).toEqual(finite);
  // the table has types by now
  const beside = finite.map(([name, type], at) => [name, type, at === 0 ? 0 : 2, at === 0 ? undefined : note]);
  expect(await sent('infinite.parquet', `(3, '2026-05-02'), (4, 'infinity'), (5, '-infinity')`)).toEqual(beside);
  const rows = (await lake.rows(table.id)).sort((a, b) => Number(a['n']) - Number(b['n'])).slice(2);
  expect(rows.map((row) => [row['zoned__text'] ?? null, row['local__text'] ?? null, row['day__text'] ?? null])).toEqual([
    [null, null, null],
    ['infinity', 'infinity', 'infinity'],
    ['-infinity', '-infinity', '-infinity'],
  ]);
  expect(rows.map(({ day }) => String(day).slice(0, 10))).toEqual(['2026-05-02', 'null', 'null']);
});

test('JSON of Python that is no table, or no JSON, is said to be so', async () => {
  const send = async (bytes: string) => {
    const table = await lake.makeTable();
    const { report } = await lake.ingest(table, 'json', [{ path: 'a.json', bytes }]);
    const { status, stored, message } = report!.files[0]!;
    return { status, stored, message };
  };
  expect(await send('[{"x":1.5,"s":"a"},{"x":null,"s":"b"}]')).toEqual({ status: 'completed', stored: 2, message: null });
  expect(await send('{"x":{"0":1.5,"1":null},"s":{"0":"a","1":"b"}}')).toEqual({
    ...{ status: 'completed', stored: 1 },
    message: expect.stringMatching(/^The file is one object, and so one row\. .*orient='records'/),
  });
  expect((await send('{"metadata":{},"result":{"data":[{"x":1},{"x":2}]}}')).message).toContain('of BrAPI jq .result.data');
  expect((await send('{"type":"FeatureCollection","features":[{"type":"Feature"}]}')).message).toContain('of GeoJSON jq .features');
  expect(await send('{"x":{"0":1.5},"s":"a"}')).toEqual({ status: 'completed', stored: 1, message: null });
  expect(await send('[{"x":1.5},{"x":NaN}]')).toEqual({
    ...{ status: 'partial', stored: 1 },
    message: expect.stringMatching(
      /^Not stored: 1 × invalid json\. A text that is cut off or misspelled is no JSON; nor are NaN and Infinity, .* null instead\. Where other records are stored, take the upload back first/,
    ),
  });
});

test('what pandas wrote as whole numbers is told by its name', async () => {
  const send = async (name: string, columns: string) => {
    const table = await lake.makeTable();
    const path = join(lake.folder, name);
    await lake.reader.run(
      `copy (select 1500000::bigint as td, 672::bigint as month, 5::bigint as n, 's' as text from range(2)) to '${path}' (format parquet, kv_metadata {pandas: '${columns}'})`,
    );
    const { report } = await lake.ingest(table, 'parquet', [{ path: name, bytes: readFileSync(path) }]);
    return [report!.files[0]!.status, ...report!.files[0]!.columns.map(({ note }) => note)];
  };
  const pandas = (type: string) =>
    JSON.stringify({
      columns: [
        { field_name: 'td', numpy_type: 'timedelta64[us]' },
        { field_name: 'month', numpy_type: type },
        { field_name: 'n', numpy_type: 'int64' },
        { field_name: 'text', numpy_type: 'timedelta64[us]' },
      ],
    });
  const durations = 'These are durations of pandas, as whole numbers of microseconds.';
  const periods = 'These are periods of pandas (M), counted from 1970 on. To have them as text, write them with astype(str).';
  expect(await send('pandas.parquet', pandas('period[M]'))).toEqual(['completed', durations, periods, undefined, undefined]);
  for (const [at, other] of ['no JSON', '{"columns": 5}', '[null]', pandas('x'.repeat(1_048_576))].entries())
    expect(await send(`other-${at}.parquet`, other)).toEqual(['completed', undefined, undefined, undefined, undefined]);
});

test('Parquet keeps its own types', async () => {
  const table = await lake.makeTable();
  const path = join(lake.folder, 'typed.parquet');
  await lake.reader
    .run(`copy (select i::int as a, i * 9007199254740993 as b, i + 0.5::double as c, (i / 4)::decimal(10,2) as d, 's' || i as id,
    timestamptz '2024-01-01 00:00:00.123456+00' as at, [i, null] as l, {'x': i} as st, null::double as nothing from range(3) t(i)) to '${path}' (format parquet)`);
  const { upload } = await lake.ingest(table, 'parquet', [{ path: 'typed.parquet', bytes: readFileSync(path) }]);
  expect(upload).toMatchObject({ status: 'completed', stored: 3 });
  expect(await lake.types(table.id)).toEqual({
    a: 'INT',
    b: 'BIGINT',
    c: 'DOUBLE',
    d: 'DECIMAL(10,2)',
    data_id: 'STRING',
    at: 'TIMESTAMP',
    l: 'VARIANT',
    st: 'VARIANT',
    nothing: 'DOUBLE',
  });
  expect((await lake.rows(table.id))[2]).toMatchObject({
    a: 2,
    b: '18014398509481986',
    c: 2.5,
    d: '0.50',
    data_id: 's2',
    l: '[2,null]',
    st: '{"x":2}',
    nothing: null,
  });
});

test('Parquet decimals of 38 digits are kept, and a file with longer ones is refused by the names of its columns', async () => {
  const table = await lake.makeTable();
  const path = join(lake.folder, 'decimals.parquet');
  await lake.reader.run(`copy (select 1234567890123456789012345678901234567.5::decimal(38,1) as v, [v] as l, {'x': {'y': v}} as s,
    ('{"z": ' || v || '}')::json as j) to '${path}' (format parquet)`);
  const narrow = await lake.ingest(table, 'parquet', [{ path: 'narrow.parquet', bytes: readFileSync(path) }]);
  expect(narrow.upload).toMatchObject({ status: 'completed', stored: 1 });
  const digits = '1234567890123456789012345678901234567.5';
  expect(await lake.rows(table.id)).toEqual([{ v: digits, l: `[${digits}]`, s: `{"x":{"y":${digits}}}`, j: `{"z": ${digits}}` }]);
  // pandas writes decimals of 41 digits so
  const wide = await lake.ingest(table, 'parquet', [
    { path: 'wide.parquet', bytes: readFileSync(fixture('refused.decimal_too_wide.parquet')) },
  ]);
  expect(wide.report?.files[0]).toMatchObject({
    status: 'failed',
    reason: 'decimal_too_wide',
    message: expect.stringContaining(`up to 41 in 'v', 'l', 's'. Cast them to`),
  });
  expect(await lake.rows(table.id)).toHaveLength(1);
});

test('Parquet columns of JSON keep their digits, and lose commas behind a last element, which are no JSON', async () => {
  const table = await lake.makeTable();
  const path = join(lake.folder, 'commas.parquet');
  const digits = '1234567890123456789.5';
  const texts = [`[1,{"a":${digits}, } , ]`, `["a,]\\",}",${digits}\n,]`];
  await lake.reader.run(`copy (select unnest(['${texts.join("', '")}'])::json as j) to '${path}' (format parquet)`);
  const { report } = await lake.ingest(table, 'parquet', [{ path: 'commas.parquet', bytes: readFileSync(path) }]);
  expect(report?.files[0]).toMatchObject({ status: 'completed' });
  const rows = await lake.rows(table.id);
  expect(new Set(rows.map(({ j }) => j))).toEqual(new Set([`[1,{"a":${digits} }  ]`, `["a,]\\",}",${digits}\n]`]));
});

test('Parquet decimals of no whole digits have a zero before their point in lists and structs', async () => {
  const table = await lake.makeTable();
  const path = join(lake.folder, 'shares.parquet');
  await lake.reader.run(`copy (select {'a': 0.25::decimal(20, 20), '.b': [-0.5::decimal(38, 38), null, 0.125], 'text': '[.5,"-.5":.5'} as s,
    map {'x.': 0.75::decimal(16, 16)} as m, 0.25::decimal(20, 20) as v) to '${path}' (format parquet)`);
  await lake.ingest(table, 'parquet', [{ path: 'shares.parquet', bytes: readFileSync(path) }]);
  const [row = {}] = await lake.rows(table.id);
  expect(JSON.parse(String(row['s']))).toEqual({ a: 0.25, '.b': [-0.5, null, 0.125], text: '[.5,"-.5":.5' });
  expect(JSON.parse(String(row['m']))).toEqual({ 'x.': 0.75 });
});

test('Parquet times in lists and structs are ISO 8601, as members are read, and other text stays', async () => {
  const table = await lake.makeTable();
  const path = join(lake.folder, 'times.parquet');
  await lake.reader
    .run(`copy (select {'at': '1899-07-01T14:00:00.123456+02:00'::timestamptz, 'local': '2026-07-01T12:00:01'::timestamp, 'none': null::timestamp,
    'text': 'of "2026-07-01 12:00:00"', 'deep': ['2026-07-01T12:00:00Z'::timestamptz]} as s) to '${path}' (format parquet)`);
  await lake.ingest(table, 'parquet', [{ path: 'times.parquet', bytes: readFileSync(path) }]);
  const [row = {}] = await lake.rows(table.id);
  expect(JSON.parse(String(row['s']))).toEqual({
    at: '1899-07-01T12:00:00.123456Z',
    local: '2026-07-01T12:00:01',
    none: null,
    text: 'of "2026-07-01 12:00:00"',
    deep: ['2026-07-01T12:00:00Z'],
  });
});

test('Parquet numbers that are NaN or infinite stay what they are', async () => {
  const table = await lake.makeTable();
  const path = join(lake.folder, 'wild.parquet');
  await lake.reader
    .run(`copy (select * from (values (1, 1.5::double, 1.5::float), (2, 'nan', 'nan'), (3, 'inf', 2), (4, '-inf', null)) t(n, d, f))
    to '${path}' (format parquet)`);
  const { report } = await lake.ingest(table, 'parquet', [{ path: 'wild.parquet', bytes: readFileSync(path) }]);
  expect(report?.files[0]?.columns.map(({ oddValues, missingValues }) => [oddValues, missingValues])).toEqual([
    [0, 0],
    [0, 0],
    [0, 1],
  ]);
  expect((await lake.rows(table.id)).map(({ d, f }) => [d, f])).toEqual([
    [1.5, 1.5],
    ['NaN', 'NaN'],
    ['Infinity', 2],
    ['-Infinity', null],
  ]);
});

test('NaN and infinities in lists and structs of a Parquet file are null, and text that looks like them stays', async () => {
  const table = await lake.makeTable();
  const path = join(lake.folder, 'wild-lists.parquet');
  await lake.reader.run(`copy (select [1, 'nan'::double, '-inf', 'inf', null] as spectrum, ['nan'::float] as one,
    {'NaN': 'nan'::double, 'text': 'a "b",NaN:[Infinity' , 'deep': [{'x': '-inf'::double, 'NaN': '\\"'}]} as st, map {'Infinity': 'nan'::float} as m,
    ['NaN', ',NaN,'] as texts) to '${path}' (format parquet)`);
  await lake.ingest(table, 'parquet', [{ path: 'wild-lists.parquet', bytes: readFileSync(path) }]);
  const [row = {}] = await lake.rows(table.id);
  expect(Object.fromEntries(Object.entries(row).map(([name, text]) => [name, JSON.parse(String(text)) as unknown]))).toEqual({
    spectrum: [1, null, null, null, null],
    one: [null],
    st: { NaN: null, text: 'a "b",NaN:[Infinity', deep: [{ x: null, NaN: '\\"' }] },
    m: { Infinity: null },
    texts: ['NaN', ',NaN,'],
  });
});
