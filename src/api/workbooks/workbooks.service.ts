import type { Actor, Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { dropVersion, printBounded, readShape, refuseBody, type Target } from '../input/input.service.ts';
import { lockForChange, recordChange, settleResource } from '../resources/resources.service.ts';
import { listCellProblems, cellsShape, countTypes, hashDesign, listUses, type Cell } from './cells.ts';
import { listProblems } from './problems.ts';
import type { NewWorkbook, Workbook, WorkbookPatch, WorkbookProblems } from './workbooks.model.ts';
import {
  deleteUses,
  findWorkbook,
  insertUses,
  insertWorkbook,
  listUsed,
  updateCells,
  updateMetadata,
  type WorkbookRow,
} from './workbooks.queries.ts';

const LARGEST = 5_000_000;
/** Lists hold the metadata of a hundred workbooks: with 5 MB each, twelve calls kept connections busy for half a minute. */
const LARGEST_METADATA = 100_000;

const mustFind = async (tx: Queryable, id: string): Promise<WorkbookRow> =>
  (await findWorkbook(tx, id)) ?? refuse(errors.resourceNotFound('workbook'));

const printMetadata = (metadata: Record<string, unknown>) => printBounded(metadata, '/metadata', LARGEST_METADATA);

function checkedCells(given: unknown): Cell[] {
  const cells = readShape(cellsShape, given, '/cells');
  const problems = listCellProblems(cells);
  if (problems.length > 0) throw refuseBody(problems);
  return cells;
}

const contentOf = (cells: readonly Cell[]) => ({
  cells: printBounded(cells, '/cells', LARGEST),
  designDigest: hashDesign(cells),
  cellTypeCounts: JSON.stringify(countTypes(cells)),
});

export async function addWorkbook(tx: Transaction, maker: Actor, body: NewWorkbook): Promise<WorkbookRow> {
  const cells = checkedCells(body.cells ?? []);
  const metadata = printMetadata(body.metadata ?? {});
  const id = await settleResource(tx, maker, 'workbook', body);
  await insertWorkbook(tx, id, body.forkedFrom ?? null, { ...contentOf(cells), metadata });
  await insertUses(tx, id, listUses(cells));
  return mustFind(tx, id);
}

/** Creates a workbook, private unless stated, in an organization of the caller. */
export const createWorkbook = (ctx: Context, caller: Caller, body: NewWorkbook): Promise<Workbook> =>
  ctx.db.transaction(async (tx) => caller.created(tx, dropVersion(await addWorkbook(tx, caller, body))));

/** Changes the given fields. Makes no version: experiments keep the one that they pin. */
export const patchWorkbook = (ctx: Context, caller: Caller, target: Target, body: WorkbookPatch): Promise<WorkbookRow> =>
  ctx.db.transaction(async (tx) => {
    const { id } = target;
    await lockForChange(tx, 'workbook', target);
    const { name, description, metadata } = body;
    const cells = body.cells === undefined ? undefined : checkedCells(body.cells);
    const given = { name, description, cells, metadata };
    if (Object.values(given).every((value) => value === undefined)) return mustFind(tx, id);
    if (cells !== undefined) {
      await updateCells(tx, id, contentOf(cells));
      await deleteUses(tx, id);
      await insertUses(tx, id, listUses(cells));
    }
    if (metadata !== undefined) await updateMetadata(tx, id, printMetadata(metadata));
    await recordChange(tx, caller, { type: 'workbook', id }, given);
    return mustFind(tx, id);
  });

/** Lists everything that would stop a workbook from working in the field, as this caller would meet it. */
export const loadProblems = (ctx: Context, caller: Caller, id: string): Promise<WorkbookProblems> =>
  ctx.db.transaction(async (tx) => {
    const { cells } = await mustFind(tx, id);
    const known = cells as unknown as Cell[];
    const problems = listProblems(known, await listUsed(tx, caller.userId, listUses(known)));
    return { ok: problems.every(({ severity }) => severity === 'warning'), problems };
  });
