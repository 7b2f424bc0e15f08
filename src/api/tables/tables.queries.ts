import type { Queryable, Transaction } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ColumnOutcome } from '../../ingest/uploads/column-changes.ts';
import { printCleanJson } from '../../json.ts';
import type { DayOrder, TypeWord } from '../../ingest/typing/readings.ts';
import type { ColumnChange } from './tables.model.ts';

export interface ColumnChangeRow extends Pick<
  ColumnChange,
  'id' | 'experimentId' | 'uploadTableId' | 'column' | 'status' | 'totalRows' | 'doneRows' | 'createdAt'
> {
  name: string | null;
  type: TypeWord | null;
  reading: { decimal?: '.' | ','; dateOrder?: DayOrder };
  tries: number;
  report: (ColumnOutcome & { missingValues: number }) | null;
  errorMessage: string | null;
  startedAt: Date | null;
  completedAt: Date | null;
}

const columns = fragment`id, experiment_id as "experimentId", table_id as "uploadTableId", column_name as "column", new_name as name, new_type as type, reading, status,
  total_rows as "totalRows", done_rows as "doneRows", tries, report, error_message as "errorMessage", created_at as "createdAt", started_at as "startedAt",
  completed_at as "completedAt"`;

export type NewColumnChange = Pick<ColumnChangeRow, 'id' | 'experimentId' | 'uploadTableId' | 'column' | 'name' | 'type' | 'reading'> & {
  createdBy: string;
};

/** Inserts a change of a column. Answers undefined when a column of the table is being changed already. */
export const insertColumnChange = (tx: Transaction, row: NewColumnChange) =>
  tx.one<ColumnChangeRow>(sql('tables.insertColumnChange')`
    insert into column_changes (id, experiment_id, table_id, column_name, new_name, new_type, reading, created_by)
    values (${row.id}, ${row.experimentId}, ${row.uploadTableId}, ${row.column}, ${row.name}, ${row.type}, ${JSON.stringify(row.reading)}::jsonb, ${row.createdBy})
    on conflict do nothing returning ${columns}`);

export const findColumnChange = (db: Queryable, experimentId: string, tableId: string, id: string) =>
  db.one<ColumnChangeRow>(sql('tables.findColumnChange')`
    select ${columns} from column_changes where id = ${id} and table_id = ${tableId} and experiment_id = ${experimentId}`);

/** Marks a change as running and counts the try; undefined when it has ended, or its table is gone. */
export const startColumnChange = (db: Queryable, id: string) =>
  db.one<ColumnChangeRow>(sql('tables.startColumnChange')`
    update column_changes set status = 'running', started_at = coalesce(started_at, now()), tries = tries + 1
    where id = ${id} and status in ('queued', 'running') returning ${columns}`);

/** Takes back a try of a change. */
export const excuseColumnChange = (db: Queryable, id: string) =>
  db.run(sql('tables.excuseColumnChange')`
    update column_changes set tries = greatest(tries - 1, 0) where id = ${id} and status = 'running'`);

export const moveColumnChange = (db: Queryable, id: string, rows: { done: number; total: number }) =>
  db.run(sql('tables.moveColumnChange')`
    update column_changes set done_rows = ${rows.done}, total_rows = ${rows.total} where id = ${id} and status = 'running'`);

/** Completes a change. Answers 0 when another process has ended it. */
export const completeColumnChange = (tx: Transaction, id: string, report: object) =>
  tx.run(sql('tables.completeColumnChange')`
    update column_changes set status = 'completed', report = ${printCleanJson(report)}::jsonb, completed_at = now() where id = ${id} and status = 'running'`);

export const failColumnChange = (db: Queryable, id: string, message: string) =>
  db.run(sql('tables.failColumnChange')`
    update column_changes set status = 'failed', error_message = ${message}, completed_at = now() where id = ${id} and status = 'running'`);
