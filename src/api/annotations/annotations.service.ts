import { randomUUIDv7 } from 'node:crypto';
import type { AuditAction } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import { isAllowed } from '../../authorization/access.ts';
import { openTable, type OpenTable } from '../../authorization/tables.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import { appendAnnotationChanges, type AnnotationChange } from '../../ingest/annotation-log.ts';
import { findAnnotations, findMissingRows, type AnnotationsAsked, type StandingAnnotation } from '../../lakehouse/plan/annotations.ts';
import { listFixedColumns } from '../../lakehouse/terms/catalog.ts';
import { retryUnchanged } from '../../lakehouse/tables/attempts.ts';
import { findInternalTables, lockTable } from '../../lakehouse/tables/manifest.ts';
import type { LiveTable } from '../../lakehouse/terms/plan.ts';
import { openSource } from '../data/data.service.ts';
import { refreshIdentity } from '../data/identity.service.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { requireWritable } from '../experiments/experiments.service.ts';
import { refuseBody } from '../input/input.service.ts';
import type { AnnotationContent, AnnotationRemoval, RowsAffected, RowsAnnotation } from './annotations.model.ts';
import { markAnnotatorNamed, findNextSequence, noteAnnotator } from './annotations.queries.ts';

const MOST_NAMED = 20;

/** Checks the content of an annotation, and answers what is stored of it. */
function checkedContent({ type, text, flagType }: AnnotationContent, path: string): { text: string | null; flagType: string | null } {
  if (text?.includes('\0') === true)
    throw errors.textHoldsNul().with({ problems: [{ path: `${path}/text`, message: 'must be text without NUL characters' }] });
  if (text?.isWellFormed() === false) throw refuseBody([{ path: `${path}/text`, message: 'must be text without lone surrogates' }]);
  return { text: text ?? null, flagType: type === 'flag' ? (flagType ?? null) : null };
}

/** Opens the table that is annotated, if the caller may read it. Errors: a table of a kind that shows no annotations. */
async function annotatedTable(ctx: Context, caller: Caller, experimentId: string, tableName: string): Promise<OpenTable> {
  const table = await openTable(ctx.db, caller.userId, experimentId, tableName);
  if (!listFixedColumns(table.kind).some(({ derived }) => derived === 'annotations'))
    throw refuseBody([{ path: '/tableName', message: 'rows of this table cannot be annotated' }]);
  return table;
}

async function requireRows(ctx: Context, table: OpenTable, rowIds: readonly string[]): Promise<void> {
  const { warehouse, source } = await ctx.reads.choose(await openSource(ctx, table));
  const missing = await findMissingRows(warehouse, source, rowIds, { timeoutMs: ctx.config.limits.statementTimeoutMs });
  if (missing.length === 0) return;
  const named = missing.slice(0, MOST_NAMED);
  const rest = missing.length - named.length;
  throw errors
    .rowsNotFound(`${named.map((id) => `'${id}'`).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`, table.identifier)
    .with({ members: { rowIds: named } });
}

/** Annotations as the log had them. */
interface Seen {
  /** Undefined where nobody annotated anything. */
  log: LiveTable | undefined;
  found: StandingAnnotation[];
}

async function findStanding(ctx: Context, db: Queryable, table: OpenTable, asked: AnnotationsAsked): Promise<Seen> {
  const { tables } = await findInternalTables(db, table.experimentId, ['annotation']);
  const rows = tables.annotation;
  if (rows.files.length === 0) return { log: rows.live, found: [] };
  const found = await findAnnotations(await ctx.reads.forSmall(rows), { scope: table.scope, rows }, asked, {
    timeoutMs: ctx.config.limits.statementTimeoutMs,
  });
  return { log: rows.live, found };
}

