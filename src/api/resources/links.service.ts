import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import { requireAccessToAll } from '../../authorization/access.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import type { MacroProtocolLink, ProtocolMacroLink } from './links.model.ts';
import { deleteLink, insertLinks, listMacrosOfProtocol, listProtocolsOfMacro } from './links.queries.ts';

export { listMacrosOfProtocol, listProtocolsOfMacro } from './links.queries.ts';

const distinct = (ids: readonly string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))];

/** Links protocols to a macro and answers those links. Nothing is written when one of them cannot be read. */
export const linkProtocols = (
  ctx: Context,
  caller: Caller,
  macroId: string,
  protocolIds: readonly string[],
): Promise<MacroProtocolLink[]> =>
  ctx.db.transaction(async (tx) => {
    const ids = distinct(protocolIds);
    await requireAccessToAll(tx, caller.userId, 'protocol', ids, 'read');
    if ((await insertLinks(tx, [macroId], ids, caller.userId)) > 0)
      await audit(tx, caller, { action: 'macro.linked', resource: { type: 'macro', id: macroId }, details: { protocolIds: ids } });
    return caller.created(tx, await listProtocolsOfMacro(tx, caller.userId, macroId, ids));
  });

/** Links one macro with one protocol, inside a transaction. */
export const joinProtocol = (tx: Transaction, macroId: string, protocolId: string, addedBy: string) =>
  insertLinks(tx, [macroId], [protocolId], addedBy);

/** Links macros to a protocol and answers those links. Nothing is written when one of them cannot be read. */
export const linkMacros = (ctx: Context, caller: Caller, protocolId: string, macroIds: readonly string[]): Promise<ProtocolMacroLink[]> =>
  ctx.db.transaction(async (tx) => {
    const ids = distinct(macroIds);
    await requireAccessToAll(tx, caller.userId, 'macro', ids, 'read');
    if ((await insertLinks(tx, ids, [protocolId], caller.userId)) > 0)
      await audit(tx, caller, { action: 'macro.linked', resource: { type: 'protocol', id: protocolId }, details: { macroIds: ids } });
    return caller.created(tx, await listMacrosOfProtocol(tx, caller.userId, protocolId, ids));
  });

/** Removes a link; a link that does not exist is no error. */
export const unlink = (
  ctx: Context,
  caller: Caller,
  from: { type: 'macro' | 'protocol'; macroId: string; protocolId: string },
): Promise<null> =>
  ctx.db.transaction(async (tx) => {
    const { type, macroId, protocolId } = from;
    if ((await deleteLink(tx, macroId, protocolId)) > 0)
      await audit(tx, caller, {
        action: 'macro.unlinked',
        resource: { type, id: type === 'macro' ? macroId : protocolId },
        details: { macroId, protocolId },
      });
    return null;
  });
