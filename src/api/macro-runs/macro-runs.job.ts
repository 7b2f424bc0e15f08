/** Runs macros on stored measurements. */
import { randomUUIDv7 } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { openTable } from '../../authorization/tables.ts';
import type { Context } from '../../context.ts';
import { isUuid } from '../../database/uuid.ts';
import { ApiError } from '../../errors.ts';
import { findDelivered, findNaming, type MeasuredIds } from '../../ingest/messages/measured.ts';
import { readJson } from '../../json.ts';
import { readStream } from '../../lakehouse/read/read.ts';
import { storeMacroRows, type MacroRow } from '../../ingest/messages/macros.ts';
import type { ItemResult } from '../../sandbox/job.ts';
import { isOutOfMemory, isStorageFull } from '../../storage/full.ts';
import { openSource } from '../data/data.service.ts';
import {
  claimWork,
  completeReprocess,
  countDone,
  endWork,
  excuseWork,
  findKeptCode,
  findLiveCode,
  giveUpReprocess,
  hasMacro,
  holdReprocess,
  holdWork,
  insertWork,
  listDue,
  listQueued,
  noteWithheld,
  startReprocess,
  type Code,
  type NewWork,
  type StoredRun,
  type Work,
} from './macro-runs.queries.ts';
import { makeMeasurementRequest, PIECE } from './macro-runs.service.ts';
import { readElements } from './elements.ts';
import { splitBatches, readMacroContext, printError, isTransient, makeMacroRow, type Element } from './running.ts';

/** After so long without a sign of its worker, a piece may be claimed by another. */
const LEASE_SECONDS = 8;
const HOLD_MS = 2_000;
/** Most runs, and most bytes, of one call of the sandbox. */
const BATCH = { items: 250, bytes: 4_194_304 };
const ITEM_MS = 1_000;
/** How long a piece may run in one turn. What is left of it then goes to the end of the queue. */
const TURN_MS = 30_000;
/** After so long a piece is given back, whatever it waits for. Otherwise a process that is alive but makes no progress would hold it for ever. */
const PIECE_MS = 120_000;
/** Bytes of outputs after which a piece is stored. */
const OUTPUT_BYTES = 33_554_432;
/** How long a piece waits for room on the disk before it is begun again. */
const FULL_SECONDS = 2;
/** How often a piece is begun at most, and how often a run is tried that was lost or too slow. */
const TRIES = { piece: 8, run: 3 };

/** What is stored for an entry that was not reached in the last turn of its measurement. */
const TOO_MUCH = 'The entries of this measurement take longer together than a macro may run.';

const WITHHELD = Symbol('withheld');

/** Seconds before a piece is tried again. They stay few, so that work does not seem to stand still after an interruption. */
const backoff = (tries: number) => Math.min(15, 2 ** tries);

/**
 * Finds the code that a piece is to run, or answers why it cannot run. Answers `WITHHELD` when the person for whom it would run may not read it and no manager
 * has allowed it.
 */
async function codeOf(
  { db }: Context,
  { experimentId, macroId, workbookVersionId, senderId, reprocessId }: Work,
): Promise<Code | string | typeof WITHHELD> {
  const isThere = await hasMacro(db, macroId);
  if (workbookVersionId === null || reprocessId !== null) {
    if (!isThere) return 'There is no such macro.';
    return (await findLiveCode(db, experimentId, macroId, senderId)) ?? WITHHELD;
  }
  const kept = isUuid(workbookVersionId)
    ? await findKeptCode(db, experimentId, { macroId, versionId: workbookVersionId, personId: senderId })
    : undefined;
  if (kept) return kept;
  return isThere && !(await findLiveCode(db, experimentId, macroId, senderId))
    ? WITHHELD
    : 'The workbook version of the measurement does not keep this macro.';
}

interface Outcome {
  rows: MacroRow[];
  /** Measurements whose results are all in `rows`. */
  done: string[];
  /** Measurements that are left for another turn. */
  later: string[];
  /** Measurements whose run was lost or too slow, to be run again by themselves. */
  again: string[];
}

