import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import type { MeasurementRow } from '../../ingest/messages.ts';
import { requireWritable } from '../experiments/experiments.service.ts';
import type { NewReprocess, Reprocess } from './macro-runs.model.ts';
import { findLiveCode, findReprocess, insertReprocess, insertWork, listReprocesses, type NewWork } from './macro-runs.queries.ts';

/** Measurements of one piece of work. */
export const PIECE = 500;

/** What the macros that measurements name have to do: one piece a macro, code and so many rows. Pure. */
export function workOf(measurements: readonly (readonly MeasurementRow[])[], size = PIECE): NewWork[] {
  const groups = new Map<string, { macroId: string; workbookVersionId: string | null; rows: { id: string; at: string }[] }>();
  for (const row of measurements.flat())
    for (const macroId of row.toRun) {
      const workbookVersionId = row.facts.workbookVersionId?.slice(0, 100).replaceAll('\0', '\ufffd').toWellFormed() ?? null;
      const key = JSON.stringify([macroId, workbookVersionId]);
      const group = groups.get(key) ?? { macroId, workbookVersionId, rows: [] };
      group.rows.push({ id: row.id, at: row.facts.timestamp });
      groups.set(key, group);
    }
  const work: NewWork[] = [];
  for (const { macroId, workbookVersionId, rows } of groups.values()) {
    // by time, so that a piece looks into few files
    rows.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    for (let at = 0; at < rows.length; at += size) {
      const part = rows.slice(at, at + size);
      const times = { from: part[0]?.at ?? '', to: part.at(-1)?.at ?? '' };
      work.push({ id: randomUUIDv7(), macroId, workbookVersionId, reprocessId: null, rowIds: part.map(({ id }) => id), ...times });
    }
  }
  return work;
}

/** Notes what macros are to run on new measurements, in the transaction that stores them. */
export async function queueMacros(
  tx: Transaction,
  experimentId: string,
  measurements: readonly (readonly MeasurementRow[])[],
): Promise<void> {
  const work = workOf(measurements);
  if (work.length > 0) await insertWork(tx, experimentId, work);
}

/** Asks for a macro to be run again over every measurement that names it. Errors: no such macro here, archived, already running. */
export async function startReprocess(
  ctx: Context,
  caller: Caller,
  { experimentId, macroId, body }: { experimentId: string; macroId: string; body: NewReprocess },
): Promise<Reprocess> {
  return ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    const code = await findLiveCode(tx, experimentId, macroId);
    if (!code) throw errors.macroNotUsable();
    const row = {
      id: randomUUIDv7(),
      experimentId,
      macroId: macroId.toLowerCase(),
      codeVersion: Number(code.version),
      includeDelivered: body.includeDelivered ?? false,
      createdBy: caller.userId,
    };
    const made = await insertReprocess(tx, row);
    if (!made) throw errors.reprocessRunning();
    await audit(tx, caller, {
      action: 'macro.reprocessed',
      resource: { type: 'experiment', id: experimentId },
      details: { macroId: row.macroId, codeVersion: row.codeVersion, reprocessId: row.id },
    });
    return caller.created(tx, made);
  });
}

/** One request with its progress. Errors: not found. */
export async function reprocessOf(ctx: Context, experimentId: string, macroId: string, id: string): Promise<Reprocess> {
  const found = await findReprocess(ctx.db, experimentId, macroId, id);
  if (!found) throw errors.reprocessNotFound();
  return found;
}

/** The last requests for a macro, newest first. */
export const reprocessesOf = (ctx: Context, experimentId: string, macroId: string): Promise<Reprocess[]> =>
  listReprocesses(ctx.db, experimentId, macroId, 100);
