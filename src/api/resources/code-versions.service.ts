import type { Queryable, Slice } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import type { CodeVersionSummary } from './code-versions.model.ts';
import { countCodeVersions, findCodeVersion, listCodeVersions } from './code-versions.queries.ts';

export { insertCodeVersion } from './code-versions.queries.ts';

/** A page of a protocol's or macro's versions, newest first, and how many there are. */
export async function loadCodeVersions(
  db: Queryable,
  resourceId: string,
  page: Slice,
): Promise<{ rows: CodeVersionSummary[]; total: number }> {
  const [rows, total] = await Promise.all([listCodeVersions(db, resourceId, page), countCodeVersions(db, resourceId)]);
  return { rows, total };
}

/** Reads the code of a protocol or macro at a version; `kind` is its family or language. Errors: no such version. */
export async function readCodeVersion(
  db: Queryable,
  resourceId: string,
  version: number,
): Promise<CodeVersionSummary & { code: string; kind: string }> {
  return (await findCodeVersion(db, resourceId, version)) ?? refuse(errors.codeVersionNotFound());
}
