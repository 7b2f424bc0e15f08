import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { MacroProtocolLink, ProtocolMacroLink } from './links.model.ts';

/** Lists protocols of a macro that the caller may read, by name; with `only`, no others than these. */
export const listProtocolsOfMacro = (db: Queryable, userId: string, macroId: string, only: readonly string[] | null = null) =>
  db.rows<MacroProtocolLink>(sql('links.protocolsOfMacro')`
    select l.macro_id as "macroId", l.added_at as "addedAt",
      json_build_object('id', r.id, 'name', r.name, 'family', p.family, 'createdBy', r.created_by) as protocol
    from macro_protocols l
    join readable_resources(${userId}, array['protocol'], false) r on r.id = l.protocol_id
    join protocols p on p.id = r.id
    where l.macro_id = ${macroId} and (${only}::uuid[] is null or l.protocol_id = any (${only}::uuid[]))
    order by lower(r.name), r.id`);

/** Lists macros of a protocol that the caller may read, by name; with `only`, no others than these. */
export const listMacrosOfProtocol = (db: Queryable, userId: string, protocolId: string, only: readonly string[] | null = null) =>
  db.rows<ProtocolMacroLink>(sql('links.macrosOfProtocol')`
    select l.protocol_id as "protocolId", l.added_at as "addedAt",
      json_build_object('id', r.id, 'name', r.name, 'filename', m.filename, 'language', m.language, 'createdBy', r.created_by) as macro
    from macro_protocols l
    join readable_resources(${userId}, array['macro'], false) r on r.id = l.macro_id
    join macros m on m.id = r.id
    where l.protocol_id = ${protocolId} and (${only}::uuid[] is null or l.macro_id = any (${only}::uuid[]))
    order by lower(r.name), r.id`);

/** Links every one of these macros with every one of these protocols. Existing links stay. */
export const insertLinks = (db: Queryable, macroIds: readonly string[], protocolIds: readonly string[], addedBy: string) =>
  db.run(sql('links.insert')`
    insert into macro_protocols (macro_id, protocol_id, added_by)
    select macro_id, protocol_id, ${addedBy} from unnest(${macroIds}::uuid[]) macro_id cross join unnest(${protocolIds}::uuid[]) protocol_id
    order by 1, 2
    on conflict do nothing`);

export const deleteLink = (db: Queryable, macroId: string, protocolId: string) =>
  db.run(sql('links.delete')`delete from macro_protocols where macro_id = ${macroId} and protocol_id = ${protocolId}`);
