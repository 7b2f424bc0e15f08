import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export interface WorkbookSteps {
  versionId: string;
  /** Whether the experiment uses this version now. */
  isUsed: boolean;
  /** Its protocols and macros, in the order of its cells. */
  steps: readonly (readonly ['protocol' | 'macro', string])[];
}

/** Lists the protocols and macros of the workbook version that an experiment uses, and of each of the given versions that exists. */
export const listWorkbookSteps = (db: Queryable, experimentId: string, versionIds: readonly string[]) =>
  db.rows<WorkbookSteps>(sql('macroRuns.listWorkbookSteps')`
    select v.id as "versionId", coalesce(v.workbook_id = e.workbook_id and v.id = e.workbook_version_id, false) as "isUsed", (
      select coalesce(json_agg(json_build_array(cell ->> 'type', lower(coalesce(cell -> 'payload' ->> 'protocolId', cell -> 'payload' ->> 'macroId'))) order by position), '[]')
      from json_array_elements(v.cells) with ordinality as cells (cell, position) where cell ->> 'type' in ('protocol', 'macro')) as steps
    from experiments e
    join workbook_versions v on v.id = any (${versionIds}::uuid[]) or (v.id = e.workbook_version_id and v.workbook_id = e.workbook_id)
    where e.id = ${experimentId}`);

/**
 * Lists macros that were linked to these protocols by somebody who may edit the protocol. Other links come from the macro's side alone, and say nothing about
 * other people's measurements.
 */
export const listProtocolMacros = (db: Queryable, protocolIds: readonly string[]) =>
  db.rows<{ protocolId: string; macroId: string }>(sql('macroRuns.listProtocolMacros')`
    select l.protocol_id as "protocolId", l.macro_id as "macroId"
    from macro_protocols l cross join lateral decide(l.added_by, 'protocol', l.protocol_id, 'update') d
    where l.protocol_id = any (${protocolIds}::uuid[]) and d.source is not null
    order by l.protocol_id, l.added_at, l.macro_id`);
