import { randomUUIDv7 } from 'node:crypto';
import type { Queryable, Transaction } from '../../database/database.ts';
import { fragment, keyword, sql } from '../../database/sql.ts';
import type { MacroLanguage } from '../resources/links.model.ts';
import type { Reprocess } from './macro-runs.model.ts';

export interface NewWork {
  id: string;
  macroId: string;
  workbookVersionId: string | null;
  /** The person who sent the measurements or asked for the run; null for a device that nobody registered. */
  senderId: string | null;
  reprocessId: string | null;
  rowIds: readonly string[];
  from: string;
  to: string;
  tries?: number;
  /** Seconds from now. */
  delay?: number;
}

export const insertWork = (db: Queryable, experimentId: string, work: readonly NewWork[]) =>
  db.run(sql('macroRuns.insertWork')`
    insert into macro_work (id, experiment_id, macro_id, workbook_version_id, sender_id, reprocess_id, row_ids, from_at, to_at, tries, next_at)
    select w.id, ${experimentId}, w."macroId", w."workbookVersionId", (select u.id from users u where u.id = w."senderId"), w."reprocessId", w."rowIds", w."from", w."to", coalesce(w.tries, 0),
      now() + make_interval(secs => coalesce(w.delay, 0))
    from jsonb_to_recordset(${JSON.stringify(work)}::jsonb) as w (id uuid, "macroId" uuid, "workbookVersionId" text, "senderId" uuid, "reprocessId" uuid, "rowIds" text[],
      "from" timestamptz, "to" timestamptz, tries integer, delay float8)`);

export const anyMacroWorkDue = fragment`exists (select from macro_work where next_at <= now()) or exists (select from macro_reprocesses where status = 'queued' and next_at <= now())`;

/** Experiments with work that is due, those that wait longest first. */
export const listDue = (db: Queryable, limit: number) =>
  db.values<string>(sql('macroRuns.listDue')`
    select experiment_id from macro_work where next_at <= now() group by experiment_id order by min(next_at) limit ${limit}`);

export type Work = Required<Omit<NewWork, 'delay' | 'rowIds'>> & { experimentId: string; rowIds: string[] };