/** Runs a macro over what the measurements hold, for one turn. Throws what keeps the whole batch from running. */
async function runPiece(ctx: Context, work: Work, code: Code, elements: readonly Element[], signal: AbortSignal): Promise<Outcome> {
  const { macroId, experimentId, tries } = work;
  const sandbox = await ctx.sandbox();
  const about = { macroId, name: code.name, filename: code.filename, version: code.version };
  const results = new Map<Element, ItemResult>();
  const end = performance.now() + TURN_MS;
  let bytes = 0;
  const runnable = elements.filter(({ error }) => error === undefined);
  for (const batch of splitBatches(runnable, BATCH)) {
    const left = end - performance.now();
    if (left < ITEM_MS || bytes > OUTPUT_BYTES) break;
    const { results: answers, outputBytes } = await sandbox.run({
      language: code.language,
      code: code.code,
      version: `${macroId}:${code.version}`,
      caller: `experiment:${experimentId}`,
      items: batch.map(({ row, data }, at) => ({ id: String(at), data, context: readMacroContext(row) })),
      timeoutMs: left,
      itemTimeoutMs: ITEM_MS,
      signal,
    });
    batch.forEach((element, at) => {
      const answer = answers[at];
      if (answer === undefined) return;
      results.set(element, answer);
    });
    bytes += outputBytes;
  }
  const processedAt = new Date().toISOString();
  const outcome: Outcome = { rows: [], done: [], later: [], again: [] };
  const byRow = new Map<string, Element[]>();
  for (const element of elements) byRow.set(element.row.id, [...(byRow.get(element.row.id) ?? []), element]);
  for (const [id, parts] of byRow) {
    const answers = parts.map((part) => (part.error === undefined ? results.get(part) : undefined));
    const isMissing = parts.some((part, at) => part.error === undefined && (answers[at] === undefined || answers[at].unfinished === true));
    // the first measurement of a piece that no turn is long enough for is given up, or it would hold up the others for ever
    const isHopeless = tries >= TRIES.piece && outcome.done.length === 0;
    if (isMissing && !isHopeless) outcome.later.push(id);
    else if (tries < TRIES.run && answers.some((answer) => answer !== undefined && isTransient(answer))) outcome.again.push(id);
    else {
      outcome.done.push(id);
      parts.forEach((part, at) => {
        const answer = answers[at];
        const error = part.error ?? (answer === undefined ? TOO_MUCH : printError(answer));
        outcome.rows.push(makeMacroRow(part, about, { output: error === null ? (answer?.output ?? {}) : {}, error }, processedAt));
      });
    }
  }
  return outcome;
}

