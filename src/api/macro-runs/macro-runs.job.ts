/** Runs macros on stored measurements. */
import { randomUUIDv7 } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { isAllowed } from '../../authorization/access.ts';
import { openTable } from '../../authorization/tables.ts';
import type { Context } from '../../context.ts';
import { isUuid } from '../../database/uuid.ts';
import { ApiError, isRefusal } from '../../errors.ts';
import { findDelivered, findNaming, type MeasuredIds } from '../../ingest/messages/measured.ts';
import { readJson } from '../../json.ts';
import { readStream } from '../../lakehouse/read/read.ts';
import type { ItemResult } from '../../sandbox/job.ts';
import { isOutOfMemory } from '../../lakehouse/terms/memory.ts';
import { isStorageFull } from '../../storage/full.ts';
import { runEach } from '../../waiting.ts';
import { openSource } from '../data/data.service.ts';
import {
  claimWork,
  completeReprocess,
  findKeptCode,
  findLiveCode,
  giveUpReprocess,
  hasMacro,
  holdReprocess,
  holdWork,
  insertWork,
  listDue,
  listQueued,
  startReprocess,
  type Code,
  type NewWork,
  type StoredRun,
  type Work,
} from './macro-runs.queries.ts';
import { makeMeasurementRequest, PIECE } from './macro-runs.service.ts';
import { readElements } from './elements.ts';
import { splitBatches, readMacroContext, printError, isTransient, makeMacroRow, type Element } from './running.ts';
import {
  cutPiece,
  giveBack,
  classifyFailure,
  NotStarted,
  refuse,
  settle,
  Superseded,
  TRIES,
  leaveWithheld,
  type Outcome,
} from './settling.ts';

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

/** What is stored for an entry that was not reached in the last turn of its measurement. */
const TOO_MUCH = 'The entries of this measurement take longer together than a macro may run.';

const WITHHELD = Symbol('withheld');

/**
 * Finds the code that a piece is to run, or answers why it cannot run. Answers `WITHHELD` when the person for whom it would run may not read it and no manager
 * has allowed it, or when whoever asked for the run may no longer write into the experiment.
 */
async function codeOf(
  { db }: Context,
  { experimentId, macroId, workbookVersionId, senderId, reprocessId }: Work,
): Promise<Code | string | typeof WITHHELD> {
  if (reprocessId !== null && (senderId === null || !(await isAllowed(db, senderId, 'experiment', experimentId, 'contribute'))))
    return WITHHELD;
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
      if (answers[at] !== undefined) results.set(element, answers[at]);
    });
    bytes += outputBytes;
  }
  const processedAt = new Date().toISOString();
  const outcome: Outcome = { rows: [], done: [], later: [], again: [] };
  for (const [id, parts] of Map.groupBy(elements, ({ row }) => row.id)) {
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

/** Another process may have the language. */
class LanguageMissing extends NotStarted {}

async function work(ctx: Context, piece: Work, signal: AbortSignal): Promise<void> {
  const code = await codeOf(ctx, piece);
  if (code === WITHHELD) return leaveWithheld(ctx, piece);
  // reading what cannot be run took 13 of the 34 s of processor in which a service without languages makes its sample
  if (typeof code !== 'string' && piece.tries < TRIES.piece && (await ctx.sandbox()).level(code.language).level === 'unavailable')
    throw new LanguageMissing(`there is no ${code.language} here`);
  const elements = await readElements(ctx, piece, signal);
  if (!elements) return cutPiece(ctx, piece, 2, { tries: 0 });
  let outcome: Outcome;
  if (typeof code === 'string') outcome = refuse(piece, elements, code, 'none');
  else
    try {
      outcome = await runPiece(ctx, piece, code, elements, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isStorageFull(error)) throw error;
      if (piece.tries < TRIES.piece) throw new NotStarted('the code could not be started', { cause: error });
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
  const limited = () => AbortSignal.any([signal, AbortSignal.timeout(PIECE_MS)]);
  try {
    await work(ctx, piece, limited());
  } catch (error) {
    if (error instanceof Superseded) return true;
    // the sandbox has told of it once
    if (!signal.aborted && !(error instanceof LanguageMissing))
      ctx.log.warn({ err: error, experimentId, macroId: piece.macroId, tries: piece.tries }, 'a macro could not be run yet');
    await giveBack(ctx, piece, error, { signal, limited });
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
    if (error instanceof ApiError && error.status < 500 && error.status !== 429 && !isRefusal(error, 'readTooLarge')) return [];
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
    const common = { macroId, workbookVersionId: null, senderId: run.createdBy, reprocessId: id };
    const fresh = pieces.map(({ ids, from, to }): NewWork => ({ ...common, id: randomUUIDv7(), rowIds: ids, from, to }));
    if (fresh.length > 0) await insertWork(tx, experimentId, fresh);
    await completeReprocess(tx, id);
  });
}

/** What a request shows whose measurements could not be found. */
const NOT_FOUND = {
  tooLarge: 'To find these measurements takes more memory than reading may use. Narrow the run by filters, or filter by other columns.',
  failed:
    'These measurements could not be found for a reason of the service. Run the macro again, and tell the operator if that fails too.',
};
const isTooLarge = (error: unknown) => isOutOfMemory(error) || isRefusal(error, 'readTooLarge');

/** Starts queued requests. One that fails stays queued until it has had its tries, and holds back neither the others nor the work that is due. */
async function startQueued(ctx: Context, signal: AbortSignal): Promise<void> {
  for (const run of await listQueued(ctx.db))
    await startRun(ctx, run, signal).catch(async (error: unknown) => {
      signal.throwIfAborted();
      const { id, experimentId, macroId, tries } = run;
      ctx.log.warn({ err: error, experimentId, macroId }, 'a macro could not be run again yet');
      const [most, why] = isTooLarge(error) ? [TRIES.run, NOT_FOUND.tooLarge] : [TRIES.alone, NOT_FOUND.failed];
      const failure = classifyFailure(error, tries + 1);
      await (failure.isCounted && tries + 1 >= most ? giveUpReprocess(ctx.db, id, why) : holdReprocess(ctx.db, id, failure));
    });
}

const AT_ONCE = 2;

/** Runs the work of macros until nothing is due. Experiments take turns. Several processes may do this at once. */
export async function runWaitingMacros(ctx: Context, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await startQueued(ctx, signal);
    const waiting = await listDue(ctx.db, 100);
    if (waiting.length === 0) return;
    await runEach(waiting, AT_ONCE, async (experimentId) => signal.aborted || runOne(ctx, experimentId, signal));
  }
}