const iso = (column: 'w.from_at' | 'w.to_at') => fragment`to_char(${keyword(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Claims a piece of an experiment's due work for so many seconds. New measurements come before macros that are run again. */
export const claimWork = (db: Queryable, experimentId: string, seconds: number) =>
  db.one<Work>(sql('macroRuns.claim')`
    update macro_work w set tries = tries + 1, next_at = now() + make_interval(secs => ${seconds})
    where w.id = (select id from macro_work where experiment_id = ${experimentId} and next_at <= now()
      order by reprocess_id is not null, next_at, id limit 1 for update skip locked)
    returning w.id, w.experiment_id as "experimentId", w.macro_id as "macroId", w.workbook_version_id as "workbookVersionId", w.sender_id as "senderId",
      w.reprocess_id as "reprocessId", w.row_ids as "rowIds", ${iso('w.from_at')} as "from", ${iso('w.to_at')} as "to", w.tries`);

export const holdWork = (db: Queryable, id: string, seconds: number) =>
  db.run(sql('macroRuns.hold')`update macro_work set next_at = now() + make_interval(secs => ${seconds}) where id = ${id}`);

/** Gives a piece back for a reason outside the piece. The try is not counted. */
export const excuseWork = (db: Queryable, id: string, seconds: number) =>
  db.run(sql('macroRuns.excuse')`
    update macro_work set tries = greatest(tries - 1, 0), next_at = now() + make_interval(secs => ${seconds}) where id = ${id}`);

/** Ends a piece of work; false when another worker has ended it. */
export const endWork = async (tx: Transaction, id: string) =>
  (await tx.run(sql('macroRuns.endWork')`delete from macro_work where id = ${id}`)) > 0;

export interface Code {
  name: string;
  filename: string | null;
  language: MacroLanguage;
  code: string;
  /** The version that result rows name: the macro's code version, or the workbook version that keeps the code. */
  version: string;
}

/**
 * Finds the current code of a macro, where an experiment may run it for a person. One of three must hold: the person may read it (without a person, it must be
 * public), the workbook version that the experiment uses holds it, or a manager has allowed it there.
 */
export const findLiveCode = (db: Queryable, experimentId: string, macroId: string, personId: string | null) =>
  db.one<Code>(sql('macroRuns.findLiveCode')`
    select r.name, m.filename, m.language, m.code, m.code_version::text as version
    from macros m join resources r on r.id = m.id join experiments e on e.id = ${experimentId}
    where m.id = ${macroId} and (exists (select from workbook_version_uses u where u.version_id = e.workbook_version_id and u.resource_id = m.id)
      or exists (select from experiment_macros allowed where allowed.experiment_id = e.id and allowed.macro_id = m.id)
      or exists (select from readable_resources(${personId}, array['macro'], false) readable where readable.id = m.id))`);

/**
 * Finds the code that a workbook version keeps. The experiment must use the version or have been allowed the macro, or the person must be able to read the
 * workbook or the macro.
 */
export const findKeptCode = (db: Queryable, experimentId: string, kept: { macroId: string; versionId: string; personId: string | null }) =>
  db.one<Code>(sql('macroRuns.findKeptCode')`
    select coalesce(r.name, kept.id::text) as name, m.filename, v.entity_snapshots -> 'macros' -> kept.id::text ->> 'language' as language,
      v.entity_snapshots -> 'macros' -> kept.id::text ->> 'code' as code, 'workbook ' || v.id as version
    from workbook_versions v cross join (select ${kept.macroId}::uuid as id) kept
    join experiments e on e.id = ${experimentId}
    left join macros m on m.id = kept.id left join resources r on r.id = m.id
    where v.id = ${kept.versionId} and v.entity_snapshots -> 'macros' -> kept.id::text ->> 'code' is not null
      and (e.workbook_version_id = v.id
        or exists (select from experiment_macros allowed where allowed.experiment_id = e.id and allowed.macro_id = kept.id)
        or exists (select from readable_resources(${kept.personId}, array['macro', 'workbook'], false) readable where readable.id in (v.workbook_id, kept.id)))`);

export const hasMacro = async (db: Queryable, macroId: string) =>
  (await db.one(sql('macroRuns.hasMacro')`select from macros where id = ${macroId}`)) !== undefined;

/** Lists who registered these things. Things that nobody registered are left out. */
export const listRegistrars = (db: Queryable, thingNames: readonly string[]) =>
  db.rows<{ thingName: string; userId: string }>(sql('macroRuns.listRegistrars')`
    select d.thing_name as "thingName", r.created_by as "userId" from devices d join resources r on r.id = d.id
    where d.thing_name = any (${thingNames}) and r.created_by is not null`);

/** How many withheld macros an experiment notes at most. Their ids come from whoever sends, so there must be a bound. */
const MOST_WITHHELD = 1_000;

/**
 * Counts measurements on which a macro was not run because their sender may not read it. Does nothing when the macro does not exist or was allowed meanwhile.
 */
export const noteWithheld = (tx: Transaction, row: { experimentId: string; macroId: string; measurements: number; most?: number }) =>
  tx.run(sql('macroRuns.noteWithheld')`
    insert into withheld_macros as w (experiment_id, macro_id, measurements)
    select ${row.experimentId}, m.id, ${row.measurements} from macros m
    where m.id = ${row.macroId} and not exists (select from experiment_macros a where a.experiment_id = ${row.experimentId} and a.macro_id = m.id)
      and (select count(*) from withheld_macros other where other.experiment_id = ${row.experimentId} and other.macro_id <> m.id) < ${row.most ?? MOST_WITHHELD}
    on conflict (experiment_id, macro_id) do update set measurements = w.measurements + excluded.measurements, last_at = now()`);

const columns = fragment`id, experiment_id as "experimentId", macro_id as "macroId", code_version as "codeVersion", include_delivered as "includeDelivered", scope, filters, status,
  total_rows as "totalRows", done_rows as "doneRows", failed_rows as "failedRows", created_by as "createdBy", created_at as "createdAt",
  started_at as "startedAt", completed_at as "completedAt", tries, note`;

export type StoredRun = Omit<Reprocess, 'filters' | 'note'> & {
  filters: string | null;
  /** How often it was begun in vain. */
  tries: number;
  /** Why it could not be begun at all, or results of it not be stored. */
  note: string | null;
};

/** Lets an experiment run a macro that it could not read. `onNew` says whether the macro also runs on future measurements; null leaves this as it is. */
export const allowMacro = (tx: Transaction, row: { experimentId: string; macroId: string; onNew: boolean | null; allowedBy: string }) =>
  tx.run(sql('macroRuns.allowMacro')`
    insert into experiment_macros as m (experiment_id, macro_id, runs_on_new, allowed_by)
    values (${row.experimentId}, ${row.macroId}, coalesce(${row.onNew}::boolean, false), ${row.allowedBy})
    on conflict (experiment_id, macro_id) do update set runs_on_new = coalesce(${row.onNew}::boolean, m.runs_on_new)`);

/** Waits for the measurements of an experiment that are being stored, and has those that come wait until the transaction ends. */
export const waitForStoring = (tx: Transaction, experimentId: string) =>
  tx.run(sql('macroRuns.waitForStoring')`select from lake_tables where experiment_id = ${experimentId} and kind = 'raw_data' for share`);

/** Forgets that a macro was withheld; 0 when it was not. */
export const endWithholding = (tx: Transaction, experimentId: string, macroId: string) =>
  tx.run(sql('macroRuns.endWithholding')`delete from withheld_macros where experiment_id = ${experimentId} and macro_id = ${macroId}`);

/** Stops running a macro on future measurements; 0 when it was not run on them. */
export const stopOnNew = (tx: Transaction, experimentId: string, macroId: string) =>
  tx.run(sql('macroRuns.stopOnNew')`
    update experiment_macros set runs_on_new = false where experiment_id = ${experimentId} and macro_id = ${macroId} and runs_on_new`);

/** Macros that an experiment runs on every new measurement. */
export const listOnNew = (db: Queryable, experimentId: string) =>
  db.values<string>(sql('macroRuns.listOnNew')`
    select macro_id from experiment_macros where experiment_id = ${experimentId} and runs_on_new order by macro_id`);

/** Inserts a request to run a macro again. Answers undefined when one is already queued or running. */
export const insertReprocess = (
  db: Queryable,
  row: Pick<StoredRun, 'id' | 'experimentId' | 'macroId' | 'codeVersion' | 'includeDelivered' | 'scope' | 'filters'> & {
    createdBy: string;
  },
) =>
  db.one<StoredRun>(sql('macroRuns.insertReprocess')`
    insert into macro_reprocesses (id, experiment_id, macro_id, code_version, include_delivered, scope, filters, created_by)
    values (${row.id}, ${row.experimentId}, ${row.macroId}, ${row.codeVersion}, ${row.includeDelivered}, ${row.scope}, ${row.filters}, ${row.createdBy})
    on conflict do nothing returning ${columns}`);

export const findReprocess = (db: Queryable, experimentId: string, macroId: string, id: string) =>
  db.one<StoredRun>(sql('macroRuns.findReprocess')`
    select ${columns} from macro_reprocesses where experiment_id = ${experimentId} and macro_id = ${macroId} and id = ${id}`);

export const listReprocesses = (db: Queryable, experimentId: string, macroId: string, limit: number) =>
  db.rows<StoredRun>(sql('macroRuns.listReprocesses')`
    select ${columns} from macro_reprocesses where experiment_id = ${experimentId} and macro_id = ${macroId} order by created_at desc, id desc limit ${limit}`);

/** Requests that wait to be begun, and may be begun now. */
export const listQueued = (db: Queryable) =>
  db.rows<StoredRun>(sql('macroRuns.listQueued')`
    select ${columns} from macro_reprocesses where status = 'queued' and next_at <= now() order by created_at limit 20`);

/** Leaves a queued request alone for some seconds. */
export const holdReprocess = (db: Queryable, id: string, { isCounted, seconds }: { isCounted: boolean; seconds: number }) =>
  db.run(sql('macroRuns.holdReprocess')`
    update macro_reprocesses set tries = tries + ${isCounted ? 1 : 0}, next_at = now() + make_interval(secs => ${seconds})
    where id = ${id} and status = 'queued'`);

/** Ends a queued request that cannot be begun, and keeps why. */
export const giveUpReprocess = (db: Queryable, id: string, note: string) =>
  db.run(sql('macroRuns.giveUpReprocess')`
    update macro_reprocesses set status = 'completed', completed_at = now(), note = ${note} where id = ${id} and status = 'queued'`);

/** Starts a queued request; false when another worker has started it. */
export const startReprocess = async (tx: Transaction, id: string, totalRows: number) =>
  (await tx.run(sql('macroRuns.startReprocess')`
    update macro_reprocesses set status = 'running', total_rows = ${totalRows}, started_at = now() where id = ${id} and status = 'queued'`)) >
  0;

/** Counts measurements that a request has run over. `note` says what became of them, where it cannot be read in their rows. */
export const countDone = (tx: Transaction, id: string, done: { rows: number; failed: number; note?: string | null }) =>
  tx.run(sql('macroRuns.countDone')`
    update macro_reprocesses set done_rows = done_rows + ${done.rows}, failed_rows = failed_rows + ${done.failed},
      note = coalesce(${done.note ?? null}, note) where id = ${id}`);

/** Lists new measurements whose results cannot be stored as a failed run that nobody asked for. Those of an hour are one run. */
export const noteUnstored = (tx: Transaction, row: { experimentId: string; macroId: string; measurements: number; note: string }) =>
  tx.run(sql('macroRuns.noteUnstored')`
    with joined as (
      update macro_reprocesses set total_rows = total_rows + ${row.measurements}, done_rows = done_rows + ${row.measurements},
        failed_rows = failed_rows + ${row.measurements}, completed_at = now()
      where id = (select id from macro_reprocesses where experiment_id = ${row.experimentId} and macro_id = ${row.macroId} and created_by is null
        and note = ${row.note} and created_at > now() - interval '1 hour' order by created_at desc limit 1)
      returning id
    )
    insert into macro_reprocesses (id, experiment_id, macro_id, code_version, status, total_rows, done_rows, failed_rows, started_at, completed_at, note)
    select ${randomUUIDv7()}, ${row.experimentId}, ${row.macroId}, coalesce((select code_version from macros where id = ${row.macroId}), 1), 'completed',
      ${row.measurements}, ${row.measurements}, ${row.measurements}, now(), now(), ${row.note}
    where not exists (select from joined)`);

/** Completes a request that has no work left. Must come after `countDone`, which makes the last pieces wait for each other. */
export const completeReprocess = (tx: Transaction, id: string) =>
  tx.run(sql('macroRuns.completeReprocess')`
    update macro_reprocesses set status = 'completed', completed_at = now()
    where id = ${id} and status = 'running' and not exists (select from macro_work where reprocess_id = ${id})`);
