import type { Actor, Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { dropVersion, type Target } from '../input/input.service.ts';
import { insertCodeVersion, readCodeVersion } from '../resources/code-versions.service.ts';
import type { MacroLanguage } from '../resources/links.model.ts';
import { lockForChange, recordChange, settleResource } from '../resources/resources.service.ts';
import type { CodeWarning, Macro, MacroPatch, MacroVersion, NewMacro } from './macros.model.ts';
import { findMacro, insertMacro, updateMacro, type MacroRow } from './macros.queries.ts';

export type VersionedMacro = Macro & { version: number };

const mustFind = async (tx: Transaction, id: string): Promise<MacroRow> =>
  (await findMacro(tx, id)) ?? refuse(errors.resourceNotFound('macro'));

export async function addMacro(tx: Transaction, maker: Actor, body: NewMacro): Promise<VersionedMacro> {
  const id = await settleResource(tx, maker, 'macro', body);
  await insertMacro(tx, { id, code: body.code, language: body.language, forkedFrom: body.forkedFrom ?? null });
  await insertCodeVersion(tx, { resourceId: id, version: 1, code: body.code, kind: body.language, createdBy: maker.userId });
  return mustFind(tx, id);
}

/** Finds what other resources show of a macro. Errors: not found. */
export async function findMacroFacts(tx: Transaction, id: string): Promise<Pick<Macro, 'id' | 'name' | 'filename' | 'language'>> {
  const { name, filename, language } = await mustFind(tx, id);
  return { id, name, filename, language };
}

/** Reads a macro's code at a version. Errors: no such version. */
export async function readMacroVersion(db: Queryable, id: string, version: number): Promise<MacroVersion> {
  const { kind, ...row } = await readCodeVersion(db, id, version);
  return { ...row, language: kind as MacroLanguage };
}

/** Lists reasons why code would not start. The code is stored all the same, and also when no sandbox could check it. */
async function warningsOf(ctx: Context, { userId }: Caller, { language, code }: Pick<Macro, 'language' | 'code'>): Promise<CodeWarning[]> {
  try {
    const sandbox = await ctx.sandbox();
    return await sandbox.check(language, code, userId);
  } catch (error) {
    ctx.log.warn({ err: error, language }, 'the code of a macro could not be checked');
    return [];
  }
}

/** Creates a macro, private unless stated, in an organization of the caller. */
export const createMacro = async (ctx: Context, caller: Caller, body: NewMacro): Promise<Macro> => {
  const warnings = await warningsOf(ctx, caller, body);
  return ctx.db.transaction(async (tx) => caller.created(tx, { ...dropVersion(await addMacro(tx, caller, body)), warnings }));
};

/** Changes the given fields; a change of code or language makes a new code version. */
export async function changeMacro(ctx: Context, caller: Caller, target: Target, body: MacroPatch): Promise<VersionedMacro> {
  const { id } = target;
  const changed = await ctx.db.transaction(async (tx) => {
    await lockForChange(tx, 'macro', target);
    const before = await mustFind(tx, id);
    const { name, description, language, code } = body;
    const given = { name, description, language, code };
    if (Object.values(given).every((value) => value === undefined)) return before;
    const next = { code: code ?? before.code, language: language ?? before.language };
    if (next.code !== before.code || next.language !== before.language) {
      const codeVersion = before.codeVersion + 1;
      await updateMacro(tx, id, { ...next, codeVersion });
      await insertCodeVersion(tx, { resourceId: id, version: codeVersion, code: next.code, kind: next.language, createdBy: caller.userId });
    }
    await recordChange(tx, caller, { type: 'macro', id }, given);
    return mustFind(tx, id);
  });
  if (body.code === undefined && body.language === undefined) return changed;
  return { ...changed, warnings: await warningsOf(ctx, caller, changed) };
}