/** Finds which of the annotations still stand, and keeps others from changing any until the transaction ends. Errors: sourceChanged, worth another try. */
async function lockStanding(ctx: Context, tx: Transaction, table: OpenTable, asked: AnnotationsAsked, seen: Seen) {
  const locked = seen.log && (await lockTable(tx, seen.log.tableId));
  if (locked?.version === seen.log?.version) return seen.found;
  // another engine would wait until the log is published, which waits for this lock
  if (!ctx.reads.opensFiles) throw errors.sourceChanged();
  const { found } = await findStanding(ctx, tx, table, asked);
  return found.filter(({ id }) => seen.found.some((each) => each.id === id));
}

/** Puts the caller into the identity dimension before the first of their annotations can be seen. */
async function nameAnnotator(ctx: Context, caller: Caller, experimentId: string): Promise<void> {
  if (await noteAnnotator(ctx.db, experimentId, caller.userId)) return;
  await refreshIdentity(ctx, experimentId);
  await markAnnotatorNamed(ctx.db, experimentId, caller.userId);
}

/** Appends changes to annotations and an audit event, unless the experiment is archived. `settle` answers the call and the details of the event. */
const write = <T>(
  ctx: Context,
  caller: Caller,
  { action, experimentId }: { action: AuditAction; experimentId: string },
  changes: readonly AnnotationChange[],
  settle: (tx: Transaction) => Promise<{ answer: T; details: object }>,
): Promise<T> =>
  appendAnnotationChanges({ db: ctx.db, staging: ctx.staging }, experimentId, changes, async (tx) => {
    await requireWritable(tx, experimentId);
    const { answer, details } = await settle(tx);
    await auditExperiment(tx, caller, experimentId, action, details);
    return answer;
  });

/** Annotates rows of a table, one annotation each. Errors: rowsNotFound, which names the missing rows; nothing has changed then. */
export async function annotateRows(ctx: Context, caller: Caller, experimentId: string, body: RowsAnnotation): Promise<RowsAffected> {
  const table = await annotatedTable(ctx, caller, experimentId, body.tableName);
  const content = checkedContent(body.annotation.content, '/annotation/content');
  const rowIds = [...new Set(body.rowIds)];
  await requireRows(ctx, table, rowIds);
  await nameAnnotator(ctx, caller, experimentId);
  const sequence = await findNextSequence(ctx.db);
  const now = new Date().toISOString();
  const changes = rowIds.map((rowId): AnnotationChange => ({
    id: randomUUIDv7(),
    tableId: table.identifier,
    rowId,
    sequence,
    deleted: false,
    type: body.annotation.type,
    ...content,
    createdBy: caller.userId,
    createdAt: now,
    updatedAt: now,
  }));
  const details = { tableId: table.identifier, rows: changes.length, annotationIds: changes.slice(0, MOST_NAMED).map(({ id }) => id) };
  return write(ctx, caller, { action: 'annotation.created', experimentId }, changes, async (tx) => ({
    answer: await caller.created(tx, { rowsAffected: changes.length }),
    details,
  }));
}

interface AnnotationPath {
  experimentId: string;
  annotationId: string;
}

const MOST_TRIES = 10;

const mayManage = (ctx: Context, caller: Caller, experimentId: string): Promise<boolean> =>
  isAllowed(ctx.db, caller.userId, 'experiment', experimentId, 'manage');

/**
 * Finds an annotation that the caller may change: their own, or anybody's with `manage`, in a table that they may read. `lock` keeps it as it is until the
 * transaction ends. Errors: annotationNotFound, also by `lock`, annotationNotYours.
 */
async function changeable(ctx: Context, caller: Caller, { experimentId, annotationId }: AnnotationPath) {
  // raw_data always exists, and whoever may contribute may open it, as these routes require
  const scoped = await openTable(ctx.db, caller.userId, experimentId, 'raw_data');
  const asked = { id: annotationId.toLowerCase() };
  const seen = await findStanding(ctx, ctx.db, scoped, asked);
  const [found] = seen.found;
  if (!found) throw errors.annotationNotFound();
  await openTable(ctx.db, caller.userId, experimentId, found.table_id);
  if (found.created_by !== caller.userId && !(await mayManage(ctx, caller, experimentId))) throw errors.annotationNotYours();
  const lock = async (tx: Transaction): Promise<void> => {
    if ((await lockStanding(ctx, tx, scoped, asked, seen)).length === 0) throw errors.annotationNotFound();
  };
  return { found, lock };
}

