import type { UploadFields } from '../../../clients/typescript/src/uploads.ts';
import { toPlainLetters } from '../plain-letters.ts';

export type Kind = UploadFields['sourceKind'];

/** The endings of the files of every kind, and whether their values are text that can be read in more than one way. */
const KINDS: Readonly<Record<Kind, { endings: readonly string[]; isText: boolean }>> = {
  csv: { endings: ['.csv'], isText: true },
  tsv: { endings: ['.tsv'], isText: true },
  xlsx: { endings: ['.xlsx', '.xlsm'], isText: true },
  json: { endings: ['.json'], isText: false },
  ndjson: { endings: ['.ndjson', '.jsonl'], isText: false },
  parquet: { endings: ['.parquet'], isText: false },
  ambyte: { endings: ['.txt'], isText: false },
};

export const KIND_NAMES = Object.keys(KINDS) as Kind[];

/** Whether the values of a kind are text that can be read in more than one way. */
export const isReadAsText = (kind: Kind): boolean => KINDS[kind].isText;

/** Every ending that some kind has. */
export const ENDINGS: readonly string[] = Object.values(KINDS).flatMap(({ endings }) => endings);

/** The kind that a file's name says; undefined for names of no kind. */
export const kindOf = (name: string): Kind | undefined =>
  KIND_NAMES.find((kind) => KINDS[kind].endings.some((ending) => name.toLowerCase().endsWith(ending)));

/** Names of files that are not of a kind. */
export const othersThan = (kind: Kind, files: readonly File[]): string[] =>
  files.map(({ name }) => name).filter((name) => kindOf(name) !== kind);

/** Names of files that are of no kind. */
export const ofNoKind = (files: readonly File[]): string[] => files.map(({ name }) => name).filter((name) => kindOf(name) === undefined);

export const TABLE_NAME = '[A-Za-z][A-Za-z0-9_]{0,62}';
const RESERVED = new Set(['raw_data', 'device']);

/** A table's name like a file's: `Leaf scans 2026.csv` gives `Leaf_scans_2026`. */
export function tableNameOf(file: string): string {
  const name = toPlainLetters(file.replace(/\.[^.]+$/, ''))
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  const begun = /^[A-Za-z]/.test(name) ? name : `table_${name}`;
  return RESERVED.has(begun.toLowerCase()) ? `${begun}_1` : begun.slice(0, 63);
}
