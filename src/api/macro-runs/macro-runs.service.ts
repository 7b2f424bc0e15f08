import { randomUUIDv7 } from 'node:crypto';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { isAllowed } from '../../authorization/access.ts';
import { openTable } from '../../authorization/tables.ts';
import { errors, refuse } from '../../errors.ts';
import { cleanText, readJson } from '../../json.ts';
import type { MeasurementRow } from '../../ingest/messages/store.ts';
import { planRead } from '../../lakehouse/plan/planner.ts';
import { createTable } from '../../lakehouse/tables/manifest.ts';
import { readRequest, type Filter, type ReadRequest } from '../../lakehouse/ask/request.ts';
import { openSource } from '../data/data.service.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { requireWritable } from '../experiments/experiments.service.ts';
import { loadNaming } from '../experiments/pseudonym.service.ts';
import { blameBody } from '../input/input.service.ts';
import { findAttached, type FindAttached } from './attached.ts';
import type { NewMacroRun, NewReprocess, Reprocess } from './macro-runs.model.ts';
import {
  allowMacro,
  findLiveCode,
  findReprocess,
  insertReprocess,
  insertWork,
  listOnNew,
  endWithholding,
  listRegistrars,
  listReprocesses,
  stopOnNew,
  waitForStoring,
  type NewWork,
  type StoredRun,
} from './macro-runs.queries.ts';

/** Most measurements in one piece of work. */
export const PIECE = 500;

interface Known {
  /** The macros that the experiment runs on every new measurement. */
  onAll: readonly string[];
  attachedTo: FindAttached;
  /** Who registered the devices, by thing name. */
  registrars: ReadonlyMap<string, string>;
}

/**
 * Lists the work of macros on new measurements: of those that the measurements name, those attached to them, and those that their experiment runs on all. A
 * piece has one macro, one code, one sender and at most `PIECE` rows. The sender of a device's data is the person who registered it. Pure.
 */
function listNewWork(measurements: readonly MeasurementRow[], { onAll, attachedTo, registrars }: Known): NewWork[] {
  type Group = Pick<NewWork, 'macroId' | 'workbookVersionId' | 'senderId'> & { rows: { id: string; at: string }[] };
  const groups = new Map<string, Group>();
  const add = (row: MeasurementRow, { macroId, workbookVersionId, senderId }: Omit<Group, 'rows'>) => {
    const key = JSON.stringify([macroId, workbookVersionId, senderId]);
    const group = groups.get(key) ?? { macroId, workbookVersionId, senderId, rows: [] };
    group.rows.push({ id: row.id, at: row.facts.timestamp });
    groups.set(key, group);
  };
  for (const row of measurements) {
    const version = row.facts.workbookVersionId;
    const workbookVersionId = version === null ? null : cleanText(version.slice(0, 100));
    const senderId = row.senderId ?? registrars.get(row.clientId ?? '') ?? null;
    for (const macroId of row.toRun) add(row, { macroId, workbookVersionId, senderId });
    const attached = attachedTo(row);
    for (const { macroId, workbookVersionId: keptBy } of attached) add(row, { macroId, workbookVersionId: keptBy, senderId });
    const named = new Set([...row.toRun, ...row.results.map(({ macroId }) => macroId), ...attached.map(({ macroId }) => macroId)]);
    for (const macroId of onAll) if (!named.has(macroId)) add(row, { macroId, workbookVersionId: null, senderId: null });
  }
  const work: NewWork[] = [];
  for (const { rows, ...group } of groups.values()) {
    // sorted by time, so that a piece looks into few files
    rows.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    for (let at = 0; at < rows.length; at += PIECE) {
      const part = rows.slice(at, at + PIECE);
      const times = { from: part[0]?.at ?? '', to: part.at(-1)?.at ?? '' };
      work.push({ ...group, id: randomUUIDv7(), reprocessId: null, rowIds: part.map(({ id }) => id), ...times });
    }
  }
  return work;
}

