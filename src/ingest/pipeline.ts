import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Statement } from '../lakehouse/terms/warehouse.ts';
import { printClasses } from './value-classes.ts';

const STEPS = {
  functions: 'functions.sql',
  textFunctions: 'text_functions.sql',
  uploadedRecords: 'bronze/uploaded_records.sql',
  readText: 'bronze/read_text.sql',
  uploadedLines: 'bronze/uploaded_lines.sql',
  uploadedParquet: 'bronze/uploaded_parquet.sql',
  uploadedText: 'silver/uploaded_text.sql',
  sentKinds: 'silver/sent_kinds.sql',
  sentOthers: 'silver/sent_others.sql',
  uploadedClasses: 'silver/uploaded_classes.sql',
  uploadedValues: 'silver/uploaded_values.sql',
  uploadedChecked: 'silver/uploaded_checked.sql',
  uploadedRows: 'gold/uploaded_rows.sql',
  quarantinedRecords: 'gold/quarantined_records.sql',
  measurementRows: 'gold/measurement_rows.sql',
  deviceRows: 'gold/device_rows.sql',
  macroRows: 'gold/macro_rows.sql',
} as const;

/** The SQL of `pipelines/`, by step. Read once at the start. */
export type Pipelines = Readonly<Record<keyof typeof STEPS, string>>;

const withoutComments = (sql: string) =>
  sql
    .split('\n')
    .filter((line) => !line.startsWith('--'))
    .join('\n')
    .trim();

/** Puts numbers in place of the words by which functions name classes of values. The slots of a step are filled when it runs. */
const printFunctions = (step: string, sql: string) => (step === 'functions' || step === 'textFunctions' ? printClasses(sql) : sql);

export async function loadPipelines(folder: string): Promise<Pipelines> {
  const read = async ([step, file]: readonly [string, string]) =>
    [step, printFunctions(step, withoutComments(await readFile(join(folder, file), 'utf8')))] as const;
  return Object.fromEntries(await Promise.all(Object.entries(STEPS).map(read))) as Pipelines;
}

/** Answers 12 hex digits that name the definitions which made a row. Any change of the SQL changes them. */
export const hashPipelines = (pipelines: Pipelines): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(pipelines)))
    .digest('hex')
    .slice(0, 12);

/** Fills the `{{slots}}` of a step. Slots hold what our own code prints: quoted identifiers and expressions over them, never a value. */
export function fill(step: string, slots: Readonly<Record<string, string>> = {}): Statement {
  const sql = step.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const slot = slots[name];
    if (slot === undefined) throw new Error(`the pipeline step has no value for ${name}`);
    return slot;
  });
  return { sql, values: [] };
}

/** A file of functions holds several statements; each runs by itself. */
const statementsOf = (step: string): string[] =>
  step
    .split(/;\s*\n(?=\n|create)|;\s*$/)
    .map((sql) => sql.trim())
    .filter((sql) => sql !== '');

/** The functions that the steps share. Those for text need the variables `missing_marks` and `missing_numbers` when they run. */
export const listFunctions = (pipelines: Pipelines): string[] => [pipelines.functions, pipelines.textFunctions].flatMap(statementsOf);

export const setVariable = (name: string, value: string | null | readonly string[]): Statement => ({
  sql: `set variable ${name} = $1`,
  values: [{ type: { kind: 'string' }, value }],
});
