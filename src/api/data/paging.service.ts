import type { OpenTable } from '../../authorization/tables.ts';
import type { Context } from '../../context.ts';
import { errors } from '../../errors.ts';
import type { PageEdges } from '../../lakehouse/read/read.ts';
import { readRequest, type ReadParameters, type ReadRequest, type Seek } from '../../lakehouse/ask/request.ts';
import { readCursor, writeCursor, type CursorScope } from './cursor.ts';

/** The parameters of a read. A cursor, where there is one, takes the place of a page number. */
export interface PlacedParameters extends ReadParameters {
  cursor?: string;
  asOf?: number;
}

const scopeOf = (table: OpenTable, { orderBy, orderDirection, filters, asOf }: PlacedParameters): CursorScope => [
  table.experimentId,
  table.kind,
  table.identifier,
  // a cursor may hold names, and only those that its reader may see
  table.scope.anonymised,
  orderBy,
  orderDirection?.toUpperCase(),
  filters,
  asOf,
];

/** Makes the request of a read, and tells which version of the table to read: the newest one when undefined. Errors: invalidInput, queryRefused. */
export function placeRead(
  ctx: Context,
  table: OpenTable,
  { cursor, asOf, ...parameters }: PlacedParameters,
  isStream: boolean,
): { asked: ReadRequest; version: number | undefined } {
  const asked = readRequest(parameters);
  if (cursor === undefined) return { asked, version: asOf };
  const refused = (message: string) => errors.invalidInput().with({ problems: [{ path: '?cursor', message }] });
  if (asked.page !== undefined) throw refused('Cannot stand beside a page: it says itself where the page begins.');
  if (isStream) throw refused('Is for JSON pages; a stream holds every matching row.');
  const { version, ...seek } = readCursor(ctx.config.secret, scopeOf(table, { ...parameters, asOf }), cursor);
  return { asked: { ...asked, seek }, version };
}

/** Makes the cursors of the previous and the next page. */
export function makeCursors(
  ctx: Context,
  table: OpenTable,
  parameters: PlacedParameters,
  { edges, version }: { edges: PageEdges | null; version: string },
): { previous: string | null; next: string | null } {
  const write = (seek: Seek | null | undefined) =>
    seek ? writeCursor(ctx.config.secret, scopeOf(table, parameters), { ...seek, version: Number(version) }) : null;
  return { previous: write(edges?.previous), next: write(edges?.next) };
}
