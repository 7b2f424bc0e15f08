/** Stages files of the macro tables: outputs that a message delivered, and outputs of macros that ran here. */
import { errors } from '../../errors.ts';
import { cleanText } from '../../json.ts';
import { printToken } from '../exact-json.ts';
import { listFixedColumns } from '../../lakehouse/terms/catalog.ts';
import { commit, printFingerprint, listKnownSources, type ColumnState } from '../../lakehouse/tables/manifest.ts';
import type { Staged } from '../../lakehouse/terms/warehouse.ts';
import { cut, MAX_NAME, nameColumns, OWN_NAMES, type NamedColumn, type NameRules } from '../typing/columns.ts';
import type { Answer } from './questions.ts';
import { quoteName } from '../../lakehouse/terms/quoting.ts';
import { MAX_COLUMNS } from '../limits.ts';
import { hashMacroRowId, hashMacroSource } from './ids.ts';
import type { MacroResult, MeasurementRow } from './rows.ts';
import { clean, type MeasuredFacts } from './cells.ts';
import { FACTS, printFacts, keepRecords, listLabels, openTable, makeQuestionColumn, type Batch, type Prepared } from './tables.ts';
import type { Transaction } from './messages.queries.ts';
import { fill, setVariable } from '../pipeline.ts';
import { changeWith, findWidened, addColumns, widenFiles } from '../../lakehouse/tables/rewriting.ts';
import { replaceRows, stageWithout, type ReplacingDeps } from './replacing.ts';
import { decideFileTypes } from '../typing/decide.ts';
import type { BronzeField } from '../typing/classes.ts';

const RULES: NameRules = { reserved: new Set([...listFixedColumns('macro').map(({ name }) => name), ...OWN_NAMES]), prefix: 'output_' };

const isQuestion = ({ origin }: ColumnState) => origin === 'question';

/** Names the columns of output keys. A known key keeps its column, and a new one gets its own. Beside a question of the same name it is `output_<key>`. */
function nameOutputs(keys: readonly string[], known: readonly ColumnState[]): NamedColumn[] {
  const before = new Map(known.filter((column) => !isQuestion(column)).map(({ name, originalKey }) => [originalKey ?? name, name]));
  const isKnown = (key: string) => before.has(key) && (!key.toLowerCase().endsWith('__text') || before.get(key) !== key);
  const taken = new Set(known.map(({ name }) => name.toLowerCase()));
  const fresh = new Map(
    nameColumns(
      keys.flatMap((key) => (isKnown(key) ? [] : { key })),
      { rules: { ...RULES, reserved: new Set([...RULES.reserved, ...known.filter(isQuestion).map(({ name }) => name)]) }, taken },
    ).map((named) => [named.key, named]),
  );
  return keys.map((key) => (isKnown(key) ? { key, name: before.get(key) ?? key } : (fresh.get(key) ?? { key, name: key })));
}

/**
 * Names the columns for the answers to questions, by their column in raw_data. Answers go where they went before, else to a column of that name, or to
 * `question_<name>` where an output has the name.
 */
function nameQuestions(asked: readonly string[], known: readonly ColumnState[], outputs: readonly ColumnState[]): Map<string, string> {
  const before = new Set(known.filter(isQuestion).map(({ name }) => name));
  const used = new Set<string>();
  // long names that begin alike would each try the numbers of those before
  const counts = new Map<string, number>();
  const taken = new Set([...RULES.reserved, ...[...known, ...outputs].map(({ name }) => name.toLowerCase())]);
  return new Map(
    asked.map((column) => {
      const instead = `question_${cut(column, MAX_NAME - 9)}`;
      let name = [column, instead].find((each) => before.has(each) && !used.has(each)) ?? (taken.has(column) ? instead : column);
      const base = cut(instead, MAX_NAME - 8);
      let count = counts.get(base) ?? 2;
      for (; used.has(name) || (taken.has(name) && !before.has(name)); count += 1) name = `${base}_${count}`;
      counts.set(base, count);
      used.add(name);
      return [column, name];
    }),
  );
}

/** One row of a macro table, before it is written. */
export interface MacroRow extends MeasuredFacts {
  rawId: string;
  /** Position among what the macro made of one measurement. */
  index: number;
  result: MacroResult;
  /** The answers that came with its measurement. */
  answers: readonly Answer[];
  /** The code that ran; null for what was delivered with the measurement. */
  version: string | null;
}

type Tokens = ReadonlyMap<string, string | null>;

/** Prints the cells of every row. A row with more new keys than its table can still take becomes an error instead. */
function fitOutputs(rows: readonly MacroRow[], known: readonly ColumnState[]): { row: MacroRow; tokens: Tokens }[] {
  const keys = new Set(known.map(({ name, originalKey }) => originalKey ?? name));
  // each key may bring a second column, for values that do not fit the first
  const most = Math.max(keys.size, Math.floor(MAX_COLUMNS / 2));
  return rows.map((row) => {
    const cells = Object.entries(row.result.output).map(([key, value]) => [cleanText(key), printToken(value)] as const);
    const tokens = new Map(cells.map(([key, token]) => [key, token === null ? null : cleanText(token)]));
    const fresh = [...tokens.keys()].filter((key) => !keys.has(key));
    if (keys.size + fresh.length > most) {
      const error = `The output has ${fresh.length} new keys, and the table has room for ${most - keys.size}.`;
      return { row: { ...row, result: { ...row.result, output: {}, error } }, tokens: new Map() };
    }
    for (const key of fresh) keys.add(key);
    return { row, tokens };
  });
}

type MacroTable = Awaited<ReturnType<typeof openTable>>;

