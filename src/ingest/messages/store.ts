/** Measurement messages: kept from the moment they are acknowledged, and turned into rows once. */
import { randomUUIDv7 } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { errors } from '../../errors.ts';
import { listColumnsAt, findTable, listKnownSources, type NewSource } from '../../lakehouse/tables/manifest.ts';
import { useFolder, useSession, type StagingArea } from '../../lakehouse/tables/staging.ts';
import { removeUncommitted, retryUnchanged } from '../../lakehouse/tables/attempts.ts';
import { MAX_COLUMNS } from '../limits.ts';
import { hashDelivery, hashMessage, makeDeviceHasher } from './ids.ts';
import {
  pickContributor,
  makeMeasurementRows,
  countRows,
  type Arrival,
  type DecodedMeasurement,
  type DecodedRefusal,
  type MeasurementRow,
} from './rows.ts';
import { prepareMacros } from './macros.ts';
import { prepareAnnotations, prepareDevices, prepareMeasurements, type Prepared } from './tables.ts';
import * as queries from './messages.queries.ts';
import type { Database, MessageReport, Queryable, Transaction } from './messages.queries.ts';
import { hashPipelines, type Pipelines } from '../pipeline.ts';

export {
  insertContributors,
  listKnownObjects,
  listExperiments,
  listHandled,
  listPending,
  listWaiting,
  reopenMessages,
} from './messages.queries.ts';
export type { InboxMessage, MessageReport } from './messages.queries.ts';
export type { MeasurementRow } from './rows.ts';

/** A message that has arrived. Who sent it is what the connection proved, not what the payload says. */
export interface NewArrival {
  /** UUID of an experiment. Whether there is such an experiment is decided when the message is read. */
  experimentId: string;
  clientId?: string | null;
  /** The person whose credentials or upload URL were used; null for a device by certificate. */
  userId?: string | null;
  /** From the topic; beats the payload's. */
  protocolId?: string | null;
  /** The bytes as they came, or where the object store has them and the SHA-256 (hex) of the bytes there. */
  body: Uint8Array | { objectKey: string; sha256: string; byteCount: number };
}

/**
 * Keeps messages, in one statement; once it resolves they are durable and may be acknowledged. Answers the ids of those that are new: identical bytes of one
 * sender for one experiment are one message.
 */
export async function storeMessages(db: Queryable, arrivals: readonly NewArrival[]): Promise<string[]> {
  if (arrivals.length === 0) return [];
  const rows = arrivals.map(({ experimentId, clientId = null, userId = null, protocolId = null, body }) => {
    const sender = userId ?? clientId ?? '';
    const isHere = body instanceof Uint8Array;
    return {
      id: randomUUIDv7(),
      experimentId,
      source: hashDelivery(experimentId.toLowerCase(), sender, isHere ? body : body.sha256),
      clientId,
      userId,
      protocolId,
      byteCount: isHere ? body.byteLength : body.byteCount,
      objectKey: isHere ? null : body.objectKey,
    };
  });
  const bodies = arrivals.map(({ body }) => (body instanceof Uint8Array ? body : null));
  return queries.insertMessages(db, rows, bodies);
}

/** One message of the inbox, taken apart. `refused`: why the message may not be stored at all; it waits for a replay. */
export interface ReadMessage {
  id: string;
  /** `ordinal`: its place in the order of arrival. */
  arrival: Arrival & { ordinal: number };
  decoded: readonly (DecodedMeasurement | DecodedRefusal)[];
  refused?: string;
}

export interface MessageDeps {
  db: Database;
  staging: StagingArea;
  pipelines: Pipelines;
  /** Runs in the transaction that commits a batch, with the measurements that it adds, each once; not called without any. */
  alongside?: (tx: Transaction, experimentId: string, stored: readonly (readonly MeasurementRow[])[]) => Promise<void>;
  /** Answers whether messages that were refused when they were read still are, and keeps it so until the transaction ends. Always, unless given. */
  isStillRefused?: (tx: Transaction, experimentId: string, reason: string) => Promise<boolean>;
}

const TRIES = 8;
/** Messages that are looked at before other work in this process has its turn. */
const AT_ONCE = 500;

const NONE: MessageReport['reasons'] = {};

