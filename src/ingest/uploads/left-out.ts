/** Columns of a file that the upload leaves out. */
import type { ColumnState } from '../../lakehouse/tables/manifest.ts';
import { FileRefused } from '../record-writer.ts';
import { nameColumns } from '../typing/columns.ts';
import type { BronzeSource } from './sources.ts';

/**
 * Takes columns out of what is read of a file, by their names or, where no column has such a name, by what the file calls them. The others are named as they
 * would be beside them. Throws FileRefused where none is left.
 */
export function leaveColumns(
  read: BronzeSource,
  known: readonly ColumnState[],
  asked: readonly string[] = [],
): { read: BronzeSource; leftOut: readonly string[] } {
  if (asked.length === 0) return { read, leftOut: [] };
  const names = nameColumns(read.text?.fields ?? read.fields, { known });
  const wanted = new Set(asked);
  const taken = new Set(names.map(({ name }) => name));
  const isLeft = (at: number) => {
    const { key = '', name = '' } = names[at] ?? {};
    return wanted.has(name) || (wanted.has(key) && !taken.has(key));
  };
  const leftOut = names.flatMap(({ name }, at) => (isLeft(at) ? [name] : []));
  if (leftOut.length === names.length && names.length > 0)
    throw new FileRefused('nothing_left', 'Every column of the file is left out. Take one of them in.');
  const keep = <Field>(fields: readonly Field[]) =>
    fields.flatMap((field, at) => (isLeft(at) ? [] : [{ ...field, name: names[at]?.name }]));
  return {
    read: { ...read, fields: keep(read.fields), ...(read.text && { text: { ...read.text, fields: keep(read.text.fields) } }) },
    leftOut,
  };
}
