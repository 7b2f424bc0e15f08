import { createHash } from 'node:crypto';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { ApiError, errors } from '../../errors.ts';
import { readFullJson } from '../../json.ts';
import { normaliseInput } from '../../sandbox/input.ts';
import { BATCH_BYTES, printMacroError, type BatchResult, type ItemResult, type MacroItem } from '../../sandbox/job.ts';
import { runEach } from '../../waiting.ts';
import { refuseBody } from '../input/input.service.ts';
import { listKept, listLive, type Runnable } from './execution.queries.ts';
import type { MacroBatch, MacroBatchItem, MacroBatchItemResult, MacroBatchResult, MacroRun, MacroRunResult } from './macros.model.ts';

const DEFAULT_SECONDS = 30;
const DEFAULT_ITEM_SECONDS = 1;
/** How many macros of one batch run at once. */
const AT_ONCE = 2;

interface Limits {
  timeout?: number;
  itemTimeout?: number;
  clock?: Date;
}

const refused = (macroId: string, error: string): MacroRunResult => ({
  macro_id: macroId,
  success: false,
  error,
  logs: [],
  durationMs: 0,
});

const shown = (macroId: string, { success, output, error, logs, durationMs }: ItemResult): MacroRunResult => ({
  macro_id: macroId,
  success,
  ...(success ? { output: output ?? {} } : {}),
  ...(error === undefined ? {} : { error: printMacroError(error), failure: error }),
  logs,
  durationMs,
});

/** Opens a value that is an object or array, or the JSON text of one. Errors: bad input, which says that it must be `kind`. */
function opened(value: unknown, path: string, kind: string): object {
  let given = value;
  try {
    if (typeof value === 'string') given = readFullJson(value);
  } catch {
    // text that is no JSON is refused as any other text
  }
  if (typeof given !== 'object' || given === null) throw refuseBody([{ path, message: `must be ${kind}, or the JSON text of one` }]);
  return given;
}

/** Reads what one item hands to the macro, or answers why the item is not run. Errors: bad input. */
function inputOf({ data, context }: { data: unknown; context?: unknown }, path: string): MacroItem | string {
  const given = opened(data, `${path}/data`, 'an object or array');
  const around = context === undefined || context === null ? undefined : opened(context, `${path}/context`, 'an object');
  if (Array.isArray(around)) throw refuseBody([{ path: `${path}/context`, message: 'must be an object, or the JSON text of one' }]);
  const input = normaliseInput(given);
  if (!input.run) return input.error;
  return { id: '', data: input.data, context: around as Record<string, unknown> | undefined };
}

/** Refuses a fixed clock for any language but javascript. Errors: bad input. */
function mayFixClock(macro: Runnable, { clock }: Limits): void {
  if (clock !== undefined && macro.language !== 'javascript')
    throw refuseBody([{ path: '/clock', message: `is for javascript; ${macro.macroId} is in ${macro.language}` }]);
}

/** Gives a macro other code, which is not stored. */
const withText = (macro: Runnable, code: string): Runnable => ({
  ...macro,
  code,
  version: `text:${createHash('sha256').update(code).digest('hex')}`,
});

interface Work {
  items: MacroItem[];
  limits: Limits;
  outputBytes?: number;
  signal: AbortSignal;
}

async function run(ctx: Context, caller: Caller, macro: Runnable, work: Work): Promise<BatchResult> {
  const sandbox = await ctx.sandbox();
  const timeoutMs = (work.limits.timeout ?? DEFAULT_SECONDS) * 1000;
  return sandbox.run({
    language: macro.language,
    code: macro.code,
    version: macro.version,
    caller: caller.userId,
    items: work.items,
    timeoutMs,
    ...(work.limits.clock === undefined ? {} : { clock: work.limits.clock.getTime() }),
    itemTimeoutMs: Math.min((work.limits.itemTimeout ?? DEFAULT_ITEM_SECONDS) * 1000, timeoutMs),
    outputBytes: work.outputBytes,
    signal: work.signal,
  });
}

/**
 * Runs a macro over one input. A failure inside the macro is a result, not an error. Errors: macro not found, bad input, too many runs waiting (429), its
 * language cannot run here (503).
 */
