/**
 * Puts stored measurements where the pipeline on Databricks picks them up: one JSON object a line, with the row's id and every field as the gold steps read them. They are taken out
 * of their messages again, by the same code as for the tables here.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { memberOf } from '../lakehouse/catalog.ts';
import { listSourcesBetween, listSourceVersions } from '../lakehouse/manifest.ts';
import { exactRecord } from './exact-json.ts';
import { deviceRows, messageSources } from './identity.ts';
import { namesIn, numbered, ofAnotherLake, put } from './landing-folder.ts';
import { clean, digits, MEASUREMENT_COLUMNS } from './measurement-cells.ts';
import { measurementRows, type MeasurementRow } from './measurements.ts';
import type { ReadMessage } from './messages.ts';
import { listMessages, type Database, type InboxMessage } from './messages.queries.ts';
import { BufferedFile } from './record-writer.ts';

const FOLDER = 'measurements';
/** Rows after which a file has enough; one of a single batch may have more. */
const ROWS_OF_FILE = 50_000;
const MESSAGES_AT_ONCE = 200;

interface LandingMeasurements {
  db: Database;
  /** What a message of the inbox says. */
  read: (message: InboxMessage) => Promise<ReadMessage['decoded']>;
}

interface Span {
  from: number;
  to: number;
}

const nameOf = (experimentId: string, { from, to }: Span) => `${experimentId}-${numbered(from)}-${numbered(to)}.json`;

/** Versions of the table whose measurements are in the folder. */
async function landedSpans(folder: string, experimentId: string): Promise<Span[]> {
  const names = await namesIn(folder, `${experimentId}-`);
  return names.flatMap((name) => {
    const [, from, to] = /-(\d{10,})-(\d{10,})\.json$/.exec(name) ?? [];
    return from === undefined || to === undefined ? [] : [{ from: Number(from), to: Number(to) }];
  });
}

/** What is still to be landed, a span a file. */
function spansToLand(versions: readonly { version: number; rowCount: number }[], landed: readonly Span[]): Span[] {
  const spans: Span[] = [];
  let [open, rows]: [Span | undefined, number] = [undefined, 0];
  for (const { version, rowCount } of versions) {
    if (landed.some(({ from, to }) => version >= from && version <= to)) {
      open = undefined;
      continue;
    }
    if (!open || rows >= ROWS_OF_FILE) {
      [open, rows] = [{ from: version, to: version }, 0];
      spans.push(open);
    }
    open.to = version;
    rows += rowCount;
  }
  return spans;
}

/** The record of one row. `storedVersion`: the version of the table that brought it, later ones of a row replace earlier. */
export function recordOf(row: MeasurementRow, experimentId: string, storedVersion: number): Record<string, string | null> {
  const { facts } = row;
  const answers = row.answers.flatMap(({ column, text }) => (text === null ? [] : [[memberOf(column), text] as const]));
  return {
    fieldlake_row: row.id,
    experiment_id: experimentId,
    ...Object.fromEntries(MEASUREMENT_COLUMNS.map(({ name, of }) => [name, of(row)])),
    // a VARIANT refuses a document that says a key twice; of those the last counts, as for who reads the text
    data: row.data === null ? null : JSON.stringify(exactRecord(row.data)),
    answers: answers.length === 0 ? null : JSON.stringify(Object.fromEntries(answers)),
    device_row: row.deviceRow,
    device_firmware: clean(facts.deviceFirmware),
    device_version: clean(facts.deviceVersion),
    device_battery: digits(facts.deviceBattery),
    stored_version: String(storedVersion),
  };
}

/** The rows of a message of which the table has the sources. */
function rowsOf(
  ids: { sourceOf: ReturnType<typeof messageSources>; deviceRow: ReturnType<typeof deviceRows> },
  message: InboxMessage,
  decoded: ReadMessage['decoded'],
  wanted: Map<string, number>,
): { version: number; row: MeasurementRow }[] {
  return decoded.flatMap((one) => {
    if (one.kind !== 'measurement') return [];
    const source = ids.sourceOf(message, one);
    const version = wanted.get(source);
    if (version === undefined) return [];
    const rows = measurementRows({ source, deviceRow: ids.deviceRow }, message, one);
    if (typeof rows === 'string') return [];
    // a message may say one thing twice
    wanted.delete(source);
    return rows.map((row) => ({ version, row }));
  });
}

interface LandedRows {
  rows: number;
  /** Measurements whose message is not kept any more, or says something else today. */
  missing: number;
}

async function writeSpan(
  { db, read }: LandingMeasurements,
  { id: tableId, experimentId }: { id: string; experimentId: string },
  span: Span,
  path: string,
): Promise<LandedRows> {
  const sources = await listSourcesBetween(db, tableId, span);
  const byMessage = new Map<string, Map<string, number>>();
  const done: LandedRows = { rows: 0, missing: 0 };
  for (const { source, version, origin } of sources) {
    if (origin === null) {
      done.missing += 1;
      continue;
    }
    const wanted = byMessage.get(origin) ?? new Map<string, number>();
    byMessage.set(origin, wanted.set(source, version));
  }
  const ids = { sourceOf: messageSources(experimentId), deviceRow: deviceRows(experimentId) };
  const origins = [...byMessage.keys()];
  // what a crash left half written
  await rm(path, { force: true });
  const file = await BufferedFile.create(path);
  try {
    for (let at = 0; at < origins.length; at += MESSAGES_AT_ONCE)
      for (const message of await listMessages(db, origins.slice(at, at + MESSAGES_AT_ONCE))) {
        const wanted = byMessage.get(message.id);
        if (!wanted) continue;
        for (const { version, row } of rowsOf(ids, message, await read(message), wanted)) {
          file.text(`${JSON.stringify(recordOf(row, experimentId, version))}\n`);
          done.rows += 1;
          if (file.full) await file.drain();
        }
      }
  } finally {
    await file.close();
  }
  for (const { size } of byMessage.values()) done.missing += size;
  return done;
}

/**
 * Lands the measurements of an experiment that are stored and not in the folder yet, and those that a replay has made anew since. Safe to run again, and beside the service. Answers
 * the files that were written, and their rows. A folder that knows more than the table has is an error: it is another lake's.
 */
export async function landMeasurements(
  deps: LandingMeasurements,
  table: { id: string; experimentId: string; version: number },
  landing: string,
): Promise<LandedRows & { files: number }> {
  const folder = join(landing, FOLDER);
  const landed = await landedSpans(folder, table.experimentId);
  const versions = await listSourceVersions(deps.db, table.id);
  if (landed.some(({ to }) => to > Math.max(table.version, versions.at(-1)?.version ?? 0)))
    throw ofAnotherLake(landing, table.experimentId);
  const total = { files: 0, rows: 0, missing: 0 };
  for (const span of spansToLand(versions, landed)) {
    let done: LandedRows = { rows: 0, missing: 0 };
    await put(folder, nameOf(table.experimentId, span), async (path) => {
      done = await writeSpan(deps, table, span, path);
    });
    total.files += 1;
    total.rows += done.rows;
    total.missing += done.missing;
  }
  return total;
}