interface Sorted {
  /** The rows of each new measurement: one, or one for each element of its burst. */
  measurements: MeasurementRow[][];
  sources: NewSource[];
  reports: MessageReport[];
}

type Tally = { -readonly [Key in keyof MessageReport]: MessageReport[Key] };

function setAside(tally: Tally, reason: string, rows: number): void {
  tally.quarantined += rows;
  tally.reasons = { ...tally.reasons, [reason]: (tally.reasons[reason] ?? 0) + rows };
}

/** Decides for every measurement whether it is stored, there already, or set aside. Without `looksFirst` only repeats within the batch are found. */
async function sortOut(
  { db, pipelines }: MessageDeps,
  experimentId: string,
  messages: readonly ReadMessage[],
  looksFirst: boolean,
): Promise<Sorted> {
  const version = hashPipelines(pipelines);
  const table = await findTable(db, experimentId, 'raw_data');
  const columns = new Set(table ? (await listColumnsAt(db, table.id, table.version)).map(({ name }) => name) : []);
  const asked: string[] = [];
  if (table && looksFirst)
    for (const [at, { refused, arrival, decoded }] of messages.entries()) {
      if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
      if (refused === undefined)
        for (const one of decoded) if (one.kind === 'measurement') asked.push(hashMessage(experimentId, arrival, one));
    }
  const there = new Set(table && asked.length > 0 ? (await listKnownSources(db, table.id, asked)).map(({ source }) => source) : []);
  const deviceRow = makeDeviceHasher(experimentId);
  const sorted: Sorted = { measurements: [], sources: [], reports: [] };
  for (const [at, message] of messages.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
    const report: Tally = { id: message.id, status: 'stored', stored: 0, quarantined: 0, alreadyThere: 0, reasons: NONE };
    for (const one of message.decoded) {
      const rowCount = one.kind === 'measurement' ? countRows(one) : 1;
      if (message.refused !== undefined || one.kind === 'refusal') {
        setAside(report, message.refused ?? (one as DecodedRefusal).reason, rowCount);
        continue;
      }
      const source = hashMessage(experimentId, message.arrival, one);
      const known = there.size;
      if (there.add(source).size === known) {
        report.alreadyThere += rowCount;
        continue;
      }
      const rows = makeMeasurementRows({ source, deviceRow }, message.arrival, one);
      if (typeof rows === 'string') {
        there.delete(source);
        setAside(report, rows, rowCount);
        continue;
      }
      const answers = rows[0]?.answers ?? [];
      if (answers.length > 0) {
        const fresh = answers.map(({ column }) => column).filter((column) => !columns.has(column));
        if (columns.size + fresh.length > MAX_COLUMNS) {
          there.delete(source);
          setAside(report, 'too-many-questions', rowCount);
          continue;
        }
        for (const column of fresh) columns.add(column);
      }
      sorted.sources.push({ source, rowCount: rows.length, quarantinedCount: 0, origin: message.id, pipelineVersion: version });
      sorted.measurements.push(rows);
      report.stored += rows.length;
    }
    if (report.quarantined > 0) report.status = report.stored + report.alreadyThere === 0 ? 'quarantined' : 'partial';
    sorted.reports.push(report);
  }
  return sorted;
}

const ordinalsOf = (messages: readonly ReadMessage[]) => messages.map(({ arrival }) => arrival.ordinal);

async function stillThere(db: Database, experimentId: string, messages: readonly ReadMessage[]): Promise<ReadMessage[]> {
  const pending = new Set(await queries.listStillPending(db, experimentId, ordinalsOf(messages)));
  return messages.filter(({ arrival }) => pending.has(arrival.ordinal));
}

/** Lists the ids of messages that were refused when they were read and no longer are. */
async function listAdmitted({ isStillRefused }: MessageDeps, tx: Transaction, experimentId: string, messages: readonly ReadMessage[]) {
  const admitted = new Set<string>();
  const byReason = Map.groupBy(messages, ({ refused }) => refused);
  for (const [reason, refused] of byReason)
    if (reason !== undefined && isStillRefused && !(await isStillRefused(tx, experimentId, reason)))
      for (const { id } of refused) admitted.add(id);
  return admitted;
}