export async function executeMacro(
  ctx: Context,
  caller: Caller,
  macroId: string,
  body: MacroRun,
  signal: AbortSignal,
): Promise<MacroRunResult> {
  const input = inputOf(body, '');
  const [stored] = await listLive(ctx.db, caller.userId, [macroId]);
  if (!stored) throw errors.resourceNotFound('macro');
  const macro = body.code === undefined ? stored : withText(stored, body.code);
  mayFixClock(macro, body);
  if (typeof input === 'string') return refused(macro.macroId, input);
  const { results } = await run(ctx, caller, macro, { items: [input], limits: body, signal });
  const [result] = results;
  return result ? shown(macro.macroId, result) : refused(macro.macroId, 'The macro gave no result.');
}

const keyOf = ({ macro_id, workbook_version_id }: Pick<MacroBatchItem, 'macro_id' | 'workbook_version_id'>) =>
  `${workbook_version_id?.toLowerCase() ?? 'live'}:${macro_id.toLowerCase()}`;

interface Group {
  first: MacroBatchItem;
  positions: number[];
}

async function findRunnables(ctx: Context, caller: Caller, groups: readonly Group[]): Promise<Map<string, Runnable>> {
  const live = groups.filter(({ first }) => first.workbook_version_id === undefined).map(({ first }) => first.macro_id);
  const kept = groups.flatMap(({ first }) =>
    first.workbook_version_id === undefined ? [] : [{ macroId: first.macro_id, workbookVersionId: first.workbook_version_id }],
  );
  const found = [
    ...(live.length > 0 ? await listLive(ctx.db, caller.userId, live) : []),
    ...(kept.length > 0 ? await listKept(ctx.db, caller.userId, kept) : []),
  ];
  return new Map(
    found.map((macro) => [keyOf({ macro_id: macro.macroId, workbook_version_id: macro.workbookVersionId ?? undefined }), macro]),
  );
}

/**
 * Runs up to 5,000 items, of any macros that the caller may read, and answers in the order of the items. The failure of an item is its result. Errors: bad
 * input; too many runs waiting (429).
 */
export async function executeBatch(ctx: Context, caller: Caller, body: MacroBatch, signal: AbortSignal): Promise<MacroBatchResult> {
  const inputs = body.items.map((item, index) => inputOf(item, `/items/${index}`));
  const groups = new Map<string, Group>();
  body.items.forEach((item, position) => {
    const key = keyOf(item);
    const group = groups.get(key) ?? { first: item, positions: [] };
    group.positions.push(position);
    groups.set(key, group);
  });
  const runnables = await findRunnables(ctx, caller, [...groups.values()]);
  for (const macro of runnables.values()) mayFixClock(macro, body);
  const results: MacroBatchItemResult[] = [];
  const failures: string[] = [];
  // all macros of a batch share what one may answer
  let bytesLeft = BATCH_BYTES;
  const settle = (position: number, result: MacroRunResult) => {
    results[position] = { id: body.items[position]?.id ?? '', ...result };
  };
  const failGroup = ({ first, positions }: Group, sentence: string) => {
    failures.push(sentence);
    for (const position of positions) settle(position, refused(first.macro_id, sentence));
  };

  const runGroup = async (key: string, group: Group): Promise<void> => {
    const { first, positions } = group;
    const macro = runnables.get(key);
    if (!macro) {
      const what =
        first.workbook_version_id === undefined ? 'Macro not found' : `Macro snapshot not found in version ${first.workbook_version_id}`;
      failGroup(group, `${what}: ${first.macro_id}`);
      return;
    }
    const runs: { position: number; item: MacroItem }[] = [];
    for (const position of positions) {
      const input = inputs[position];
      if (typeof input === 'string') settle(position, refused(first.macro_id, input));
      else if (input) runs.push({ position, item: { ...input, id: String(position) } });
    }
    if (runs.length === 0) return;
    try {
      const { results: done, outputBytes } = await run(ctx, caller, macro, {
        items: runs.map(({ item }) => item),
        limits: body,
        outputBytes: bytesLeft,
        signal,
      });
      bytesLeft -= outputBytes;
      runs.forEach(({ position }, index) => {
        const result = done[index];
        settle(position, result ? shown(first.macro_id, result) : refused(first.macro_id, 'The macro gave no result.'));
      });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 503) throw error;
      failGroup(group, `${macro.name} (${macro.macroId}): ${error.message}`);
    }
  };

  await runEach([...groups], AT_ONCE, ([key, group]) => runGroup(key, group));
  return { success: true, results, errors: failures };
}
