import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { MacroLanguage } from '../resources/links.model.ts';

export interface Runnable {
  macroId: string;
  /** Null for the macro as it is now. */
  workbookVersionId: string | null;
  name: string;
  language: MacroLanguage;
  code: string;
  /** Identifies the code: two different texts never share a version. */
  version: string;
}

/** Lists the current code of those of these macros that this person may read. */
export const listLive = (db: Queryable, userId: string, macroIds: readonly string[]) =>
  db.rows<Runnable>(sql('macros.listLive')`
    select m.id as "macroId", null::uuid as "workbookVersionId", r.name, m.language, m.code, m.id || ':' || m.code_version as version
    from readable_resources(${userId}, array['macro'], false) r
    join macros m on m.id = r.id
    where r.id = any (${macroIds}::uuid[])`);

/** Lists code that workbook versions keep, where this person may read the macro or the workbook. */
export const listKept = (db: Queryable, userId: string, wanted: readonly { macroId: string; workbookVersionId: string }[]) =>
  db.rows<Runnable>(sql('macros.listKept')`
    select asked."macroId", v.id as "workbookVersionId", 'version ' || v.version as name,
      v.entity_snapshots -> 'macros' -> asked."macroId"::text ->> 'language' as language,
      v.entity_snapshots -> 'macros' -> asked."macroId"::text ->> 'code' as code,
      v.id || ':' || asked."macroId" as version
    from json_to_recordset(${JSON.stringify(wanted)}::json) as asked ("macroId" uuid, "workbookVersionId" uuid)
    join workbook_versions v on v.id = asked."workbookVersionId"
    where v.entity_snapshots -> 'macros' -> asked."macroId"::text is not null
      and exists (select from readable_resources(${userId}, array['macro', 'workbook'], false) r where r.id in (v.workbook_id, asked."macroId"))`);
