/** How pieces of work end: their rows are stored, or they are given back, cut, and in the end given up. */
import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../context.ts';
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
 * How often a piece is begun at most whose code cannot be started, and how often a run is tried that was lost or too slow. `together`: tries after which a
 * piece that cannot be read or stored is cut into `PARTS`. `alone`: tries after which a measurement is ended that cannot be by itself.
 */
export const TRIES = { piece: 8, run: 3, together: 2, alone: 5 };
const PARTS = 8;

/** Seconds before a piece is tried again. They stay few, so that work does not seem to stand still after an interruption. */
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

/** The sandbox does not run the code: it may lack the language, which is nothing that is waited for. */
export class NotStarted extends Error {}

/** Whether a file of the lake is missing: its disk may be away. */
const isFileMissing = (error: unknown) =>
  error instanceof ApiError && /No such file|ENOENT|No files found/.test(String(error.details.facts?.['problem']));

/** Whether a failure says nothing about the work, which is then waited for. */
export const isWaitedFor = (error: unknown) => isAround(error) || isFileMissing(error);

/** Ends a piece without storing rows. Earlier results of its macro stay. */
export async function leaveWithheld(ctx: Context, { id, experimentId, macroId, reprocessId, rowIds }: Work): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    if (!(await endWork(tx, id))) return;
    if (reprocessId === null) {
      await noteWithheld(tx, { experimentId, macroId, measurements: rowIds.length });
      return;
    }
    await countDone(tx, reprocessId, { rows: rowIds.length, failed: rowIds.length });
    await completeReprocess(tx, reprocessId);
  });
}

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

/** Cuts a piece into so many. */
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
  const { id, experimentId, macroId, reprocessId, rowIds } = piece;
  const signal = bounds.limited();
  try {
    const elements = (await readElements(ctx, piece, signal)) ?? [];
    await settle(ctx, piece, refuse(piece, elements, FAILED, 'none'), signal);
  } catch (error) {
    if (error instanceof Superseded) return;
    if (bounds.signal.aborted || isWaitedFor(error)) {
      await giveBack(ctx, piece, error, bounds);
      return;
    }
    ctx.log.error({ err: error, experimentId, macroId, rowIds }, 'results of a macro are given up');
    await ctx.db.transaction(async (tx) => {
      if (!(await endWork(tx, id))) return;
      if (reprocessId === null) {
        await noteUnstored(tx, { experimentId, macroId, measurements: rowIds.length, note: UNSTORED.new });
        return;
      }
      await countDone(tx, reprocessId, { rows: rowIds.length, failed: rowIds.length, note: UNSTORED.run });
      await completeReprocess(tx, reprocessId);
    });
  }
}

/** Gives back a piece that could not be run: for another try, or as smaller pieces, until a measurement has had its tries by itself. */
export async function giveBack(ctx: Context, piece: Work, error: unknown, bounds: Bounds): Promise<void> {
  const { id, rowIds, tries } = piece;
  const { signal } = bounds;
  if (signal.aborted || isWaitedFor(error)) {
    const seconds = signal.aborted ? 0 : isAround(error) ? WAIT.around : WAIT.missing;
    await retryUntil(signal, () => excuseWork(ctx.db, id, seconds));
  } else if (error instanceof NotStarted) await holdWork(ctx.db, id, backoff(tries));
  else if (rowIds.length > 1 && tries >= TRIES.together)
    await cutPiece(ctx, piece, PARTS, { tries: TRIES.together - 1, delay: backoff(tries) });
  else if (tries >= TRIES.alone) await giveUp(ctx, piece, bounds);
  else await holdWork(ctx.db, id, backoff(tries));
}
