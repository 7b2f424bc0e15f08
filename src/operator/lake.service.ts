/** What an operator asks of the lake from the command line. */
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { listExperiments, listHandled, reopenMessages } from '../ingest/messages/store.ts';
import { replayMessages } from '../ingest/messages/replay.ts';
import { startLogs, type Started } from '../lakehouse/tables/delta/starting.ts';
import type { LakePlace } from '../lakehouse/tables/files/lake-settings.ts';
import { copyLake, requireConditionalPuts, setPlace } from '../lakehouse/tables/files/place.ts';
import { SMALL_ROWS } from '../lakehouse/tables/maintenance.ts';
import { listColumnsAt, listFilesAt } from '../lakehouse/tables/manifest.ts';
import type { ObjectStore } from '../storage/objects.ts';
import { setFilesVariable, writeSelect } from '../lakehouse/tables/rewriting.ts';
import { useSession } from '../lakehouse/tables/staging.ts';
import { quoteName } from '../lakehouse/terms/quoting.ts';
import { SORT } from '../api/data/compaction.service.ts';
import { decodeStored, readTogether } from '../api/messages/reading.service.ts';
import { findWaiting, listKinds, listMessageStates, listReasons, listTables, listWaitingExperiments } from './lake.queries.ts';

/** The parts of the service that a command works with. */
export interface LakeTools extends Pick<Context, 'db' | 'staging' | 'pipelines' | 'objects' | 'lake' | 'lakeFolder'> {
  place: LakePlace;
  /** Where the settings want it. */
  wanted: LakePlace;
  openStore: (place: LakePlace) => Promise<ObjectStore>;
}

/** Loads how much the lake holds, how far the pipeline is behind and with whose messages, and what was set aside for which reasons. */
export async function loadLakeStatus({ db }: Pick<LakeTools, 'db'>) {
  const [waiting, experiments, kinds, messages, setAside] = await Promise.all([
    findWaiting(db),
    listWaitingExperiments(db),
    listKinds(db, SMALL_ROWS),
    listMessageStates(db),
    listReasons(db),
  ]);
  return { waiting: { ...waiting, experiments }, tables: kinds, messages, setAside };
}

/**
 * Gives each table of an older lake the log that it lacks; the running service publishes the logs. When the settings want the lake elsewhere, copies it there
 * while no service runs. The original stays.
 */
export async function migrateLake(tools: LakeTools): Promise<Started & { copied: number; place: LakePlace }> {
  const started = await startLogs(tools, SORT);
  const { db, lake, place, wanted, openStore } = tools;
  if (place === wanted) return { ...started, copied: 0, place };
  const target = await openStore(wanted);
  if (wanted !== 'folder') await requireConditionalPuts(target);
  const copied = await copyLake(lake, target);
  // comes last: a move that stops earlier begins again from where the lake still lies
  await setPlace(db, wanted);
  return { ...started, copied, place: wanted };
}

export interface LakeProblem {
  table: string;
  path: string | null;
  problem: string;
}

/** Kinds of tables whose rows have an id each. */
const KEYED = new Set(['raw_data', 'device', 'macro', 'upload', 'quarantine']);

const firstLine = (error: unknown) => (error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));

type TableRow = Awaited<ReturnType<typeof listTables>>[number];

async function verifyTable(
  { db, staging, lake, lakeFolder }: LakeTools,
  table: TableRow,
): Promise<{ files: number; problems: LakeProblem[] }> {
  const files = await listFilesAt(db, table.id, table.version);
  const problems: LakeProblem[] = [];
  const say = (path: string | null, problem: string) => problems.push({ table: table.id, path, problem });
  const whole: string[] = [];
  await useSession(staging, {}, async (session) => {
    for (const { path, byteCount, rowCount } of files) {
      const full = join(lakeFolder, path);
      const size = (await lake.head(path))?.byteCount ?? null;
      if (size === null) say(path, 'the file is missing');
      else if (size !== byteCount) say(path, `the file has ${size} bytes, not ${byteCount}`);
      else
        try {
          await session.prepare([setFilesVariable([full])]);
          const [row] = await session.rows({ sql: `select count(*)::varchar as rows from read_parquet(getvariable('files'))`, values: [] });
          if (Number(row?.['rows']) !== rowCount) say(path, `the file has ${String(row?.['rows'])} rows, not ${rowCount}`);
          else whole.push(full);
        } catch (error) {
          say(path, `the file cannot be read: ${firstLine(error)}`);
        }
    }
    const sum = files.reduce((total, { rowCount }) => total + rowCount, 0);
    if (sum !== table.rowCount) say(null, `the files have ${sum} rows, the table ${table.rowCount}`);
    if (whole.length > 0 && KEYED.has(table.kind)) {
      const columns = (await listColumnsAt(db, table.id, table.version)).filter(({ hasValues }) => hasValues);
      const read = columns.map(({ name }) => `bit_xor(hash(${quoteName(name)}))`);
      try {
        await session.prepare([setFilesVariable(whole)]);
        const [row] = await session.rows({
          sql: `select ${['(count(*) - count(distinct id))::varchar as doubled', ...read].join(', ')} from (${writeSelect(columns)})`,
          values: [],
        });
        if (row?.['doubled'] !== '0') say(null, `${String(row?.['doubled'])} rows have the id of another`);
      } catch (error) {
        say(null, `the rows cannot be read as the catalogue says: ${firstLine(error)}`);
      }
    }
  });
  return { files: files.length, problems };
}

/** Reads every live file of every table and compares it with what the manifest and the catalogue say of it. */
export async function verifyLake(tools: LakeTools): Promise<{ tables: number; files: number; problems: LakeProblem[] }> {
  const tables = await listTables(tools.db);
  const found = { tables: tables.length, files: 0, problems: [] as LakeProblem[] };
  for (const table of tables) {
    const { files, problems } = await verifyTable(tools, table);
    found.files += files;
    found.problems.push(...problems);
  }
  return found;
}

const BATCH = 200;

export interface ReplaySpan {
  experimentId?: string;
  /** ISO 8601; the span ends before `to`. */
  from: string;
  to: string;
}

/** Makes anew the rows of messages that arrived in a span, and lets messages that were set aside be tried again. */
export async function replayLake(tools: LakeTools, { experimentId, from, to }: ReplaySpan) {
  const ids = experimentId === undefined ? await listExperiments(tools.db) : [experimentId];
  const done = { messages: 0, rows: 0, reopened: 0 };
  for (const id of ids) {
    for (let after = -1; ;) {
      const messages = await listHandled(tools.db, id, { from, to, after, limit: BATCH });
      if (messages.length === 0) break;
      const read = await readTogether(messages, async (message) => {
        return { id: message.id, arrival: message, decoded: await decodeStored(tools.objects, message) };
      });
      done.rows += await replayMessages(tools, id, read);
      done.messages += read.length;
      after = read.at(-1)?.arrival.ordinal ?? after;
    }
    done.reopened += await reopenMessages(tools.db, id, { from, to });
  }
  return done;
}
