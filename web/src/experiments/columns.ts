import { words } from '../words.ts';

const { types }: { types: Readonly<Record<string, string>> } = words.upload;

/** Columns that every table has, beside those that were measured. */
export const GIVEN_COLUMNS: readonly string[] = ['id', 'uploaded_at', 'contributor', 'annotations'];

export const isGiven = (name: string): boolean => GIVEN_COLUMNS.includes(name);

/** A type in words, without its digits and members; one that has no words by its name. */
export const nameType = (type: string): string => {
  const name = type.toLowerCase().replace(/[(<].*/s, '');
  return types[name] ?? name;
};
