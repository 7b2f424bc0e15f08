import { z } from 'zod';
import { isName, NAME_RULE } from '../../contract/names.ts';
import type { Problem } from '../../errors.ts';
import { isHeldByDouble } from '../../json.ts';
import type { Metadata, MetadataRow } from './metadata.model.ts';

/** What stands for the question of a table whose identifiers are devices. */
export const DEVICE = 'column:device_id';
// no digit may be read in two ways: a long text of digits that is no number would take time by the square of its length
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
/** Whether a text is written as a number. */
export const isNumber = (text: string): boolean => NUMBER.test(text.trim());

/** Shape and bounds of a metadata table. Rules that a shape cannot express are in `listMetadataProblems`. */
export const metadataShape: z.ZodType<Metadata> = z.object({
  name: z.string().max(120),
  columns: z
    .array(
      z.object({
        id: z.string().min(1).max(255),
        name: z.string().regex(/^[A-Za-z0-9_]{1,64}$/, 'must be 1 to 64 letters, digits or underscores'),
        type: z.enum(['string', 'number', 'date']),
      }),
    )
    .min(1)
    .max(500),
  rows: z.array(z.object({ _id: z.string().min(1).max(255) }).catchall(z.unknown())),
  identifierColumnId: z.string().min(1).max(64),
  experimentQuestionId: z.string().min(1).max(64),
});

/** Lists what is wrong with a table of the right shape. `isReserved` says whether every measurement has a column of that name. */
export function listMetadataProblems(
  { name, columns, rows, identifierColumnId, experimentQuestionId }: Metadata,
  isReserved: (name: string) => boolean,
): Problem[] {
  const problems: Problem[] = name === '' || isName(name) ? [] : [{ path: '/metadata/name', message: `must be ${NAME_RULE}` }];
  const ids = new Set<string>();
  const names = new Set<string>();
  columns.forEach(({ id, name }, index) => {
    const path = `/metadata/columns/${index}`;
    if (ids.has(id)) problems.push({ path: `${path}/id`, message: 'is the id of an earlier column' });
    if (names.has(name.toLowerCase())) problems.push({ path: `${path}/name`, message: 'is the name of an earlier column' });
    if (isReserved(name)) problems.push({ path: `${path}/name`, message: 'is the name of a column that every measurement has' });
    ids.add(id);
    names.add(name.toLowerCase());
  });
  if (!ids.has(identifierColumnId)) problems.push({ path: '/metadata/identifierColumnId', message: 'is not the id of a column' });
  if (experimentQuestionId.startsWith('column:') && experimentQuestionId !== DEVICE)
    problems.push({ path: '/metadata/experimentQuestionId', message: `may name no other column than ${DEVICE}` });
  const numbers = columns.filter(({ id, type }) => type === 'number' && id !== identifierColumnId);
  rows.forEach((row, index) => {
    for (const column of numbers) {
      const value = cellOf(row, column);
      if (typeof value === 'string' && isNumber(value) && !isHeldByDouble(value))
        problems.push({
          path: `/metadata/rows/${index}/${column.id}`,
          message: 'has more digits than a number keeps; make the column of text',
        });
    }
  });
  return problems;
}

const ownOf = (row: MetadataRow, name: string): unknown => (Object.hasOwn(row, name) ? row[name] : null);

/** Finds a row's value in a column, under the column's id or its name; null when there is none. */
function cellOf(row: MetadataRow, column: { id: string; name: string }): unknown {
  return ownOf(row, column.id) ?? ownOf(row, column.name) ?? null;
}

/** Prints a row's identifier as the text that an answer must equal; null for a value that cannot be one. */
function identifierOf(row: MetadataRow, { columns, identifierColumnId }: Metadata): string | null {
  const column = columns.find(({ id }) => id === identifierColumnId);
  const value = column ? cellOf(row, column) : null;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

const MOST_DUPLICATES = 100;

/** Finds identifiers that more than one row has, in order of appearance, at most 100. A table of an older shape has none. */
export function findDuplicateIdentifiers(metadata: Metadata): string[] {
  if (!Array.isArray(metadata.rows) || !Array.isArray(metadata.columns)) return [];
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const row of metadata.rows) {
    const identifier = identifierOf(row, metadata);
    if (identifier === null) continue;
    if (seen.has(identifier)) twice.add(identifier);
    seen.add(identifier);
    if (twice.size >= MOST_DUPLICATES) break;
  }
  return [...twice];
}

/** What one row of a record adds to the measurements whose answer, or whose device, is the identifier. */
export interface MetadataEntry {
  identifier: string;
  /** Values by column name, without the identifier column and without nulls. */
  values: Record<string, unknown>;
}

/** Lists the rows of a record that are joined: the first row of each identifier, with values under the columns' names. */
export function listEntries(metadata: Metadata): MetadataEntry[] {
  if (!Array.isArray(metadata.rows) || !Array.isArray(metadata.columns)) return [];
  const added = metadata.columns.filter(({ id }) => id !== metadata.identifierColumnId);
  const known = Map.groupBy(
    added.flatMap((column) => [...new Set([column.id, column.name])].map((key) => ({ key, column }))),
    ({ key }) => key,
  );
  const entries = new Map<string, MetadataEntry>();
  for (const row of metadata.rows) {
    const identifier = identifierOf(row, metadata);
    if (identifier === null || entries.has(identifier)) continue;
    // a row has far fewer members than a wide table has columns
    const columns = Object.keys(row).flatMap((key) => known.get(key) ?? []);
    const values = columns.map(({ column }) => [column.name, cellOf(row, column)] as const).filter(([, value]) => value !== null);
    entries.set(identifier, { identifier, values: Object.fromEntries(values) });
  }
  return [...entries.values()];
}