/** Ends the waiting of messages, whose reports stand in the same order. Answers false when somebody else has ended one of them. */
async function endMessages(tx: Transaction, experimentId: string, messages: readonly ReadMessage[], reports: readonly MessageReport[]) {
  const found = await queries.endPending(tx, experimentId, ordinalsOf(messages));
  if (!found || found.ended < messages.length) return false;
  const again = new Set(found.again);
  const isPlain = ({ stored, quarantined, alreadyThere }: MessageReport) => stored === 1 && quarantined === 0 && alreadyThere === 0;
  const noted: (MessageReport & { again: boolean })[] = [];
  for (const [at, report] of reports.entries()) {
    const isAgain = again.has(messages[at]?.arrival.ordinal ?? 0);
    if (isAgain || !isPlain(report)) noted.push({ ...report, again: isAgain });
  }
  if (noted.length > 0) await queries.noteReports(tx, noted);
  return true;
}

export interface IngestingMessages {
  signal?: AbortSignal;
  /** The end of the batch before, of the same experiment: measurements are written meanwhile, and all else is made and committed after it. */
  before?: Promise<unknown>;
  /** Whether stored measurements are looked up first; true unless given. Otherwise the commit finds them, and all is made a second time. */
  looksFirst?: boolean;
  /** The id for raw_data where it is not there yet. Batches that are stored at once agree on it. */
  rawDataId?: string;
}

interface Try extends IngestingMessages {
  given: readonly ReadMessage[];
  work: string;
  /** The first is 1. */
  tries: number;
}

async function attempt(
  deps: MessageDeps,
  experimentId: string,
  { given, work, tries, signal, before, looksFirst = true, rawDataId }: Try,
): Promise<MessageReport[]> {
  const { db, staging, pipelines, alongside } = deps;
  const messages = tries === 1 ? given : await stillThere(db, experimentId, given);
  if (messages.length === 0) return [];
  const { measurements, sources, reports } = await sortOut(deps, experimentId, messages, looksFirst || tries > 1);
  const rows = measurements.flat();
  const prepared: Prepared[] = [];
  await mkdir(work);
  try {
    if (rows.length > 0)
      await useSession(staging, { signal, small: true }, async (session) => {
        const batch = { db, staging, pipelines, session, experimentId, work };
        prepared.push(await prepareMeasurements(batch, rows, { sources, newId: rawDataId }));
        await before?.catch(() => undefined);
        prepared.push(await prepareDevices(batch, rows));
        prepared.push(...(await prepareMacros(batch, rows)));
        prepared.push(...(await prepareAnnotations(batch, rows)));
      });
    return await db.transaction(async (tx) => {
      // these stay where they are, and are read again
      const admitted = await listAdmitted(deps, tx, experimentId, messages);
      const isHandled = ({ id }: { id: string }) => !admitted.has(id);
      const ended = reports.filter(isHandled);
      // another worker has handled some of them meanwhile
      if (!(await endMessages(tx, experimentId, messages.filter(isHandled), ended))) throw errors.sourceChanged();
      for (const one of prepared) await one.commit(tx);
      if (measurements.length > 0) await alongside?.(tx, experimentId, measurements);
      return ended;
    });
  } catch (error) {
    const written = prepared.map(({ staged }) => staged);
    await removeUncommitted(deps, written);
    throw error;
  }
}

/**
 * Turns pending messages of one experiment into rows of raw_data, the device table and macro tables: all of them, with their reports, in one transaction. Safe to run
 * again after a crash at any moment, and at the same time elsewhere. Answers the reports; none when the messages were handled elsewhere.
 */
export async function ingestMessages(
  deps: MessageDeps,
  experimentId: string,
  messages: readonly ReadMessage[],
  options: IngestingMessages = {},
): Promise<MessageReport[]> {
  if (messages.length === 0) return [];
  return useFolder(deps.staging, (folder) =>
    retryUnchanged(TRIES, (tries) =>
      attempt(deps, experimentId, { given: messages, work: join(folder, String(tries)), tries, ...options }),
    ),
  );
}

/** Lists everyone whose measurements these are: the sender that the connection proved, or else the person whom the payload names. */
export const listContributors = (messages: readonly ReadMessage[]): string[] => [
  ...new Set(
    messages.flatMap(({ arrival, decoded }) =>
      decoded.flatMap((one) => (one.kind === 'measurement' ? (pickContributor(arrival, one) ?? []) : [])),
    ),
  ),
];
