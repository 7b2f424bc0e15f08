import { words } from '../words.ts';

const { types }: { types: Readonly<Record<string, string>> } = words.upload;

/** Columns that every table has, beside those that were measured. */
export const GIVEN_COLUMNS: readonly string[] = ['id', 'uploaded_at', 'contributor', 'annotations'];

export const isGiven = (name: string): boolean => GIVEN_COLUMNS.includes(name);

/** Names of columns whose numbers are labels: a mean of them says nothing. */
const LABELS = /(^|_)(id|plot|row|rep|replicate|block|number|index)$/i;

/** Columns with those first whose numbers mean most: plots are numbered in any language, and hardly ever with decimals. */
export function orderByMeaning<Column extends { name: string; type: string }>(columns: readonly Column[]): Column[] {
  const rank = ({ name, type }: Column) => (LABELS.test(name) ? 2 : /INT$/.test(type) ? 1 : 0);
  return columns.toSorted((one, other) => rank(one) - rank(other));
}

/** A type in words, without its digits and members; one that has no words by its name. */
export const nameType = (type: string): string => {
  const name = type.toLowerCase().replace(/[(<].*/s, '');
  return types[name] ?? name;
};