/** Enqueues the work of macros on new measurements, in the transaction that stores them. */
export async function enqueueMacros(tx: Transaction, experimentId: string, stored: readonly (readonly MeasurementRow[])[]): Promise<void> {
  const measurements = stored.flat();
  const onAll = await listOnNew(tx, experimentId);
  const attachedTo = await findAttached(tx, experimentId, measurements);
  const byDevices = measurements.filter((row) => row.senderId === null && (row.toRun.length > 0 || attachedTo(row).length > 0));
  const things = [...new Set(byDevices.flatMap(({ clientId }) => clientId ?? []))];
  const registered = things.length === 0 ? [] : await listRegistrars(tx, things);
  const registrars = new Map(registered.map(({ thingName, userId }) => [thingName, userId]));
  const work = listNewWork(measurements, { onAll, attachedTo, registrars });
  if (work.length > 0) await insertWork(tx, experimentId, work);
}

const NAMED_BY_NONE =
  'No measurement of this experiment names the macro or has a result of it, or every one brought its output along. A run over every measurement needs no name.';
const MATCHED_BY_NONE = 'No measurement matches, or every one brought an output of the macro along.';

const shown = ({ filters, tries: _tries, note, ...run }: StoredRun): Reprocess => {
  const ranNothing = run.status === 'completed' && run.totalRows === 0;
  const said = note ?? (ranNothing ? (run.scope === 'naming' ? NAMED_BY_NONE : MATCHED_BY_NONE) : null);
  return { ...run, ...(filters === null ? {} : { filters }), ...(said === null ? {} : { note: said }) };
};

interface Asked {
  experimentId: string;
  macroId: string;
  scope: Reprocess['scope'];
  filters: string | null;
  includeDelivered: boolean;
}

/** Puts a run in the queue, with the macro's current code. Errors: no such macro here, already running. */
async function queueRun(tx: Transaction, caller: Caller, asked: Asked): Promise<Reprocess> {
  const code = (await findLiveCode(tx, asked.experimentId, asked.macroId, caller.userId)) ?? refuse(errors.macroNotUsable());
  const row = { ...asked, id: randomUUIDv7(), codeVersion: Number(code.version), createdBy: caller.userId };
  const made = (await insertReprocess(tx, row)) ?? refuse(errors.reprocessRunning());
  const details = { macroId: row.macroId, codeVersion: row.codeVersion, reprocessId: row.id, scope: asked.scope };
  await auditExperiment(tx, caller, asked.experimentId, 'macro.reprocessed', details);
  return caller.created(tx, shown(made));
}

/**
 * Allows a macro in an experiment for good, whoever sends measurements that name it, and on new measurements if `onNew` says so. The caller manages the
 * experiment and may read the macro.
 */
async function allow(tx: Transaction, caller: Caller, asked: { experimentId: string; macroId: string; onNew: boolean | null }) {
  await allowMacro(tx, { ...asked, allowedBy: caller.userId });
  await endWithholding(tx, asked.experimentId, asked.macroId);
  const { experimentId, macroId, onNew } = asked;
  await auditExperiment(tx, caller, experimentId, 'macro.allowed', { macroId, onNew });
}

/**
 * Asks for a macro to be run again over every measurement that names it or has a result of it. If the macro was withheld and the caller may read it, this also
 * allows it in the experiment. Errors: no such macro here, archived, already running.
 */
export const startReprocess = (
  ctx: Context,
  caller: Caller,
  { experimentId, macroId, body }: { experimentId: string; macroId: string; body: NewReprocess },
): Promise<Reprocess> =>
  ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    const id = macroId.toLowerCase();
    const isReadable = await isAllowed(tx, caller.userId, 'macro', id, 'read');
    if (isReadable && (await endWithholding(tx, experimentId, id)) > 0) await allow(tx, caller, { experimentId, macroId: id, onNew: null });
    const includeDelivered = body.includeDelivered ?? false;
    return queueRun(tx, caller, { experimentId, macroId: id, scope: 'naming', filters: null, includeDelivered });
  });

/**
 * Asks for a macro that the caller may read to be run over measurements that need not name it. If the macro is not open to all and the caller manages the
 * experiment, this also allows it there for good. Nobody else can have such a macro run on new measurements. Errors: no such macro here, archived, already
 * running, and what a read of the same filters would refuse.
 */
