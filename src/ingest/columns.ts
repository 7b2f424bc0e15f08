/** Columns that every upload table has; a file's own column of such a name is renamed. */
export const UPLOAD_BASE_COLUMNS = [
  'id',
  'uploaded_at',
  'experiment_id',
  'upload_id',
  'contributor_id',
  'contributor',
  'annotations',
] as const;

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

/** The first letters of a name, never half of one. */
export const cut = (name: string, room: number) => {
  const letters = Array.from(name);
  return letters.length <= room ? name : letters.slice(0, room).join('');
};

/**
 * Names for the keys of a file, in order. A key keeps its name (trimmed) unless it is empty (`column_3`), a base column's (`data_id`), ends in `__text`, which
 * is where odd values go (`data_x__text_1`), repeats an earlier one in any case (`temp_2`) or one of `taken`, or is longer than 255 characters. NUL and lone surrogates become U+FFFD.
 */
export function nameColumns(keys: readonly string[], { reserved, prefix } = UPLOADED, taken = new Set<string>()): NamedColumn[] {
  return keys.map((key, index) => {
    let wanted = key.toWellFormed().replaceAll('\0', '\ufffd').trim();
    if (wanted === '') wanted = `column_${index + 1}`;
    if (reserved.has(wanted.toLowerCase())) wanted = `${prefix}${wanted}`;
    if (wanted.toLowerCase().endsWith('__text')) wanted = `${prefix}${cut(wanted, MAX_NAME - 2 - prefix.length)}_1`;
    wanted = cut(wanted, MAX_NAME);
    let name = wanted;
    for (let count = 2; taken.has(name.toLowerCase()); count += 1) name = `${cut(wanted, MAX_NAME - 8)}_${count}`;
    taken.add(name.toLowerCase());
    return { key: key.toWellFormed().replaceAll('\0', '\ufffd'), name };
  });
}

/** Where the values of a column go that do not fit its type. */
export const oddTextColumn = (name: string): string => `${cut(name, MAX_NAME - 6)}__text`;
