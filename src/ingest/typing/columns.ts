import { cleanText } from '../../json.ts';
import type { Column } from '../../lakehouse/terms/catalog.ts';

/** Columns that every upload table has; a file's own column of such a name is renamed. */
const UPLOAD_BASE_COLUMNS = ['id', 'uploaded_at', 'experiment_id', 'upload_id', 'contributor_id', 'contributor', 'annotations'] as const;

/** Names that a table keeps for itself, in lower case, and what is put before a key that has one of them. */
export interface NameRules {
  reserved: ReadonlySet<string>;
  prefix: string;
}

export const OWN_NAMES = ['fieldlake_row', 'fieldlake_order'];
const UPLOADED: NameRules = { reserved: new Set([...UPLOAD_BASE_COLUMNS, ...OWN_NAMES]), prefix: 'data_' };
export const MAX_NAME = 255;

/** One column of a file: what it was called there, and what it is called in the table. */
export interface NamedColumn {
  key: string;
  name: string;
}

/** Cuts a name to `room` letters, and never through the middle of one. */
export const cut = (name: string, room: number) => {
  const letters = Array.from(name);
  return letters.length <= room ? name : letters.slice(0, room).join('');
};

interface Naming {
  rules?: NameRules;
  /** Names, in lower case, that no key may get. */
  taken?: Set<string>;
  /** Columns of the table that the file joins, in order. */
  known?: readonly KnownName[];
}

type KnownName = Pick<Column, 'name' | 'originalKey'>;

/** The name that a key would have if it were the only one. */
function nameAlone(key: string, index: number, { reserved, prefix }: NameRules): string {
  let wanted = key.trim();
  if (wanted === '') wanted = `column_${index + 1}`;
  if (reserved.has(wanted.toLowerCase())) wanted = `${prefix}${wanted}`;
  if (wanted.toLowerCase().endsWith('__text')) wanted = `${prefix}${cut(wanted, MAX_NAME - 2 - prefix.length)}_1`;
  return cut(wanted, MAX_NAME);
}

/**
 * Finds the columns that keys went to before, by index of the key, whatever those columns are called now. A key that is only spelled in another way goes to the
 * first column whose key would get the same name, if no other key goes there.
 */
function findHomes(keys: readonly string[], known: readonly KnownName[], rules: NameRules): Map<number, string> {
  const exact = new Map<string, string[]>();
  const alike = new Map<string, string[]>();
  const add = (to: Map<string, string[]>, key: string, name: string) => to.set(key, [...(to.get(key) ?? []), name]);
  const like = (key: string) => nameAlone(key, 0, rules).toLowerCase();
  for (const { name, originalKey } of known) {
    const key = originalKey ?? name;
    const isEmpty = key.trim() === '';
    // a column of odd values has no key of its own, and `column_3` is named by its place
    if ((originalKey === undefined && isOddText(name)) || (isEmpty && /^column_\d+(_\d+)?$/.test(name))) continue;
    add(exact, key, name);
    if (!isEmpty) add(alike, like(key), name);
  }
  const homes = new Map<number, string>();
  const claimed = new Set<string>();
  const claim = (index: number, names: readonly string[] = []) => {
    const name = names.find((each) => !claimed.has(each));
    if (name === undefined) return;
    claimed.add(name);
    homes.set(index, name);
  };
  keys.forEach((key, index) => claim(index, exact.get(key)));
  keys.forEach((key, index) => {
    if (!homes.has(index) && key.trim() !== '') claim(index, alike.get(like(key)));
  });
  return homes;
}

/**
 * Names the columns for the keys of a file, in order. A key goes where it went before. Any other key is itself the name (trimmed), with these exceptions. An
 * empty key is named by its place (`column_3`). The name of a base column gets a prefix (`data_id`). So does a key that ends in `__text`, where odd values go
 * (`data_x__text_1`). A name that repeats an earlier one or one of `taken`, in any case, gets a number (`temp_2`) that no other key has. Names are cut at 255
 * characters. NUL and lone surrogates become U+FFFD. A field that has a name already keeps it.
 */
export function nameColumns(
  fields: readonly { key: string; name?: string }[],
  { rules = UPLOADED, taken = new Set<string>(), known = [] }: Naming = {},
): NamedColumn[] {
  const clean = fields.map(({ key }) => cleanText(key));
  const homes = known.length === 0 ? new Map<number, string>() : findHomes(clean, known, rules);
  for (const name of homes.values()) taken.add(name.toLowerCase());
  const own = new Set(clean.map((key, index) => nameAlone(key, index, rules).toLowerCase()));
  // 2,000 equal keys would try 2 million names
  const counts = new Map<string, number>();
  return clean.map((key, index) => {
    const home = fields[index]?.name ?? homes.get(index);
    if (home !== undefined) return { key, name: home };
    const wanted = nameAlone(key, index, rules);
    let name = wanted;
    let count = counts.get(wanted.toLowerCase()) ?? 2;
    for (; taken.has(name.toLowerCase()) || (name !== wanted && own.has(name.toLowerCase())); count += 1)
      name = `${cut(wanted, MAX_NAME - 8)}_${count}`;
    counts.set(wanted.toLowerCase(), count);
    taken.add(name.toLowerCase());
    return { key, name };
  });
}

/** Whether somebody may give a column of an upload table this name. */
export const isColumnName = (name: string): boolean =>
  name === name.trim() && name !== '' && cut(name, MAX_NAME) === name && name.isWellFormed() && !name.includes('\0') && !isOwnColumn(name);

/** Whether a column is one that every upload table has, or holds the odd values of another. */
export const isOwnColumn = (name: string): boolean => UPLOADED.reserved.has(name.toLowerCase()) || isOddText(name);

/** Names the column that holds those values of another which do not fit its type. */
export const nameOddColumn = (name: string): string => `${cut(name, MAX_NAME - 6)}__text`;

const isOddText = (name: string) => name.toLowerCase().endsWith('__text');
