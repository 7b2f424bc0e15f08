/**
 * Tells whether a file is in its table already. A file is known by its bytes and its name, and its rows stand in a table in one reading: sent with other reading
 * fields it is read only where no row of an earlier reading stands, so that no row comes twice.
 */
import { createHash } from 'node:crypto';
import { findSource } from '../../lakehouse/tables/manifest.ts';
import type { ReadingOptions } from '../typing/readings.ts';
import { listReadings, type FileOutcome, type Queryable } from './uploads.queries.ts';

/** A file of an upload, and how it is to be read. */
export interface ReadFile {
  tableId: string;
  /** 64 hex digits. */
  sha256: string;
  path: string;
  reading: ReadingOptions;
}

/** What the report of a file says that is not read, because the table has it. */
export type Standing = Pick<FileOutcome, 'status' | 'alreadyThere' | 'reason' | 'message'>;

/** The reading fields in one order and without those that say nothing, so that two readings can be compared. */
function listFields({ types, leaveOut = [], encoding, ...rest }: ReadingOptions): [string, unknown][] {
  const said = {
    ...{ ...rest, types: types && Object.entries(types).sort(), encoding: encoding === 'utf-8' ? undefined : encoding },
    leaveOut: leaveOut.length === 0 ? undefined : leaveOut.toSorted(),
  };
  return Object.entries(said)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

const printReading = (reading: ReadingOptions): string => JSON.stringify(listFields(reading));
const isSameReading = (a: ReadingOptions, b: ReadingOptions) => printReading(a) === printReading(b);

const hashSource = (parts: readonly string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 20);

/**
 * Lists the identities that the rows of a file may have: 20 hex digits of SHA-256 over table, object and path, and for a file of whose first reading no row was
 * stored over the later reading too.
 */
export const listUploadSources = ({ tableId, sha256, path, reading }: ReadFile): [first: string, later: string] => [
  hashSource(['upload', tableId, sha256, path]),
  hashSource(['upload', tableId, sha256, path, printReading(reading)]),
];

/** Finds the identity under which an upload has read a file; undefined when it has not. */
export async function findOwnSource(db: Queryable, file: ReadFile, uploadId: string) {
  for (const source of listUploadSources(file)) {
    const found = await findSource(db, file.tableId, source);
    if (found && (found.origin === null || found.origin === uploadId)) return { ...found, source };
  }
}

/** Whether rows of the file stand in the table by a reading other than this one. */
export const hasOtherRows = async (db: Queryable, file: ReadFile): Promise<boolean> =>
  (await listReadings(db, file)).some(({ reading, stored }) => stored > 0 && !isSameReading(reading, file.reading));

const MOST_LETTERS = 200;

function describeFields(reading: ReadingOptions): string {
  const told = listFields(reading).map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return told.length === 0 ? 'without reading fields' : `with ${told.join(', ').slice(0, MOST_LETTERS)}`;
}

const explainSame = (stored: number, quarantined: number): string => {
  if (quarantined === 0) return 'This file is in the table already.';
  const way =
    stored === 0
      ? 'Sent with other reading fields, such as encoding, it is read anew.'
      : 'To have it read in another way, take that upload back first, or send it into another table.';
  return `This file is in the table already, and ${quarantined} of its records are set aside. ${way}`;
};

/** Finds the identity for a file's rows, or what to report of a file that is not read because the table has it. */
export async function findStanding(db: Queryable, file: ReadFile): Promise<{ source: string; isLater: boolean } | Standing> {
  const [first, later] = listUploadSources(file);
  const there = await findSource(db, file.tableId, first);
  if (!there) return { source: first, isLater: false };
  const readings = await listReadings(db, file);
  const same = readings.find(({ reading }) => isSameReading(reading, file.reading));
  if (same || readings.length === 0) {
    const { stored, quarantined } = same ?? { stored: there.rowCount, quarantined: there.quarantinedCount };
    return { status: 'completed', alreadyThere: stored + quarantined, reason: null, message: explainSame(stored, quarantined) };
  }
  const other = readings.find(({ stored }) => stored > 0);
  if (!other) return { source: later, isLater: true };
  const { stored, quarantined } = other;
  return {
    status: 'failed',
    alreadyThere: stored + quarantined,
    reason: 'read_otherwise',
    message: `${stored} rows of this file are in the table already, as it was read ${describeFields(other.reading)}. It was not read again, so that no row comes twice. Take that upload back and send the file anew, or send it into another table; under another name its rows are added to those that are there.`,
  };
}
