import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transaction } from '../database/database.ts';
import { commit, createTable, filesAt } from '../lakehouse/manifest.ts';
import type { StagingArea } from '../lakehouse/staging.ts';
import type { Staged } from '../lakehouse/warehouse.ts';
import { variable, type Pipelines } from './pipeline.ts';

/** One measurement as `pipelines/gold/broker_rows.sql` reads it. Times are ISO 8601; `data` and `macros` are JSON text. */
export interface MessageRow {
  id: string;
  device_id: string | null;
  device_name: string | null;
  timestamp: string;
  timezone: string | null;
  date: string;
  macros: string | null;
  protocol_id: string | null;
  workbook_run_id: string | null;
  latitude: number | null;
  longitude: number | null;
  data: string | null;
  processed_timestamp: string;
  measurement_time_local: string | null;
  local_time: string | null;
  experiment_id: string;
  contributor_id: string | null;
  client_id: string;
}

/** One row of the device table. */
export interface DeviceFactRow {
  id: string;
  device_id: string;
  client_id: string;
  device_firmware: string | null;
  device_name: string | null;
  device_version: string | null;
  device_battery: number | null;
  total_measurements: number;
  processed_timestamp: string;
  experiment_id: string;
}

interface MessageDeps {
  staging: StagingArea;
  pipelines: Pipelines;
}

interface MessageBatch {
  experimentId: string;
  /** 20 hex digits that stand for the batch: the same again adds nothing. */
  source: string;
  rows: readonly MessageRow[];
  /** The whole device table as it is from now on. */
  devices: readonly DeviceFactRow[];
}

const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Writes a batch of measurements of one experiment as files and makes them visible in the caller's transaction. Answers how to take the files back when that fails. */
export async function storeBrokerMessages(tx: Transaction, deps: MessageDeps, batch: MessageBatch): Promise<() => Promise<void>> {
  const { experimentId } = batch;
  const work = join(deps.staging.workFolder, 'messages', randomUUID());
  await mkdir(work, { recursive: true, mode: 0o700 });
  const staged: Staged[] = [];
  const undo = async () => {
    await deps.staging.remove(staged.flatMap(({ files }) => files.map(({ path }) => path)));
  };
  const session = await deps.staging.session();
  try {
    const messages = join(work, 'messages.ndjson');
    const devices = join(work, 'devices.ndjson');
    await writeFile(messages, lines(batch.rows));
    await writeFile(devices, lines(batch.devices));
    await session.prepare([variable('messages', messages), variable('devices', devices)]);
    const raw = await createTable(tx, { experimentId, kind: 'raw_data' });
    const device = await createTable(tx, { experimentId, kind: 'device' });
    const select = (sql: string) => ({ sql, values: [] });
    const rows = await session.stage({
      tableId: raw.id,
      experimentId,
      select: select(deps.pipelines.brokerRows),
      sortColumn: 'timestamp',
    });
    staged.push(rows);
    if (rows.rowCount !== batch.rows.length) throw new Error(`the engine read ${rows.rowCount} of ${batch.rows.length} measurements`);
    const facts = await session.stage({
      tableId: device.id,
      experimentId,
      select: select(deps.pipelines.sensorRows),
      sortColumn: 'processed_timestamp',
    });
    staged.push(facts);
    const sources = [{ source: batch.source, rowCount: rows.rowCount, quarantinedCount: 0 }];
    await commit(tx, { tableId: raw.id, cause: 'ingest', files: rows.files, sources });
    const live = await filesAt(tx, device.id, device.version);
    await commit(tx, { tableId: device.id, cause: 'replace', files: facts.files, retire: live.map(({ id }) => id) });
    return undo;
  } catch (error) {
    await undo().catch(() => undefined);
    throw error;
  } finally {
    session.close();
    await rm(work, { recursive: true, force: true });
  }
}
