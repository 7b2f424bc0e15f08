import type { Actor, Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { readExactJson } from '../../json.ts';
import { errors, refuse } from '../../errors.ts';
import { dropVersion, type Target } from '../input/input.service.ts';
import { insertCodeVersion, readCodeVersion } from '../resources/code-versions.service.ts';
import type { ProtocolFamily } from '../resources/links.model.ts';
import { lockForChange, recordChange, settleResource } from '../resources/resources.service.ts';
import type { NewProtocol, Protocol, ProtocolCode, ProtocolPatch, ProtocolVersion } from './protocols.model.ts';
import { findProtocol, insertProtocol, updateProtocol, type ProtocolRow } from './protocols.queries.ts';

export type VersionedProtocol = Protocol & { version: number };

/** Reads a row, with its code as JSON that prints as it was sent. */
export const readProtocol = <Row extends ProtocolRow>({ code, ...row }: Row): Omit<Row, 'code'> & Pick<Protocol, 'code'> => ({
  ...row,
  code: readExactJson(code) as ProtocolCode,
});

/** Reads a protocol's code at a version. Errors: no such version. */
export async function readProtocolVersion(db: Queryable, id: string, version: number): Promise<ProtocolVersion> {
  const { kind, code, ...row } = await readCodeVersion(db, id, version);
  return { ...row, code: readExactJson(code) as ProtocolCode, family: kind as ProtocolFamily };
}

const mustFind = async (tx: Transaction, id: string): Promise<ProtocolRow & { version: number }> =>
  (await findProtocol(tx, id)) ?? refuse(errors.resourceNotFound('protocol'));

/** Creates a protocol inside a transaction. `code` is JSON text. */
export async function addProtocol(
  tx: Transaction,
  maker: Actor,
  body: Omit<NewProtocol, 'code'>,
  code: string,
): Promise<VersionedProtocol> {
  const id = await settleResource(tx, maker, 'protocol', body);
  await insertProtocol(tx, { id, code, family: body.family, forkedFrom: body.forkedFrom ?? null });
  await insertCodeVersion(tx, { resourceId: id, version: 1, code, kind: body.family, createdBy: maker.userId });
  return readProtocol(await mustFind(tx, id));
}

/** Creates a protocol, private unless stated, in an organization of the caller. `code` is the JSON text of `body.code`. */
export const createProtocol = (ctx: Context, caller: Caller, body: NewProtocol, code: string): Promise<Protocol> =>
  ctx.db.transaction(async (tx) => caller.created(tx, dropVersion(await addProtocol(tx, caller, body, code))));

/** Changes the given fields; a change of code or family makes a new code version. `code` is the JSON text of `body.code`. */
export const patchProtocol = (
  ctx: Context,
  caller: Caller,
  target: Target,
  { body, code }: { body: ProtocolPatch; code: string | undefined },
): Promise<VersionedProtocol> =>
  ctx.db.transaction(async (tx) => {
    const { id } = target;
    await lockForChange(tx, 'protocol', target);
    const before = await mustFind(tx, id);
    const { name, description, family } = body;
    const given = { name, description, family, code };
    if (Object.values(given).every((value) => value === undefined)) return readProtocol(before);
    const next = { code: given.code ?? before.code, family: family ?? before.family };
    if (next.code !== before.code || next.family !== before.family) {
      const codeVersion = before.codeVersion + 1;
      await updateProtocol(tx, id, { ...next, codeVersion });
      await insertCodeVersion(tx, { resourceId: id, version: codeVersion, code: next.code, kind: next.family, createdBy: caller.userId });
    }
    await recordChange(tx, caller, { type: 'protocol', id }, given);
    return readProtocol(await mustFind(tx, id));
  });
