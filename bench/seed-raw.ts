/** Rows of raw_data for benches, brought to the lake by the pipeline's own step and through the manifest, as measurements are. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Database } from '../src/database/database.ts';
import { fill, loadPipelines, setVariable } from '../src/ingest/pipeline.ts';
import { commit, createTable } from '../src/lakehouse/tables/manifest.ts';
import type { StagingArea } from '../src/lakehouse/tables/staging.ts';

const ROOT = join(import.meta.dirname, '..');
/** Prime, and larger than any count of rows: its multiples visit every row once, in no order. */
const STRIDE = 1_000_000_007;

/** Measurements as a batch of messages brings them: the `{from}`th to the `{to}`th that came, of a season in which one was made every ten seconds. */
const BATCH = `create or replace temp view bronze_records as select
    md5(i::varchar) as fieldlake_row,
    strftime(timestamptz '2024-01-01 00:00:00+00' + to_seconds(10 * i), '%Y-%m-%dT%H:%M:%S.%fZ') as measured_at,
    'multispeq-' || hash(i, 1) % 40 as device_id, 'plot team ' || hash(i, 2) % 100 as device_name, 'Europe/Amsterdam' as timezone,
    (51 + hash(i, 3) % 10000 / 10000)::varchar as latitude, (5 + hash(i, 4) % 10000 / 10000)::varchar as longitude,
    null::varchar as workbook_run_id, null::varchar as contributor_id, 'multispeq_' || hash(i, 1) % 40 as client_id,
    '2025-09-01T00:00:00.000Z' as processed_at, null::varchar as macros, 'leaf' as protocol_id,
    '{"spad":' || hash(i, 5) % 600 / 10 || ',"phi2":' || hash(i, 6) % 1000000 / 1000000 || ',"par":' || hash(i, 7) % 2500 || '}' as data,
    null::varchar as workbook_version_id, null::varchar as macro_context
  from (select (j::hugeint * {stride} % {rows})::bigint as i from range({from}, {to}) t(j))`;

interface Seeding {
  db: Database;
  staging: StagingArea;
  rows: number;
}

export interface Season extends Seeding {
  /** Rows of one batch, which is committed by itself. */
  batch: number;
  /** Whether rows come in the order of their times; each batch is over the whole season otherwise. */
  inOrder: boolean;
  /** After each batch. */
  onBatch?: () => Promise<unknown>;
}

/** Commits the rows of a season to raw_data, batch by batch, each as it came. Answers the table's id. */
export async function seedSeason({ db, staging, rows, batch, inOrder, onBatch }: Season, experimentId: string): Promise<string> {
  const pipelines = await loadPipelines(join(ROOT, 'pipelines'));
  const tableId = randomUUID();
  await createTable(db, { experimentId, kind: 'raw_data', identifier: 'raw_data', id: tableId });
  const session = await staging.session();
  await session.prepare([setVariable('experiment_id', experimentId)]);
  for (let from = 0; from < rows; from += batch) {
    const slots = { from, to: Math.min(rows, from + batch), rows, stride: inOrder ? 1 : STRIDE };
    const view = BATCH.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof slots) => String(slots[name]));
    await session.prepare([{ sql: view, values: [] }]);
    const select = fill(pipelines.measurementRows, { questions: '' });
    // what comes in no order is said to be in order already, so that it is written as it comes
    const staged = await session.stage({ tableId, experimentId, select, sortColumn: 'timestamp', sorted: !inOrder });
    await db.transaction((tx) => commit(tx, { tableId, cause: 'ingest', files: staged.files }));
    await onBatch?.();
  }
  session.close();
  return tableId;
}
