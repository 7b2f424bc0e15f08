import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { sql } from '../../src/database/sql.ts';
import { ingestUpload, type IngestOptions } from '../../src/ingest/uploads/ingest.ts';
import { listFunctions, loadPipelines } from '../../src/ingest/pipeline.ts';
import type { ReadingOptions } from '../../src/ingest/typing/readings.ts';
import { printPhysicalType } from '../../src/lakehouse/terms/physical-types.ts';
import { quoteName } from '../../src/lakehouse/terms/quoting.ts';
import { listColumnsAt, createTable } from '../../src/lakehouse/tables/manifest.ts';
import { findTableById, listFiles } from '../../src/lakehouse/tables/manifest.queries.ts';
import { openDuckdbWriter } from '../../src/lakehouse/engines/duckdb/write.ts';
import { openFolderStore } from '../../src/storage/folder.ts';
import { cloneDatabase } from '../support/database.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
export const fixture = (name: string) => join(ROOT, 'fixtures', 'uploads', name);

export type Lake = Awaited<ReturnType<typeof openLake>>;

/** A real Postgres, object folder and lake of its own, with a reader that knows nothing of the product's compiler. */
export async function openLake() {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-lake-'));
  const clone = await cloneDatabase();
  const { db, url } = clone;
  const store = await openFolderStore({
    folder: join(folder, 'objects'),
    secret: Buffer.alloc(32, 7),
    baseUrl: () => 'http://127.0.0.1:1/objects',
  });
  const lake = await openFolderStore({ folder: join(folder, 'lake'), secret: Buffer.alloc(32, 7), baseUrl: () => '' });
  const pipelines = await loadPipelines(join(ROOT, 'pipelines'));
  const functions = listFunctions(pipelines);
  const staging = await openDuckdbWriter({ lakeFolder: join(folder, 'lake'), workFolder: join(folder, 'work'), functions });
  const engine = await DuckDBInstance.create(':memory:', { threads: '2' });
  const reader: DuckDBConnection = await engine.connect();
  await reader.run(`set timezone = 'UTC'`);
  const deps = { db, store, lake, staging, pipelines };

  const makeTable = (experimentId: string = randomUUID(), name = `t_${randomUUID().slice(0, 8)}`) =>
    createTable(db, { experimentId, kind: 'upload', name });

  /** Receives files and makes the rows that the HTTP layer makes. */
  async function receive(
    table: { id: string; experimentId: string },
    kind: string,
    files: readonly { path: string; bytes: string | Buffer }[],
    reading: ReadingOptions = {},
  ) {
    const id = randomUUID();
    await db.run(sql('test.upload')`insert into uploads (id, experiment_id, table_id, source_kind, file_count, reading)
      values (${id}, ${table.experimentId}, ${table.id}, ${kind}, ${files.length}, ${JSON.stringify(reading)}::jsonb)`);
    for (const [ordinal, { path, bytes }] of files.entries()) {
      const key = `uploads/${id}/${ordinal}`;
      const buffer = Buffer.from(bytes as string);
      await store.put(
        key,
        (async function* () {
          yield buffer;
        })(),
      );
      const sha = createHash('sha256').update(buffer).digest('hex');
      await db.run(sql('test.file')`insert into upload_files (upload_id, path, ordinal, object_key, sha256, byte_count)
        values (${id}, ${path}, ${ordinal}, ${key}, decode(${sha}, 'hex'), ${buffer.length})`);
    }
    return id;
  }

  async function ingest(
    table: { id: string; experimentId: string },
    kind: string,
    files: readonly { path: string; bytes: string | Buffer }[],
    { reading, ...options }: IngestOptions & { reading?: ReadingOptions } = {},
  ) {
    const id = await receive(table, kind, files, reading);
    const report = await ingestUpload(deps, id, options);
    const upload = await db.one<Record<string, unknown>>(sql('test.counts')`select status, rows_in as "rowsIn", stored, quarantined,
      already_there as "alreadyThere", error_message as "errorMessage" from uploads where id = ${id}`);
    return { id, report, upload: upload! };
  }

  /** A relation over the live files of a table, typed by the catalogue. */
  async function relation(tableId: string, version?: number) {
    const table = (await findTableById(db, tableId))!;
    const at = version ?? table.version;
    const columns = await listColumnsAt(db, tableId, at);
    const files = await listFiles(db, tableId, at);
    if (files.length === 0) return undefined;
    const typed = columns.map(({ name, type }) => `null::${printPhysicalType(type)} as ${quoteName(name)}`);
    const list = files.map(({ path }) => `'${join(folder, 'lake', path)}'`).join(', ');
    return `(select ${['null::varchar as id', ...typed].join(', ')} where false union all by name select * from read_parquet([${list}], union_by_name = true))`;
  }

  /** Rows in id order, as JSON-safe values, without the base columns. */
  async function rows(tableId: string, version?: number): Promise<Record<string, unknown>[]> {
    const from = await relation(tableId, version);
    if (from === undefined) return [];
    const hidden = ['id', 'uploaded_at', 'experiment_id', 'upload_id', 'contributor_id', 'quarantined_at'];
    const result = await reader.runAndReadAll(`select * from ${from} order by id`);
    return result.getRowObjectsJson().map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !hidden.includes(name))));
  }

  const types = async (tableId: string) => {
    const table = (await findTableById(db, tableId))!;
    const { printType: typeText } = await import('../../src/lakehouse/terms/types.ts');
    return Object.fromEntries((await listColumnsAt(db, tableId, table.version)).map(({ name, type }) => [name, typeText(type)]));
  };

  const quarantined = async (experimentId: string) => {
    const { findTable } = await import('../../src/lakehouse/tables/manifest.queries.ts');
    const table = await findTable(db, experimentId, 'quarantine');
    return table ? rows(table.id) : [];
  };

  return {
    ...deps,
    url,
    folder,
    deps,
    reader,
    makeTable,
    receive,
    ingest,
    rows,
    relation,
    types,
    quarantined,
    async close() {
      reader.closeSync();
      engine.closeSync();
      await staging.close();
      await clone.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
