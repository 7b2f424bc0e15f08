import { LIMITS, type SourceKind } from '../limits.ts';

/** What the name of an upload's table is made of. */
export const TABLE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;
const RESERVED_TABLES = ['raw_data', 'device'];

/** Upload tables: 1 to 63 characters, a letter first, then letters, digits and underscores; `raw_data` and `device` are taken. */
export const isTableName = (name: string): boolean => TABLE_NAME.test(name) && !RESERVED_TABLES.includes(name.toLowerCase());

/** What a file is called in the report, or the sentence that says why it is not accepted. */
export type NamedFile = { path: string } | { refused: string };

const CONTROL = /[\u0000-\u001f\u007f]/;
const AMBYTE_FOLDER = /^Ambyte_\d{1,3}$/;
const AMBYTE_PLACE = /^Ambyte_\d{1,3}(?:\/[1-4])?$/;
const PACKED = /\.(?:gz|tgz|zip|bz2|xz|zst|7z|rar|tar)$/i;
const TIMESTAMPED = /^\d{8}-\d{6}_\.txt$/;

/**
 * Names a file by the path rules of its kind. Tabular kinds keep the base name. Ambyte keeps `Ambyte_<n>/name.txt` or `Ambyte_<n>/<1-4>/name.txt` (the deepest
 * match). It puts time-stamped bare names under `unknown_ambyte/unknown_ambit/` and other bare names under `unknown_ambyte/`.
 */
export function nameFile(kind: SourceKind, sent: string): NamedFile {
  const parts = sent
    .toWellFormed()
    .split(/[/\\]/)
    .filter((part) => part !== '' && part !== '.');
  const base = parts.at(-1) ?? '';
  if (base === '' || base === '..' || CONTROL.test(base)) return { refused: 'the file has no usable name' };
  if (base.length > 256) return { refused: 'the file name is longer than 256 characters' };
  const { extensions } = LIMITS[kind];
  if (!extensions.some((extension) => base.toLowerCase().endsWith(extension)))
    return {
      refused: PACKED.test(base)
        ? 'it is packed; unpack it, and send what is in it'
        : `a file of the kind ${kind} ends in ${extensions.join(' or ')}`,
    };
  if (kind !== 'ambyte') return { path: base };
  const folders = parts.slice(0, -1);
  if (folders.length === 0) return { path: TIMESTAMPED.test(base) ? `unknown_ambyte/unknown_ambit/${base}` : `unknown_ambyte/${base}` };
  const own = folders.slice(folders.findLastIndex((folder) => AMBYTE_FOLDER.test(folder))).join('/');
  if (!AMBYTE_PLACE.test(own)) return { refused: 'an ambyte file lies in Ambyte_<number>/ or in Ambyte_<number>/<1-4>/' };
  return { path: `${own}/${base}` };
}
