import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Erasure } from '../experiments/experiments.model.ts';

export const findErasure = (db: Queryable, id: string, requestedBy: string) =>
  db.one<Erasure>(sql('erasure.findErasure')`
    select id, experiment_id as "experimentId", status, report, created_at as "createdAt", completed_at as "completedAt"
    from erasures where id = ${id} and requested_by = ${requestedBy}`);

export const startErasure = (db: Queryable, id: string) =>
  db.one<{ experimentId: string }>(sql('erasure.startErasure')`
    update erasures set status = 'running' where id = ${id} and status <> 'completed' returning experiment_id as "experimentId"`);

export const reportErasure = (db: Queryable, id: string, store: string, removed: { rows: number; bytes: number }) =>
  db.run(sql('erasure.reportErasure')`
    update erasures set report = jsonb_set(report, array[${store}::text], jsonb_build_object(
      'rows', ${removed.rows}::bigint + coalesce((report -> ${store} ->> 'rows')::bigint, 0),
      'bytes', ${removed.bytes}::bigint + coalesce((report -> ${store} ->> 'bytes')::bigint, 0)))
    where id = ${id}`);

export const completeErasure = (db: Queryable, id: string) =>
  db.run(sql('erasure.completeErasure')`update erasures set status = 'completed', completed_at = now() where id = ${id}`);

export const listUnfinished = (db: Queryable, limit: number) =>
  db.values<string>(sql('erasure.listUnfinished')`
    select id from erasures where status <> 'completed' order by created_at limit ${limit}`);
