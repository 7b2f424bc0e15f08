/** Readers of Delta tables that we did not write, each a process that is asked line by line: `deltalake` from PyPI, and Spark with Delta Lake from Maven's repository. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pythonWith } from '../support/python.ts';

export interface Read {
  version: number;
  /** Delta's name of a column's type, by the column's name. */
  types: Record<string, unknown>;
  rows: Record<string, unknown>[];
}

export interface LakeReader {
  name: string;
  /** A table by its folder, at a version or at its newest. Throws what the reader says. */
  read(folder: string, version?: number): Promise<Read>;
  close(): void;
}

const LOOP = `
import sys, json, decimal, datetime
def plain(value, kind):
    if isinstance(value, decimal.Decimal): return {"decimal": str(value)}
    if isinstance(value, datetime.datetime):
        return {"local" if kind == "timestamp_ntz" else "instant": value.isoformat(timespec="milliseconds").replace("+00:00", "")}
    if isinstance(value, bool): return value
    if isinstance(value, int): return {"number": str(value)}
    if isinstance(value, float): return {"number": repr(value)}
    if isinstance(value, datetime.date): return {"date": value.isoformat()}
    return value
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    try:
        version, fields, rows = read(asked["folder"], asked.get("version"))
        kinds = {field["name"]: field["type"] for field in fields}
        answer = {"version": version, "types": kinds, "rows": [{k: plain(v, kinds.get(k)) for k, v in row.items()} for row in rows]}
    except Exception as problem:
        answer = {"problem": type(problem).__name__ + ": " + str(problem)[:2000]}
    print("answer " + json.dumps(answer), flush=True)
`;

const DELTALAKE = `
import json, pyarrow
from deltalake import DeltaTable, QueryBuilder
def read(folder, version):
    table = DeltaTable(folder, version=version)
    reader = QueryBuilder().register("t", table).execute("select * from t")
    rows = pyarrow.RecordBatchReader.from_stream(reader).read_all().to_pylist()
    return table.version(), json.loads(table.schema().to_json())["fields"], rows
${LOOP}`;

const spark = (work: string) => `
import os
os.environ["TZ"] = "UTC"
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
from pyspark.sql import SparkSession
work = ${JSON.stringify(work)}
settings = {
    "spark.jars.packages": "io.delta:delta-spark_2.13:4.0.0",
    "spark.jars.ivy": os.path.join(work, "ivy"),
    "spark.local.dir": work,
    "spark.sql.warehouse.dir": os.path.join(work, "warehouse"),
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
session = builder.getOrCreate()
def read(folder, version):
    history = session.sql("describe history delta.\`" + folder + "\` limit 1").collect()
    newest = history[0]["version"]
    frame = session.sql("select * from delta.\`" + folder + "\` version as of " + str(newest if version is None else version))
    rows = [row.asDict(True) for row in frame.collect()]
    return newest if version is None else version, frame.schema.jsonValue()["fields"], rows
${LOOP}`;

async function open(
  name: string,
  program: string,
  script: (work: string) => string,
  environment: Readonly<Record<string, string>> = {},
): Promise<LakeReader> {
  const work = mkdtempSync(join(tmpdir(), 'fieldlake-reader-'));
  writeFileSync(join(work, 'read.py'), script(work));
  const child = spawn(program, [join(work, 'read.py')], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...environment },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (prefix: string): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${name} has ended`);
      if (value.startsWith(prefix)) return value.slice(prefix.length);
    }
  };
  await next('ready');
  let before: Promise<unknown> = Promise.resolve();
  return {
    name,
    read: (folder, version) => {
      const asked = before.then(async () => {
        child.stdin.write(`${JSON.stringify({ folder, version })}\n`);
        const answer = JSON.parse(await next('answer ')) as Read & { problem?: string };
        if (answer.problem !== undefined) throw new Error(`${name}: ${answer.problem}`);
        return answer;
      });
      before = asked.catch(() => undefined);
      return asked;
    },
    close: () => {
      child.kill();
      rmSync(work, { recursive: true, force: true });
    },
  };
}

/** `environment`: how it reaches a bucket, in the names of AWS. */
export const openDeltalake = (environment?: Readonly<Record<string, string>>): Promise<LakeReader> =>
  open('deltalake', join(pythonWith('deltalake==1.6.3', 'pyarrow'), 'python'), () => DELTALAKE, environment);

export const openSpark = (): Promise<LakeReader> => open('spark', join(pythonWith('pyspark==4.0.1'), 'python'), spark);
