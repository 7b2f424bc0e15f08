import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { openDatabase, type Database } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { sql } from '../src/database/sql.ts';
import { ingestUpload } from '../src/ingest/uploads/ingest.ts';
import { listFunctions, loadPipelines } from '../src/ingest/pipeline.ts';
import { createTable } from '../src/lakehouse/tables/manifest.ts';
import { openDuckdbWriter } from '../src/lakehouse/engines/duckdb/write.ts';
import { openFolderStore } from '../src/storage/folder.ts';
import { pairs, type Measured } from './pairs.ts';

const ROOT = join(import.meta.dirname, '..');
const ROWS = Number(process.env['ROWS'] ?? 300_000);
/** `ingest` gives the same result for the same file; the others do less, and are stated beside it. */
const YARDSTICKS = [
  ['ingest', "an expert's statement"],
  ['casts', 'casts that check nothing'],
  ['bare', 'a bare read'],
] as const;
type Kind = 'csv' | 'ndjson' | 'parquet';
/** How an expert has the engine read each kind: every value as text, and as the engine guesses; `ok` stays text where a file has nothing but text. */
const KINDS: Record<Kind, { records: string; bare: string; ok: string }> = {
  csv: {
    records: `read_csv('{{file}}', header = true, all_varchar = true, allow_quoted_nulls = false)`,
    bare: `read_csv('{{file}}')`,
    ok: 'ok',
  },
  ndjson: {
    records: `read_json('{{file}}', format = 'newline_delimited', columns = {sensor: 'VARCHAR', 'at': 'VARCHAR', par: 'VARCHAR', temperature: 'VARCHAR',
      phi2: 'VARCHAR', leaf: 'VARCHAR', plot: 'VARCHAR', note: 'VARCHAR', ok: 'VARCHAR', day: 'VARCHAR'})`,
    bare: `read_json('{{file}}')`,
    ok: 'cast(ok as boolean)',
  },
  parquet: { records: `read_parquet('{{file}}')`, bare: `read_parquet('{{file}}')`, ok: 'ok' },
};
/** Of Parquet, whose values have types, an expert casts nothing. */
const yardsticksOf = (kind: Kind) => (kind === 'parquet' ? YARDSTICKS.slice(2) : YARDSTICKS);
const SOURCE = '0123456789abcdef0123';

/** A file of measurements as an instrument's export has them: names, times, whole and fractional numbers, text with quotes and letters beyond ASCII, nulls. */
async function writeFile(path: string, kind: Exclude<Kind, 'parquet'>): Promise<void> {
  const file = createWriteStream(path);
  if (kind === 'csv') file.write('sensor,at,par,temperature,phi2,leaf,plot,note,ok,day\n');
  let state = 42;
  const random = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  for (let row = 0; row < ROWS; row += 1) {
    const at = new Date(1.7e12 + row * 10_000).toISOString();
    const record = {
      sensor: `MSPQ-${row % 40}`,
      at,
      par: Math.round(random() * 2_000),
      temperature: row % 25 === 0 ? null : Math.round(random() * 4_000) / 100,
      phi2: random(),
      leaf: row % 7,
      plot: `plot ${row % 12}`,
      note: row % 10 === 0 ? `a "quoted" nöte, ${row}` : 'ok',
      ok: row % 3 === 0,
      day: at.slice(0, 10),
    };
    const cell = (value: string | number | boolean | null) =>
      value === null ? '' : /[",]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
    const line = kind === 'ndjson' ? JSON.stringify(record) : Object.values(record).map(cell).join(',');
    if (!file.write(`${line}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Makes the rows of one received upload, as the HTTP layer does, and answers its id. */
async function receive(db: Database, kind: string, file: { key: string; sha256: string }): Promise<string> {
  const [id, experimentId] = [randomUUID(), randomUUID()];
  const table = await createTable(db, { experimentId, kind: 'upload', name: 'bench' });
  await db.run(sql('bench.upload')`insert into uploads (id, experiment_id, table_id, source_kind, file_count)
    values (${id}, ${experimentId}, ${table.id}, ${kind}, 1)`);
  await db.run(sql('bench.file')`insert into upload_files (upload_id, path, ordinal, object_key, sha256)
    values (${id}, ${`bench.${kind}`}, 0, ${file.key}, decode(${file.sha256}, 'hex'))`);
  return id;
}

/** Ingestion of one file, everything included (fetch, checks, report, commit), against statements that were written for the file by hand. */
export async function benchIngest(url: string, dataDir: string): Promise<Measured[]> {
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 4 });
  const folder = join(dataDir, 'ingest');
  mkdirSync(folder);
  const store = await openFolderStore({
    folder: join(folder, 'objects'),
    secret: Buffer.alloc(32, 1),
    baseUrl: () => 'http://127.0.0.1/objects',
  });
  const pipelines = await loadPipelines(join(ROOT, 'pipelines'));
  const staging = await openDuckdbWriter({
    lakeFolder: join(folder, 'lake'),
    workFolder: join(folder, 'work'),
    threads: 2,
    functions: listFunctions(pipelines),
  });
  const engine = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '400MB' });
  const connection: DuckDBConnection = await engine.connect();
  await connection.run(`set timezone = 'UTC'`);
  const results: Measured[] = [];
  const timed = async (work: () => Promise<unknown>) => {
    const start = performance.now();
    await work();
    return ROWS / ((performance.now() - start) / 1_000);
  };
  /** Milliseconds of processor that this process and all threads of its engines take; Postgres is not of them. */
  const costOf = async (work: () => Promise<unknown>) => {
    const start = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  };
  for (const kind of ['csv', 'ndjson', 'parquet'] as const) {
    const path = join(folder, `bench.${kind}`);
    if (kind === 'parquet')
      await connection.run(`copy (select * from read_csv('${join(folder, 'bench.csv')}')) to '${path}' (format parquet)`);
    else await writeFile(path, kind);
    const sha256 = await hashOf(path);
    const key = `uploads/bench/${kind}`;
    await store.put(key, createReadStream(path));
    const out = join(folder, 'yardstick.parquet');
    const statement = (name: string) =>
      readFileSync(join(import.meta.dirname, 'yardsticks', `${name}.sql`), 'utf8')
        .replaceAll(/\{\{(records|bare|ok)\}\}/g, (_, what: keyof (typeof KINDS)[typeof kind]) => KINDS[kind][what])
        .replaceAll('{{source}}', SOURCE)
        .replaceAll('{{file}}', path)
        .replaceAll('{{out}}', out);
    const ingestBy = (measure: typeof timed) => async () => {
      const id = await receive(db, kind, { key, sha256 });
      return measure(async () => {
        const report = await ingestUpload({ db, store, staging, pipelines }, id);
        const [file] = report?.files ?? [];
        if (file?.stored !== ROWS) throw new Error(`ingestion stored ${String(file?.stored)} of ${ROWS} rows: ${String(file?.message)}`);
      });
    };
    for (const [name, what] of yardsticksOf(kind)) {
      const yardstick = () => timed(() => connection.run(statement(name)));
      await yardstick();
      results.push(await pairs(`${kind} ingestion against ${what}, rows/s`, ingestBy(timed), yardstick));
    }
    // the yardstick first, so that the ratio is the share of its work in ours
    results.push(
      await pairs(
        `${kind}: a bare read's processor time against ingestion's, ms`,
        () => costOf(() => connection.run(statement('bare'))),
        ingestBy(costOf),
      ),
    );
  }
  connection.closeSync();
  engine.closeSync();
  await staging.close();
  await db.close();
  rmSync(folder, { recursive: true, force: true });
  return results;
}