const changeOf = (found: StandingAnnotation, sequence: number, now: string): AnnotationChange => ({
  id: found.id,
  tableId: found.table_id,
  rowId: found.row_id,
  sequence,
  deleted: false,
  type: found.type,
  text: found.content_text,
  flagType: found.flag_type,
  createdBy: found.created_by,
  createdAt: found.created_at,
  updatedAt: now,
});

/** Changes the content of an annotation; its type stays. Errors: annotationNotFound, annotationNotYours. */
export const changeAnnotation = (ctx: Context, caller: Caller, path: AnnotationPath, content: AnnotationContent): Promise<RowsAffected> =>
  retryUnchanged(MOST_TRIES, async () => {
    const { found, lock } = await changeable(ctx, caller, path);
    if (content.type !== found.type) throw refuseBody([{ path: '/content/type', message: `must stay ${found.type}` }]);
    const change = { ...changeOf(found, await findNextSequence(ctx.db), new Date().toISOString()), ...checkedContent(content, '/content') };
    return write(ctx, caller, { action: 'annotation.updated', experimentId: path.experimentId }, [change], async (tx) => {
      await lock(tx);
      return { answer: { rowsAffected: 1 }, details: { annotationId: found.id } };
    });
  });

/** Removes an annotation. Errors: annotationNotFound, annotationNotYours. */
export const removeAnnotation = (ctx: Context, caller: Caller, path: AnnotationPath): Promise<RowsAffected> =>
  retryUnchanged(MOST_TRIES, async () => {
    const { found, lock } = await changeable(ctx, caller, path);
    const change = { ...changeOf(found, await findNextSequence(ctx.db), new Date().toISOString()), deleted: true };
    return write(ctx, caller, { action: 'annotation.deleted', experimentId: path.experimentId }, [change], async (tx) => {
      await lock(tx);
      return { answer: { rowsAffected: 1 }, details: { annotationIds: [found.id] } };
    });
  });

/** Removes annotations of one type from rows, as far as the caller may remove them. Errors: rowsNotFound; nothing has changed then. */
export async function removeAnnotations(
  ctx: Context,
  caller: Caller,
  experimentId: string,
  body: AnnotationRemoval,
): Promise<RowsAffected> {
  const table = await annotatedTable(ctx, caller, experimentId, body.tableName);
  const rowIds = [...new Set(body.rowIds)];
  await requireRows(ctx, table, rowIds);
  const asked = { tableId: table.identifier, rowIds, type: body.type };
  return retryUnchanged(MOST_TRIES, async () => {
    const seen = await findStanding(ctx, ctx.db, table, asked);
    const all = await mayManage(ctx, caller, experimentId);
    const mine = seen.found.filter(({ created_by: author }) => all || author === caller.userId);
    if (mine.length === 0) {
      await ctx.db.transaction((tx) => requireWritable(tx, experimentId));
      return { rowsAffected: 0 };
    }
    const sequence = await findNextSequence(ctx.db);
    const now = new Date().toISOString();
    const changes = mine.map((one) => ({ ...changeOf(one, sequence, now), deleted: true }));
    return write(ctx, caller, { action: 'annotation.deleted', experimentId }, changes, async (tx) => {
      const ended = await lockStanding(ctx, tx, table, asked, { ...seen, found: mine });
      const details = { tableId: table.identifier, annotationIds: ended.slice(0, MOST_NAMED).map(({ id }) => id), count: ended.length };
      return { answer: { rowsAffected: ended.length }, details };
    });
  });
}
