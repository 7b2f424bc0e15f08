import type { Queryable } from '../database/database.ts';
import { isUuid } from '../database/uuid.ts';
import { errors } from '../errors.ts';
import type { ReadableKind } from '../lakehouse/terms/catalog.ts';
import { suggestNames } from '../lakehouse/terms/near.ts';
import { makeExperimentScope, type ExperimentScope } from '../lakehouse/terms/scope.ts';
import { isAllowed } from './access.ts';
import { findTableAccess, listUploadNames } from './tables.queries.ts';

/** A table that the caller may read, with the scope that every plan over it needs. */
export interface OpenTable {
  scope: ExperimentScope;
  experimentId: string;
  experimentName: string;
  organizationId: string;
  /** Whether the caller may read it only because everybody may. */
  isPublic: boolean;
  kind: ReadableKind;
  identifier: string;
  /** An upload table's own name. */
  name: string | null;
  /** Null while the table has never held a row. Only raw_data and device exist before their first row. */
  tableId: string | null;
  version: number;
  rowCount: number;
}

/**
 * Decides whether a caller may read one table: raw and uploaded rows need `contribute`, device and macro rows `read`. Errors: resourceNotFound for the
 * experiment, tableNotFound, tableDenied (which says what would open it).
 */
export async function openTable(db: Queryable, userId: string, experimentId: string, name: string): Promise<OpenTable> {
  const found = await findTableAccess(db, userId, experimentId, isUuid(name) ? name.toLowerCase() : name);
  if (!found) throw errors.resourceNotFound('experiment');
  if (found.kind === null || found.identifier === null) {
    const uploads = await listUploadNames(db, userId, experimentId);
    throw errors.tableNotFound(name.slice(0, 128), suggestNames(name, ['raw_data', 'device', ...uploads]));
  }
  if (found.source === null) throw errors.tableDenied(found.tableName ?? found.identifier);
  return {
    scope: makeExperimentScope({ experimentId, anonymised: found.isAnonymised }),
    experimentId,
    experimentName: found.experimentName,
    organizationId: found.organizationId,
    isPublic: found.source === 'public',
    kind: found.kind as ReadableKind,
    identifier: found.identifier,
    name: found.tableName,
    tableId: found.tableId,
    version: found.version,
    rowCount: found.rowCount,
  };
}

/** Makes a table show pseudonyms, whatever the experiment shows. */
export const setPseudonyms = (table: OpenTable): OpenTable => ({
  ...table,
  scope: makeExperimentScope({ experimentId: table.experimentId, anonymised: true }),
});

/** Makes a table show real names, whatever the experiment shows. Errors: namesDenied without `manage`. */
export async function setRealNames(db: Queryable, userId: string, table: OpenTable): Promise<OpenTable> {
  if (!(await isAllowed(db, userId, 'experiment', table.experimentId, 'manage'))) throw errors.namesDenied();
  return { ...table, scope: makeExperimentScope({ experimentId: table.experimentId, anonymised: false }) };
}
