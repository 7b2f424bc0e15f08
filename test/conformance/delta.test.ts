import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages.ts';
import { runCommand } from '../support/command.ts';
import { eventually } from '../support/crashes.ts';
import { pythonWith } from '../support/python.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

/**
 * The exported Delta tables as `deltalake` from PyPI and Spark with Delta Lake read them, against the rows that the API gives. DELTALAKE_PYTHON names a python that
 * has deltalake and pyarrow; without it they are installed into a folder of their own. Spark fetches Delta Lake from Maven's repository.
 */
const folder = mkdtempSync(join(tmpdir(), 'fieldlake-delta-'));
let python = process.env['DELTALAKE_PYTHON'] ?? '';
let test$: TestServer;
let owner: Call;
let experimentId: string;
const macroId = crypto.randomUUID();

const READ = `
import sys, json, decimal, datetime
from deltalake import DeltaTable, QueryBuilder
table = DeltaTable(sys.argv[1])
def plain(value):
    if isinstance(value, decimal.Decimal): return {"decimal": str(value)}
    if isinstance(value, datetime.datetime):
        return {"instant" if value.tzinfo else "local": value.isoformat(timespec="milliseconds").replace("+00:00", "")}
    if isinstance(value, int) and not isinstance(value, bool): return {"number": str(value)}
    if isinstance(value, datetime.date): return {"date": value.isoformat()}
    return value
import pyarrow
reader = QueryBuilder().register("t", table).execute("select * from t")
rows = pyarrow.RecordBatchReader.from_stream(reader).read_all().to_pylist()
print(json.dumps({"schema": json.loads(table.schema().to_json()), "version": table.version(), "rows": [{k: plain(v) for k, v in row.items()} for row in rows]}))
`;

/** The same of every folder that is named, by Spark. */
const READ_ON_SPARK = `
import os, sys, json, decimal, datetime
os.environ["TZ"] = "UTC"
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
from pyspark.sql import SparkSession
settings = {
    "spark.jars.packages": "io.delta:delta-spark_2.13:4.0.0",
    "spark.jars.ivy": os.path.join(sys.argv[1], "ivy"),
    "spark.local.dir": sys.argv[1],
    "spark.sql.warehouse.dir": os.path.join(sys.argv[1], "warehouse"),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "1",
}
builder = SparkSession.builder.master("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
def plain(value, kind):
    if isinstance(value, decimal.Decimal): return {"decimal": str(value)}
    if isinstance(value, datetime.datetime):
        return {"local" if kind == "timestamp_ntz" else "instant": value.isoformat(timespec="milliseconds")}
    if isinstance(value, int) and not isinstance(value, bool): return {"number": str(value)}
    if isinstance(value, datetime.date): return {"date": value.isoformat()}
    return value
answer = {}
for folder in sys.argv[2:]:
    frame = spark.read.format("delta").load(folder)
    schema = frame.schema.jsonValue()
    kinds = {field["name"]: field["type"] for field in schema["fields"]}
    rows = [{k: plain(v, kinds[k]) for k, v in row.asDict(True).items()} for row in frame.collect()]
    answer[folder] = {"schema": schema, "rows": rows}
with open(os.path.join(sys.argv[1], "answer.json"), "w") as out:
    json.dump(answer, out)
spark.stop()
`;

interface Found {
  schema: { fields: { name: string; type: unknown }[] };
  rows: Record<string, unknown>[];
}

/** Without holding up the server, which is in this process. */
async function readOnSpark(paths: readonly string[]): Promise<Record<string, Found>> {
  const work = join(folder, 'spark');
  mkdirSync(work);
  writeFileSync(join(work, 'read.py'), READ_ON_SPARK);
  const programs = pythonWith('pyspark==4.0.1');
  await promisify(execFile)(join(programs, 'python'), [join(work, 'read.py'), work, ...paths], { maxBuffer: 1e8 });
  return JSON.parse(readFileSync(join(work, 'answer.json'), 'utf8')) as Record<string, Found>;
}

async function upload(name: string, target: Record<string, string>, text: string): Promise<string> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', ...target })) form.append(field, value);
  form.append('files', new Blob([text]), name);
  const { status, body } = await owner('POST', `/api/v1/experiments/${experimentId}/data/uploads`, { body: form });
  expect(status).toBe(201);
  const ended = await eventually(
    async () => (await owner('GET', `/api/v1/experiments/${experimentId}/data/uploads/${body.uploadId}`)).body,
    (all) => all.status === 'completed',
    20_000,
  );
  expect(ended.status).toBe('completed');
  return body.uploadTableId;
}

