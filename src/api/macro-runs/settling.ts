/** How pieces of work end: their rows are stored, or they are given back, cut, and in the end given up. */
import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { retryUntil } from '../../database/retry.ts';
import { ApiError } from '../../errors.ts';
import { isAround } from '../../ingest/around.ts';
import { storeMacroRows, type MacroRow } from '../../ingest/messages/macros.ts';
import { readElements } from './elements.ts';
import {
  completeReprocess,
  countDone,
  endWork,
  excuseWork,
  holdWork,
  insertWork,
  noteUnstored,
  noteWithheld,
  type NewWork,
  type Work,
} from './macro-runs.queries.ts';
import { makeMacroRow, type Element } from './running.ts';

/** Seconds for which a piece waits for the disk, the database or the store, and for a file that is missing, before it is begun again. */
const WAIT = { around: 2, missing: 15 };
/**
 * How often things are tried. `piece`: code that cannot be started. `run`: a run that was lost or too slow. `together`: measurements that cannot be read or
 * stored, before they are cut into `PARTS`. `alone`: one such measurement, before it is given up.
 */
export const TRIES = { piece: 8, run: 3, together: 2, alone: 5 };
const PARTS = 8;

/** Seconds before something is tried again. They stay few, so that work does not seem to stand still after an interruption. */
const backoff = (tries: number) => Math.min(15, 2 ** tries);

export interface Outcome {
  rows: MacroRow[];
  /** Measurements whose results are all in `rows`. */
  done: string[];
  /** Measurements that are left for another turn. */
  later: string[];
  /** Measurements whose run was lost or too slow, to be run again by themselves. */
  again: string[];
}

/** Gives every measurement of a piece the same error, where no other run could change it. */
export function refuse({ macroId }: Work, elements: readonly Element[], error: string, version: string): Outcome {
  const about = { macroId, name: null, filename: null, version };
  const processedAt = new Date().toISOString();
  const first = elements.filter(({ index }) => index === 0);
  return {
    rows: first.map((each) => makeMacroRow(each, about, { output: {}, error }, processedAt)),
    done: first.map(({ row }) => row.id),
    later: [],
    again: [],
  };
}

export class Superseded extends Error {}

/** The code could not be started, as where the service lacks its language. */
export class NotStarted extends Error {}

interface Notes {
  /** What its request says of it; null for nothing. */
  note: string | null;
  /** Notes it where nobody asked for it. */
  noteNew: (tx: Transaction) => Promise<unknown>;
}

/** Whether a file of the lake is missing: its disk may be away. */
const isFileMissing = (error: unknown) =>
  error instanceof ApiError && /No such file|ENOENT|No files found/.test(String(error.details.facts?.['problem']));

/** Says whether a failure counts as a try, and after how many seconds there is another. What says nothing about the work is waited for. */
export function classifyFailure(error: unknown, tries: number): { isCounted: boolean; seconds: number } {
  if (isAround(error)) return { isCounted: false, seconds: WAIT.around };
  if (isFileMissing(error)) return { isCounted: false, seconds: WAIT.missing };
  return { isCounted: true, seconds: backoff(tries) };
}

/** Ends a piece without storing rows: its measurements are failed ones of its request, or noted where nobody asked for them. Earlier results stay. */
async function endWithoutRows(ctx: Context, { id, reprocessId, rowIds }: Work, { note, noteNew }: Notes): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    if (!(await endWork(tx, id))) return;
    if (reprocessId === null) {
      await noteNew(tx);
      return;
    }
    await countDone(tx, reprocessId, { rows: rowIds.length, failed: rowIds.length, note });
    await completeReprocess(tx, reprocessId);
  });
}

const NO_LONGER = 'Whoever asked for this run may no longer read the macro, or no longer contribute to the experiment.';

/** Ends a piece whose sender may not run its macro. */
export const leaveWithheld = (ctx: Context, piece: Work): Promise<void> => {
  const { experimentId, macroId, rowIds } = piece;
  return endWithoutRows(ctx, piece, {
    note: NO_LONGER,
    noteNew: (tx) => noteWithheld(tx, { experimentId, macroId, measurements: rowIds.length }),
  });
};

