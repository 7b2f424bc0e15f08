import type { Queryable } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { findCodeVersion, type CodeVersion } from './code-versions.queries.ts';

export { countCodeVersions, insertCodeVersion, listCodeVersions } from './code-versions.queries.ts';

/** Reads the code of a protocol or macro at a version; `kind` is its family or language. Errors: no such version. */
export const readCodeVersion = async (db: Queryable, resourceId: string, version: number): Promise<CodeVersion> =>
  (await findCodeVersion(db, resourceId, version)) ?? refuse(errors.codeVersionNotFound());