/** Stages rows of one macro's table, with types that fit the columns of the table. */
async function stageRows(batch: Batch, macroId: string, table: MacroTable, rows: readonly MacroRow[]) {
  const { session, pipelines, experimentId } = batch;
  const fitted = fitOutputs(rows, table.known);
  const keys = [...new Set(fitted.flatMap(({ tokens }) => [...tokens.keys()]))];
  const own = ['raw_id', 'macro_name', 'macro_filename', 'macro_error', 'macro_version'];
  const labels = listLabels(rows);
  const asked = [...labels.keys()];
  await keepRecords(
    batch,
    [...FACTS, ...own, ...keys.map((_, at) => `c${at + 1}`), ...asked.map((_, at) => `q${at + 1}`)],
    (function* () {
      for (const { row, tokens } of fitted) {
        const answers = new Map(row.answers.map(({ column, text }) => [column, text]));
        yield [
          hashMacroRowId(row.rawId, macroId, row.index),
          ...printFacts(row),
          ...[row.rawId, clean(row.result.name), clean(row.result.filename), clean(row.result.error), row.version],
          ...keys.map((key) => tokens.get(key) ?? null),
          ...asked.map((column) => answers.get(column) ?? null),
        ];
      }
    })(),
  );
  const fields = keys.map((key, at): BronzeField => ({ key, column: `c${at + 1}`, form: 'token' }));
  const typed = await decideFileTypes(session, pipelines, fields, table.known, { origin: 'output', names: nameOutputs(keys, table.known) });
  const questions = nameQuestions(asked, table.known, typed.columns);
  const values = [
    ...(typed.values === '' ? [] : [typed.values]),
    ...[...questions.values()].map((name, at) => `q${at + 1} as ${quoteName(name)}`),
  ];
  await session.prepare([setVariable('macro_id', macroId), setVariable('experiment_id', experimentId)]);
  const staged = await session.stage({
    tableId: table.id,
    experimentId,
    select: fill(pipelines.macroRows, { values: values.map((value) => `, ${value}`).join('') }),
    sortColumn: 'timestamp',
  });
  if (staged.rowCount !== rows.length) throw new Error(`the engine read ${staged.rowCount} of ${rows.length} macro rows`);
  const answered = [...questions].map(([column, name]) => makeQuestionColumn(name, labels.get(column) ?? column));
  return { staged, columns: [...typed.columns, ...answered] };
}

/** Stages what one macro delivered; undefined when every row of it is there already. */
async function prepareMacro(batch: Batch, macroId: string, all: readonly MacroRow[]): Promise<Prepared | undefined> {
  const table = await openTable(batch, 'macro', macroId);
  const bySource = new Map(all.map((row) => [hashMacroSource(row.rawId, macroId), row]));
  for (const { source } of await listKnownSources(batch.db, table.id, [...bySource.keys()])) bySource.delete(source);
  if (bySource.size === 0) return undefined;
  const { staged: rows, columns } = await stageRows(batch, macroId, table, [...bySource.values()]);
  const widened = await widenFiles(batch, { ...table, experimentId: batch.experimentId, sortColumn: 'timestamp' }, columns);
  const change = changeWith(rows, widened, table.version);
  return {
    staged: { ...rows, files: change.files },
    commit: async (tx) => {
      await table.ensure(tx);
      const sources = [...bySource.keys()].map((source) => ({ source, rowCount: 1, quarantinedCount: 0 }));
      const claimed = { columns, typedBy: printFingerprint(table.known), sources, onlyNew: true };
      if (!(await commit(tx, { tableId: table.id, cause: 'ingest', ...change, ...claimed })).added) throw errors.sourceChanged();
    },
  };
}

/** Stages what macros delivered with the measurements, each macro into a table of its own. */
export async function prepareMacros(batch: Batch, rows: readonly MeasurementRow[]): Promise<Prepared[]> {
  const made = rows.flatMap((row) => row.results.map((result): MacroRow => ({ ...row, rawId: row.id, index: 0, result, version: null })));
  const byMacro = Map.groupBy(made, ({ result }) => result.macroId);
  const prepared: Prepared[] = [];
  for (const [macroId, delivered] of [...byMacro].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const one = await prepareMacro(batch, macroId, delivered);
    if (one) prepared.push(one);
  }
  return prepared;
}

/**
 * Replaces what a macro's table has of some measurements by the rows of a new run, in one transaction with `alongside` (whose error undoes it all). However
 * often the macro is run again, a measurement has the rows of one run.
 */
export async function storeMacroRows(
  deps: ReplacingDeps,
  { experimentId, macroId, rawIds, rows }: { experimentId: string; macroId: string; rawIds: readonly string[]; rows: readonly MacroRow[] },
  alongside: (tx: Transaction) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  if (rows.length === 0) return deps.db.transaction(alongside);
  const times = rows.map(({ facts }) => facts.timestamp).sort();
  const range = { from: times[0] ?? '', to: times.at(-1) ?? '' };
  const replace = async (batch: Batch, written: (Staged | undefined)[]) => {
    const table = await openTable(batch, 'macro', macroId);
    const { staged, columns } = await stageRows(batch, macroId, table, rows);
    written.push(staged);
    const also = await findWidened(batch, table, columns);
    const joined = { ...table, known: addColumns(table.known, columns) };
    const { retire, staged: rest } = await stageWithout(batch, joined, { key: 'raw_id', values: rawIds }, { ...range, also });
    written.push(rest);
    await batch.db.transaction(async (tx) => {
      await alongside(tx);
      await table.ensure(tx);
      const files = [...(rest?.files ?? []), ...staged.files];
      const cause = retire.length === 0 ? 'ingest' : 'replace';
      await commit(tx, { tableId: table.id, cause, files, retire, columns, basedOn: table.version });
    });
  };
  await replaceRows(deps, experimentId, replace, signal);
}