/** Stores the outcome of a piece. Its unfinished measurements become new pieces. */
export async function settle(ctx: Context, work: Work, outcome: Outcome, signal: AbortSignal): Promise<void> {
  const { id, experimentId, macroId, reprocessId, tries } = work;
  const { rows, done, later, again } = outcome;
  const gone = work.rowIds.length - done.length - later.length - again.length;
  const piece = (rowIds: string[], more: Partial<NewWork>): NewWork => ({ ...work, ...more, id: randomUUIDv7(), rowIds });
  const rest = [
    ...(later.length === 0 ? [] : [piece(later, { tries: done.length + again.length === 0 ? tries : 0 })]),
    ...(again.length === 0 ? [] : [piece(again, { tries, delay: backoff(tries) })]),
  ];
  const failed = new Set(rows.filter(({ result }) => result.error !== null).map(({ rawId }) => rawId)).size;
  await storeMacroRows(
    ctx,
    { experimentId, macroId, rawIds: done, rows },
    async (tx) => {
      if (!(await endWork(tx, id))) throw new Superseded();
      if (rest.length > 0) await insertWork(tx, experimentId, rest);
      if (reprocessId === null) return;
      await countDone(tx, reprocessId, { rows: done.length + gone, failed });
      await completeReprocess(tx, reprocessId);
    },
    signal,
  );
  const wrong = rows.filter(({ result }) => result.error !== null).length;
  ctx.metrics.macroRows.inc({ outcome: 'error' }, wrong);
  ctx.metrics.macroRows.inc({ outcome: 'made' }, rows.length - wrong);
}

export async function cutPiece(ctx: Context, { id, ...work }: Work, parts: number, more: Pick<NewWork, 'tries' | 'delay'>): Promise<void> {
  const size = Math.ceil(work.rowIds.length / parts);
  const pieces: NewWork[] = [];
  for (let at = 0; at < work.rowIds.length; at += size)
    pieces.push({ ...work, ...more, id: randomUUIDv7(), rowIds: work.rowIds.slice(at, at + size) });
  await ctx.db.transaction(async (tx) => {
    if (await endWork(tx, id)) await insertWork(tx, work.experimentId, pieces);
  });
}

interface Bounds {
  /** Aborted when the process is to end. */
  signal: AbortSignal;
  /** Makes a signal that also ends what takes too long. */
  limited: () => AbortSignal;
}

/** What is stored for a measurement that failed too often. */
const FAILED = `The macro could not be run on this measurement, or its results could not be stored, in ${TRIES.alone} tries. Run it again.`;
/** What a run says whose results cannot be stored at all, and the run that is listed where they were those of new measurements. */
const UNSTORED = {
  run: 'Some results could not be stored for a reason of the service. Run the macro again, and tell the operator if that fails too.',
  new: 'Results of new measurements could not be stored for a reason of the service. Run the macro again, and tell the operator if that fails too.',
};

/** Ends a measurement that failed too often: by an error as its row, or where no row can be stored as a failed one of its run. */
async function giveUp(ctx: Context, piece: Work, bounds: Bounds): Promise<void> {
  const { experimentId, macroId, rowIds } = piece;
  const signal = bounds.limited();
  try {
    const elements = (await readElements(ctx, piece, signal)) ?? [];
    await settle(ctx, piece, refuse(piece, elements, FAILED, 'none'), signal);
  } catch (error) {
    if (error instanceof Superseded) return;
    if (bounds.signal.aborted || !classifyFailure(error, piece.tries).isCounted) {
      await giveBack(ctx, piece, error, bounds);
      return;
    }
    ctx.log.error({ err: error, experimentId, macroId, rowIds }, 'results of a macro are given up');
    const unstored = { experimentId, macroId, measurements: rowIds.length, note: UNSTORED.new };
    await endWithoutRows(ctx, piece, { note: UNSTORED.run, noteNew: (tx) => noteUnstored(tx, unstored) });
  }
}

/** Gives back a piece that could not be run: for another try, or as smaller pieces, until a measurement has had its tries by itself. */
export async function giveBack(ctx: Context, piece: Work, error: unknown, bounds: Bounds): Promise<void> {
  const { id, rowIds, tries } = piece;
  const { signal } = bounds;
  const { isCounted, seconds } = classifyFailure(error, tries);
  if (signal.aborted || !isCounted) await retryUntil(signal, () => excuseWork(ctx.db, id, signal.aborted ? 0 : seconds));
  else if (error instanceof NotStarted) await holdWork(ctx.db, id, seconds);
  else if (rowIds.length > 1 && tries >= TRIES.together) await cutPiece(ctx, piece, PARTS, { tries: TRIES.together - 1, delay: seconds });
  else if (tries >= TRIES.alone) await giveUp(ctx, piece, bounds);
  else await holdWork(ctx.db, id, seconds);
}
