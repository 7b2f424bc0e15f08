/** Turns measurements into the inputs of a macro, and the macro's answers into rows. Pure. */
import type { Measured } from '../../ingest/messages/measured.ts';
import type { MacroRow } from '../../ingest/messages/macros.ts';
import { printMacroError, type ItemResult } from '../../sandbox/job.ts';
import { isRecord, readFullJson } from '../../json.ts';

/** One run: an element of what a measurement holds. */
export interface Element {
  row: Measured;
  index: number;
  byteCount: number;
  /** What the macro sees; undefined with `error`, which says why it is not run. */
  data?: unknown;
  error?: string;
}

/** Lists the runs of a measurement: one for each element of an envelope `{sample: […]}`, or one for the measurement itself. */
export function listElements(row: Measured): Element[] {
  if (row.data === null) return [{ row, index: 0, byteCount: 0, error: 'The measurement has no sample.' }];
  const whole = readFullJson(row.data);
  const byteCount = Buffer.byteLength(row.data);
  const inner = isRecord(whole) && Object.hasOwn(whole, 'sample') ? whole['sample'] : undefined;
  if (Array.isArray(inner)) {
    if (inner.length === 0) return [{ row, index: 0, byteCount, error: 'The sample of the measurement holds no element.' }];
    return inner.map((data: unknown, index) => ({ row, index, byteCount: Math.ceil(byteCount / inner.length), data }));
  }
  return [{ row, index: 0, byteCount, data: isRecord(inner) ? inner : whole }];
}

/** Reads what a measurement's macros see as `ctx`. */
export function readMacroContext({ macroContext }: Measured): Record<string, unknown> | undefined {
  if (macroContext === null) return undefined;
  try {
    const value = readFullJson(macroContext);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Cuts runs into batches of at most `most.items` runs. A batch of more than one run also has at most `most.bytes` bytes. */
export function splitBatches<T extends { byteCount: number }>(items: readonly T[], most: { items: number; bytes: number }): T[][] {
  const batches: T[][] = [];
  let batch: T[] = [];
  let bytes = 0;
  for (const item of items) {
    if (batch.length > 0 && (batch.length >= most.items || bytes + item.byteCount > most.bytes)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += item.byteCount;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/**
 * Whether the same run may end differently another time, because the process was lost or the machine was slow. An error that the code itself reports is final.
 */
export const isTransient = ({ success, error, unfinished }: ItemResult): boolean =>
  !success && (unfinished === true || error?.type === 'CrashError' || error?.type === 'TimeoutError');

/** How many characters of an error, and how many bytes of an output, a table keeps at most. */
const LONGEST_ERROR = 2_000;
const LARGEST_OUTPUT = 1_048_576;

/** Prints the error that is stored with a result; null for an output that is kept. */
export function printError({ success, error, output }: Pick<ItemResult, 'success' | 'error' | 'output'>): string | null {
  if (!success && error === undefined) return 'The macro gave no result.';
  if (error !== undefined) {
    const place = error.line === undefined ? '' : ` (line ${error.line})`;
    return `${printMacroError(error).slice(0, LONGEST_ERROR - place.length)}${place}`;
  }
  const byteCount = Buffer.byteLength(JSON.stringify(output ?? {}));
  return byteCount > LARGEST_OUTPUT ? `The output has ${byteCount} bytes; a table keeps ${LARGEST_OUTPUT} at most.` : null;
}

/** Makes the row of one run. */
export function makeMacroRow(
  { row, index }: Element,
  macro: { macroId: string; name: string | null; filename: string | null; version: string },
  outcome: { output: Record<string, unknown>; error: string | null },
  processedAt: string,
): MacroRow {
  const { macroId, name, filename, version } = macro;
  const { facts, contributorId, clientId, answers } = row;
  const output = outcome.output as MacroRow['result']['output'];
  return {
    facts,
    contributorId,
    clientId,
    processedAt,
    answers,
    rawId: row.id,
    index,
    version,
    result: { macroId, name, filename, output, error: outcome.error },
  };
}
