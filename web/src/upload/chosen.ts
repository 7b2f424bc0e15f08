import type { PreviewFields, UploadFields } from '../../../clients/typescript/src/uploads.ts';
import { placeOf } from './folders.ts';
import { isReadAsText, kindOf, tableNameOf, type Kind } from './kinds.ts';

export const TYPE_WORDS = ['int', 'bigint', 'double', 'boolean', 'date', 'timestamp', 'timestamp_ntz', 'string'] as const;
export type TypeWord = (typeof TYPE_WORDS)[number];
export const DATE_ORDERS = ['dmy', 'mdy', 'ymd'] as const;

/** What a person has chosen to upload, and how; texts are as they stand in the form. */
export interface Chosen {
  files: readonly File[];
  kind: Kind;
  /** An upload table by its UUID; empty for a new table. */
  tableId: string;
  /** Name of the new table. */
  tableName: string;
  missing: string;
  decimal: '' | '.' | ',';
  dateOrder: '' | (typeof DATE_ORDERS)[number];
  /** The row of the header, counted from 1. */
  headerRow: string;
  unitsRow: '' | NonNullable<UploadFields['unitsRow']>;
  /** Columns that are left out, or were and are taken in again, and where they stand in the preview. */
  leaveOut: readonly { column: string; at: number; isTaken: boolean }[];
  encoding: '' | NonNullable<UploadFields['encoding']>;
  sheet: string;
  /** Types that columns are told to have. */
  types: readonly { column: string; type: TypeWord }[];
}

export const nothingChosen: Chosen = {
  files: [],
  kind: 'csv',
  tableId: '',
  tableName: '',
  missing: '',
  decimal: '',
  dateOrder: '',
  headerRow: '',
  unitsRow: '',
  leaveOut: [],
  encoding: '',
  sheet: '',
  types: [],
};

/** What is chosen with more files. The first says the kind, and it or its folder the table's name where none was typed. A file of the same name in the same folder takes the place of the former. */
export function withFiles(chosen: Chosen, added: readonly File[]): Chosen {
  const places = new Set(added.map(placeOf));
  const files = [...chosen.files.filter((file) => !places.has(placeOf(file))), ...added];
  const [first] = files;
  return {
    ...chosen,
    files,
    kind: chosen.files.length === 0 ? (kindOf(first?.name ?? '') ?? chosen.kind) : chosen.kind,
    tableName: chosen.tableName === '' && first !== undefined ? tableNameOf(placeOf(first).replace(/\/.*/, '')) : chosen.tableName,
  };
}

/** The fields that say what is chosen; those that the kind of files has no use for are left out. */
export function uploadFieldsOf({
  kind,
  tableId,
  tableName,
  missing,
  decimal,
  dateOrder,
  headerRow,
  unitsRow,
  leaveOut,
  encoding,
  sheet,
  types,
}: Chosen): UploadFields {
  const left = leaveOut.flatMap(({ column, isTaken }) => (isTaken ? [] : [column]));
  const told = types.filter(({ column }) => column.trim() !== '').map(({ column, type }) => [column.trim(), type] as const);
  const target =
    tableId === '' ? { targetKind: 'new' as const, targetName: tableName } : { targetKind: 'existing' as const, uploadTableId: tableId };
  return {
    sourceKind: kind,
    ...target,
    ...(isReadAsText(kind)
      ? {
          ...(missing.trim() === '' ? {} : { missing }),
          ...(decimal === '' ? {} : { decimal }),
          ...(dateOrder === '' ? {} : { dateOrder }),
          ...(/^[1-9]\d{0,2}$/.test(headerRow) ? { headerRow } : {}),
          ...(unitsRow === '' ? {} : { unitsRow }),
          ...(told.length === 0 ? {} : { types: JSON.stringify(Object.fromEntries(told)) }),
        }
      : {}),
    ...(left.length === 0 ? {} : { leaveOut: JSON.stringify(left) }),
    ...((kind === 'csv' || kind === 'tsv') && encoding !== '' ? { encoding } : {}),
    ...(kind === 'xlsx' && sheet.trim() !== '' ? { sheet: sheet.trim() } : {}),
  };
}

/** The fields of a preview, without the name of a new table, which changes nothing of what is read. */
export function previewFieldsOf(chosen: Chosen): PreviewFields {
  const fields = uploadFieldsOf(chosen);
  if (fields.targetKind === 'existing') return fields;
  const { targetName: _, ...nameless } = fields;
  return nameless;
}

/** What is chosen, with another type of one column; without a type the column's values decide. */
export const withType = (chosen: Chosen, column: string, type: TypeWord | undefined): Chosen => ({
  ...chosen,
  types: [...chosen.types.filter((each) => each.column.trim() !== column), ...(type === undefined ? [] : [{ column, type }])],
});

/** What is chosen, with one column left out, or taken in again. */
export const withColumn = (chosen: Chosen, told: Chosen['leaveOut'][number]): Chosen => ({
  ...chosen,
  leaveOut: [...chosen.leaveOut.filter(({ column }) => column !== told.column), told],
});
