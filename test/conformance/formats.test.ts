/** What reads send, read by pyarrow and pandas from PyPI: every awkward value in every format, from both engines. Needs Python and a package index. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nameType } from '../../src/lakehouse/terms/types.ts';
import { readStream } from '../../src/lakehouse/read/read.ts';
import { AWKWARD_COLUMNS, KINDS, awkwardSelect, expected } from '../lakehouse/awkward.ts';
import type { Canonical } from '../lakehouse/awkward.ts';
import { DatabricksLake } from '../lakehouse/databricks-lake.ts';
import { Lake, source } from '../lakehouse/support.ts';
import { pythonWith } from '../support/python.ts';

/** Prints every column as the list of its canonical texts. Arguments: format, file, JSON of the columns' types. */
const READER = `
import datetime, decimal, json, math, sys
import pandas, pyarrow as pa, pyarrow.csv, pyarrow.ipc, pyarrow.parquet as pq

form, path, types = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
EPOCH = datetime.datetime(1970, 1, 1)

def micros(time):
    if isinstance(time, str):
        time = datetime.datetime.fromisoformat(time.replace('Z', ''))
    delta = time.replace(tzinfo=None) - EPOCH
    return str((delta.days * 86400 + delta.seconds) * 1000000 + delta.microseconds)

def number(value):
    value = float(value)
    if math.isnan(value):
        return 'NaN'
    if math.isinf(value):
        return 'Infinity' if value > 0 else '-Infinity'
    return value.hex()

def text(kind, value):
    if value is None:
        return None
    if kind == 'VARIANT':
        return json.dumps(json.loads(value) if isinstance(value, str) and form != 'json' and form != 'ndjson' else value, sort_keys=True)
    if kind == 'BOOLEAN':
        return str(value).lower()
    if kind == 'DOUBLE':
        return number(value)
    if kind == 'DATE':
        day = datetime.date.fromisoformat(value) if isinstance(value, str) else value
        return str((day - datetime.date(1970, 1, 1)).days)
    if kind in ('TIMESTAMP', 'TIMESTAMP_NTZ'):
        return micros(value)
    return format(value, 'f') if isinstance(value, decimal.Decimal) else str(value)

if form == 'arrow':
    table = pa.ipc.open_stream(path).read_all()
elif form == 'parquet':
    table = pq.read_table(path)
    pandas.read_parquet(path, dtype_backend='pyarrow')
elif form == 'csv':
    frame = pandas.read_csv(path, dtype=str, keep_default_na=False, na_values=[], quoting=0, engine='c', lineterminator='\\n')
    strings = pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(newlines_in_values=True), convert_options=pa.csv.ConvertOptions(
        column_types={name: pa.string() for name in types}, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=['']))
    assert list(frame.columns) == list(types) and len(frame) == len(strings)
    for name in types:
        assert [value or '' for value in strings[name].to_pylist()] == frame[name].tolist(), name
    table = strings
else:
    rows = json.load(open(path)) if form == 'json' else [json.loads(line) for line in open(path)]
    print(json.dumps({name: [text(kind, row[name]) for row in rows] for name, kind in types.items()}))
    sys.exit()
if form in ('arrow', 'parquet'):
    table.validate(full=True)
print(json.dumps({name: [text(kind, value) for value in table[name].to_pylist()] for name, kind in types.items()}))
`;

let folder: string;
let python: string;
let lake: Lake;
let far: DatabricksLake;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'formats-'));
  python = join(pythonWith('pyarrow', 'pandas'), 'python');
  writeFileSync(join(folder, 'reader.py'), READER);
  [lake, far] = await Promise.all([Lake.open(), DatabricksLake.open()]);
}, 600_000);
afterAll(async () => {
  await lake.close();
  await far.close();
  rmSync(folder, { recursive: true, force: true });
});

const types = Object.fromEntries(KINDS.map(({ name, type }) => [name, nameType(type)]));

/** The same canonical form on this side: doubles by their bits, JSON with its keys in order. */
const written = (name: string, value: Canonical): unknown => {
  if (value === null) return null;
  if (types[name] === 'DOUBLE') return Object.is(Number(value), NaN) ? 'NaN' : Number(value);
  return types[name] === 'VARIANT' ? (JSON.parse(value) as unknown) : value;
};

const fromHex = (text: string): number => {
  const [, sign = '', whole = '0', places = '', power = '0'] = /^(-?)0x([01])\.([0-9a-f]+)p([+-]\d+)$/.exec(text) ?? [];
  const mantissa = Number(BigInt(`0x${whole}${places}`));
  // in two steps, since the least numbers would otherwise round twice
  const exponent = Number(power) - 4 * places.length;
  const half = Math.trunc(exponent / 2);
  return (sign === '-' ? -1 : 1) * mantissa * 2 ** half * 2 ** (exponent - half);
};

const read = (name: string, value: string | null): unknown => {
  if (value === null) return null;
  if (types[name] === 'DOUBLE') return value === 'NaN' ? 'NaN' : value.includes('x') ? fromHex(value) : Number(value);
  return types[name] === 'VARIANT' ? (JSON.parse(value) as unknown) : value;
};

test.each(['DuckDB', 'Databricks'] as const)('%s: every format is what pyarrow and pandas read', async (site) => {
  const place = site === 'DuckDB' ? lake : far;
  const from = source([], { expanded: AWKWARD_COLUMNS, ...place.rows([await place.write(awkwardSelect())], 'upload', AWKWARD_COLUMNS) });
  const { warehouse } = place;
  for (const format of ['json', 'ndjson', 'csv', 'arrow', 'parquet'] as const) {
    const { body } = await readStream(warehouse, from, { columns: Object.keys(types), orderBy: 'n' }, { format, raw: true });
    const path = join(folder, `${site}.${format}`);
    writeFileSync(path, await buffer(body));
    const printed = execFileSync(python, [join(folder, 'reader.py'), format, path, JSON.stringify(types)], { maxBuffer: 64_000_000 });
    const found = JSON.parse(printed.toString('utf8')) as Record<string, (string | null)[]>;
    const wanted = expected(format === 'json' || format === 'ndjson' || format === 'csv');
    for (const { name } of KINDS)
      expect(
        found[name]?.map((value) => read(name, value)),
        `${format} ${name}`,
      ).toEqual(wanted[name]?.map((value) => written(name, value)));
  }
});