export async function startMacroRun(
  ctx: Context,
  caller: Caller,
  { experimentId, macroId: sent, body }: { experimentId: string; macroId: string; body: NewMacroRun },
): Promise<Reprocess> {
  const macroId = sent.toLowerCase();
  const given = body.filters === undefined || body.filters === '' ? null : body.filters;
  const filters = given === null || typeof given === 'string' ? given : JSON.stringify(given);
  const table = await openTable(ctx.db, caller.userId, experimentId, 'raw_data');
  const source = await openSource(ctx, table);
  await blameBody(() => planRead(source, makeMeasurementRequest(filters), null));
  return ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    if (!(await isAllowed(tx, caller.userId, 'macro', macroId, 'read'))) throw errors.macroNotUsable();
    const isManager = await isAllowed(tx, caller.userId, 'experiment', experimentId, 'manage');
    const isOpen = (await findLiveCode(tx, experimentId, macroId, null)) !== undefined;
    if (body.onNew === true && !isOpen && !isManager) throw errors.macroNotAllowed();
    // a measurement is found by the run, or is new once the macro runs on new ones
    if (body.onNew === true) {
      // the first batch makes the table, and begins again where it is made meanwhile
      await createTable(tx, { experimentId, kind: 'raw_data' });
      await waitForStoring(tx, experimentId);
    }
    if (body.onNew !== undefined ? isOpen || isManager : !isOpen && isManager)
      await allow(tx, caller, { experimentId, macroId, onNew: body.onNew ?? null });
    const includeDelivered = body.includeDelivered ?? false;
    return queueRun(tx, caller, { experimentId, macroId, scope: 'matching', filters, includeDelivered });
  });
}

/** Stops running a macro on new measurements; its results stay. Errors: archived, not run on them. */
export const stopMacroRuns = (ctx: Context, caller: Caller, experimentId: string, macroId: string): Promise<null> =>
  ctx.db.transaction(async (tx) => {
    await requireWritable(tx, experimentId);
    if ((await stopOnNew(tx, experimentId, macroId)) === 0) throw errors.macroNotOnNew();
    await auditExperiment(tx, caller, experimentId, 'macro.stopped', { macroId });
    return null;
  });

/** Makes the request that reads the ids and times of the measurements that a macro is to run over, oldest first. */
export const makeMeasurementRequest = (filters: string | null): ReadRequest =>
  readRequest({ columns: 'id,timestamp', orderBy: 'timestamp', orderDirection: 'ASC', filters: filters ?? undefined });

const omitValues = (filters: string | null): string | null =>
  filters && JSON.stringify((readJson(filters) as Filter[]).map(({ column, operator }) => ({ column, operator })));

/**
 * Makes what shows runs to a caller: in an anonymised experiment, who asked for them by a pseudonym. Filters hold values of `raw_data`, which only those
 * who may read it see.
 */
async function loadShown(ctx: Context, caller: Caller, experimentId: string): Promise<(run: StoredRun) => Reprocess> {
  const named = await loadNaming(ctx, caller, experimentId);
  const mayReadRaw = await isAllowed(ctx.db, caller.userId, 'experiment', experimentId, 'contribute');
  return (run) => {
    const { createdBy, ...made } = shown(mayReadRaw ? run : { ...run, filters: omitValues(run.filters) });
    return createdBy === null ? { ...made, createdBy } : named({ ...made, createdBy });
  };
}

/** Loads one request with its progress. Errors: not found. */
export async function reprocessOf(
  ctx: Context,
  caller: Caller,
  { experimentId, macroId, id }: Record<'experimentId' | 'macroId' | 'id', string>,
) {
  const found = (await findReprocess(ctx.db, experimentId, macroId, id)) ?? refuse(errors.reprocessNotFound());
  return (await loadShown(ctx, caller, experimentId))(found);
}

/** The last requests for a macro, newest first. */
export async function loadReprocesses(ctx: Context, caller: Caller, experimentId: string, macroId: string): Promise<Reprocess[]> {
  const show = await loadShown(ctx, caller, experimentId);
  return (await listReprocesses(ctx.db, experimentId, macroId, 100)).map(show);
}