let uploadId: string;
beforeAll(async () => {
  if (python === '') {
    execFileSync('python3', ['-m', 'venv', join(folder, 'venv')]);
    execFileSync(join(folder, 'venv', 'bin', 'pip'), ['install', '--quiet', 'deltalake', 'pyarrow']);
    python = join(folder, 'venv', 'bin', 'python');
  }
  writeFileSync(join(folder, 'read.py'), READ);
  test$ = await startTestServer();
  owner = test$.as(test$.cast.owner);
  experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Delta', organizationId: test$.cast.leafLab } })).body.id;
  const header = 'whole,big,money,ratio,day,at,clock,yes,"a, b (c)",Plot №';
  uploadId = await upload(
    'one.csv',
    { targetKind: 'new', targetName: 'typed' },
    `${header}\n1,9007199254740993,12345678901234567890.12,0.1,2026-05-01,2026-05-01T10:00:00.123Z,2026-05-01T12:00:00,true,"x,y",ü\n2,,,,,,,false,,\n`,
  );
  // the column `whole` widens, so that the first file holds an older type of it
  await upload(
    'two.csv',
    { targetKind: 'existing', uploadTableId: uploadId },
    `${header}\n3.5,5,1.5,2,2026-05-02,2026-05-02T10:00:00Z,2026-05-02T12:00:00,true,z,w\n`,
  );
  const message = (n: number) => ({
    timestamp: new Date(Date.UTC(2026, 4, 1, 0, n, 0, 250)).toISOString(),
    timezone: 'Europe/Amsterdam',
    device_id: 'd-1',
    latitude: 51.5,
    sample: [{ n, deep: { a: [1, 2] } }, { n: n + 0.5 }],
    macros: [{ id: macroId, name: 'm', filename: 'm.py', output: [{ 'out put': n }, { 'out put': n + 1, text: 'ä' }] }],
    questions: [{ question_label: 'Plot', question_answer: `p${n}` }],
  });
  const { db } = test$;
  for (let n = 0; n < 3; n += 1) {
    await storeMessages(db, [{ experimentId, clientId: 'multispeq_1', userId: null, body: Buffer.from(JSON.stringify(message(n))) }]);
    const left = () => db.one<{ left: number }>(sql('test')`select count(*) as left from messages where status = 'pending'`);
    expect((await eventually(left, (row) => row?.left === 0, 20_000))?.left).toBe(0);
  }
}, 300_000);
afterAll(async () => {
  await test$.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A cell of the API, by its column's type, in the form that a cell of the Delta table is brought into. */
function cellOf(value: any, type: string): unknown {
  if (value === null || value === undefined) return null;
  if (type.startsWith('DECIMAL')) return { decimal: Number(value) };
  if (type === 'BIGINT' || type === 'INT' || type === 'DOUBLE') return { number: String(value) };
  if (type === 'TIMESTAMP') return { instant: String(value).slice(0, 23).replace('Z', '') };
  if (type === 'TIMESTAMP_NTZ') return { local: String(value).replace(' ', 'T').padEnd(23, '.000') };
  if (type === 'DATE') return { date: value };
  return value;
}

function deltaCell(value: any, type: string): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object' && 'decimal' in value) return { decimal: Number(value.decimal) };
  if (type === 'VARIANT') return JSON.parse(value as string);
  if (typeof value === 'number') return { number: String(value) };
  return value;
}

test('the exported tables have the types of the catalogue and the rows of the API', async () => {
  const out = join(folder, 'delta');
  const dataDir = test$.dataDir;
  const exported = await runCommand({ url: test$.database.url, dataDir }, 'lake', 'export-delta', out);
  expect(exported.code, exported.problem).toBe(0);
  expect(existsSync(join(out, 'tables.json'))).toBe(true);
  const { body: tables } = await owner('GET', `/api/v1/experiments/${experimentId}/tables`);
  const pathOf = (identifier: string) => join(out, experimentId, identifier);
  const identifiers = (tables as { identifier: string }[]).map(({ identifier }) => identifier);
  const onSpark = await readOnSpark(identifiers.map(pathOf));
  for (const identifier of identifiers) {
    const { body } = await owner('GET', `/api/v1/experiments/${experimentId}/data`, {
      query: { tableName: identifier, page: 1, pageSize: 100 },
    });
    const { columns, rows } = body[0].data as { columns: { name: string; type_text: string }[]; rows: Record<string, unknown>[] };
    const derived = new Set(['contributor', 'device', 'annotations']);
    const shown = columns.filter(({ name }) => !derived.has(name));
    const ours = rows.map((row) => Object.fromEntries(shown.map(({ name, type_text: type }) => [name, cellOf(row[name], type)])));
    const sorted = (all: Record<string, any>[]) => all.toSorted((a, b) => (a['id'] < b['id'] ? -1 : 1));
    const said = execFileSync(python, [join(folder, 'read.py'), pathOf(identifier)], { encoding: 'utf8', maxBuffer: 1e8 });
    for (const [reader, found] of [['deltalake', JSON.parse(said) as Found] as const, ['spark', onSpark[pathOf(identifier)]] as const]) {
      const theirs = (found?.rows ?? []).map((row) =>
        Object.fromEntries(shown.map(({ name, type_text: type }) => [name, deltaCell(row[name], type)])),
      );
      expect(theirs.length, `${reader}: ${identifier}`).toBeGreaterThan(0);
      expect(sorted(theirs), `${reader}: ${identifier}`).toEqual(sorted(ours));
      const types = new Map(found?.schema.fields.map(({ name, type }) => [name, type]));
      for (const { name, type_text: type } of shown)
        if (!type.includes('<'))
          expect(types.get(name), `${reader}: ${identifier}.${name}`).toBe(
            ({ INT: 'integer', BIGINT: 'long', VARIANT: 'string' } as Record<string, string>)[type] ?? type.toLowerCase(),
          );
    }
  }
  const uploaded = exported.json.find((table: { identifier: string }) => table.identifier === uploadId);
  expect(uploaded).toMatchObject({ rows: 3, files: 2, rewritten: 1, name: 'typed' });
  const again = await runCommand({ url: test$.database.url, dataDir }, 'lake', 'export-delta', out);
  expect([again.code, again.problem]).toEqual([1, expect.stringContaining('is not empty')]);
}, 600_000);