/** Gives every measurement of a piece the same error, where no other run could change it. */
function refuse({ macroId }: Work, elements: readonly Element[], error: string, version: string): Outcome {
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

/** Ends a piece without storing rows. Earlier results of its macro stay. */
async function withhold(ctx: Context, { id, experimentId, macroId, reprocessId, rowIds }: Work): Promise<void> {
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

class Superseded extends Error {}

/** Stores the outcome of a piece. Its unfinished measurements become new pieces. */
async function settle(ctx: Context, work: Work, outcome: Outcome, signal: AbortSignal): Promise<void> {
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

/** Cuts a piece in two. Both are begun anew. */
async function halve(ctx: Context, { id, ...work }: Work): Promise<void> {
  const middle = Math.ceil(work.rowIds.length / 2);
  const halves = [work.rowIds.slice(0, middle), work.rowIds.slice(middle)];
  await ctx.db.transaction(async (tx) => {
    if (!(await endWork(tx, id))) throw new Superseded();
    const made = halves.map((rowIds) => ({ ...work, id: randomUUIDv7(), rowIds, tries: 0 }));
    await insertWork(tx, work.experimentId, made);
  });
}

async function work(ctx: Context, piece: Work, signal: AbortSignal): Promise<void> {
  const code = await codeOf(ctx, piece);
  if (code === WITHHELD) return withhold(ctx, piece);
  const elements = await readElements(ctx, piece, signal);
  if (!elements) return halve(ctx, piece);
  let outcome: Outcome;
  if (typeof code === 'string') outcome = refuse(piece, elements, code, 'none');
  else
    try {
      outcome = await runPiece(ctx, piece, code, elements, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (piece.tries < TRIES.piece || isStorageFull(error)) throw error;
      const why = error instanceof ApiError ? error.message : 'The macro could not be run.';
      outcome = refuse(piece, elements, why, code.version);
    }
  await settle(ctx, piece, outcome, signal);
}

/** Runs one piece of an experiment's work; false when none is due. */
async function runOne(ctx: Context, experimentId: string, signal: AbortSignal): Promise<boolean> {
  const piece = await claimWork(ctx.db, experimentId, LEASE_SECONDS);
  if (!piece) return false;
  const hold = setInterval(() => void holdWork(ctx.db, piece.id, LEASE_SECONDS).catch(() => undefined), HOLD_MS);
  try {
    await work(ctx, piece, AbortSignal.any([signal, AbortSignal.timeout(PIECE_MS)]));
  } catch (error) {
    if (error instanceof Superseded) return true;
    clearInterval(hold);
    if (signal.aborted) await excuseWork(ctx.db, piece.id, 0);
    else if (isStorageFull(error)) await excuseWork(ctx.db, piece.id, FULL_SECONDS);
    else await holdWork(ctx.db, piece.id, backoff(piece.tries));
    if (!signal.aborted)
      ctx.log.warn({ err: error, experimentId, macroId: piece.macroId, tries: piece.tries }, 'a macro could not be run yet');
  } finally {
    clearInterval(hold);
  }
  return true;
}

interface Line {
  id: string;
  timestamp: string;
}

/** Finds the measurements that match a request, as far as the person who made it may still read them. Answers them in pieces, by time. */
async function findMatching(ctx: Context, run: StoredRun, signal: AbortSignal): Promise<MeasuredIds[]> {
  if (run.createdBy === null) return [];
  const table = await openTable(ctx.db, run.createdBy, run.experimentId, 'raw_data');
  const request = makeMeasurementRequest(run.filters);
  const { warehouse, source } = await ctx.exporting.choose(await openSource(ctx, table), request);
  const delivered = run.includeDelivered ? new Set<string>() : await findDelivered(ctx, run.experimentId, run.macroId);
  const { body } = await readStream(warehouse, source, request, { format: 'ndjson', signal });
  const pieces: MeasuredIds[] = [];
  let piece: Line[] = [];
  const close = () => {
    const [first, last] = [piece[0], piece.at(-1)];
    if (first && last) pieces.push({ ids: piece.map(({ id }) => id), from: first.timestamp, to: last.timestamp });
    piece = [];
  };
  for await (const text of createInterface({ input: body, crlfDelay: Infinity })) {
    const line = readJson(text) as Line;
    if (delivered.has(line.id)) continue;
    piece.push(line);
    if (piece.length === PIECE) close();
  }
  close();
  return pieces;
}

async function findPieces(ctx: Context, run: StoredRun, signal: AbortSignal): Promise<MeasuredIds[]> {
  if (run.scope === 'naming') return findNaming(ctx, run, PIECE);
  try {
    return await findMatching(ctx, run, signal);
  } catch (error) {
    // the person who asked may no longer read the experiment, or a column that they filtered by is gone
    if (error instanceof ApiError && error.status < 500 && error.status !== 429 && error.code !== 'READ_TOO_LARGE') return [];
    throw error;
  }
}

/** Cuts a queued request into pieces of work. */
async function startRun(ctx: Context, run: StoredRun, signal: AbortSignal): Promise<void> {
  const { id, experimentId, macroId } = run;
  const pieces = await findPieces(ctx, run, signal);
  await ctx.db.transaction(async (tx) => {
    const total = pieces.reduce((sum, { ids }) => sum + ids.length, 0);
    if (!(await startReprocess(tx, id, total))) return;
    const fresh = pieces.map(({ ids, from, to }): NewWork => {
      return { id: randomUUIDv7(), macroId, workbookVersionId: null, senderId: run.createdBy, reprocessId: id, rowIds: ids, from, to };
    });
    if (fresh.length > 0) await insertWork(tx, experimentId, fresh);
    await completeReprocess(tx, id);
  });
}

/** What a request shows whose measurements could not be found. */
const TOO_LARGE =
  'To find these measurements takes more memory than reading may use. Narrow the run by filters, or filter by other columns.';
const isTooLarge = (error: unknown) => isOutOfMemory(error) || (error instanceof ApiError && error.code === 'READ_TOO_LARGE');

/**
 * Starts queued requests. One that fails stays queued for later, and holds back neither the others nor the work that is due. One that is too large each time is
 * ended.
 */
async function startQueued(ctx: Context, signal: AbortSignal): Promise<void> {
  for (const run of await listQueued(ctx.db))
    await startRun(ctx, run, signal).catch(async (error: unknown) => {
      signal.throwIfAborted();
      const { id, experimentId, macroId, tries } = run;
      ctx.log.warn({ err: error, experimentId, macroId }, 'a macro could not be run again yet');
      await (isTooLarge(error) && tries + 1 >= TRIES.run ? giveUpReprocess(ctx.db, id, TOO_LARGE) : holdReprocess(ctx.db, id));
    });
}

const AT_ONCE = 2;

/** Runs the work of macros until nothing is due. Experiments take turns. Several processes may do this at once. */
export async function runWaitingMacros(ctx: Context, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await startQueued(ctx, signal);
    const waiting = (await listDue(ctx.db, 100)).map(({ experimentId }) => experimentId);
    if (waiting.length === 0) return;
    const take = async () => {
      for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) await runOne(ctx, next, signal);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, take));
  }
}
