import type { Queryable, Slice, Transaction } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ProjectImportResult, TransferRequest, TransferStatus } from './imports.model.ts';

const columns = fragment`
  t.id as "requestId", t.user_id as "userId", t.user_email as "userEmail", t.source_platform as "sourcePlatform", t.project_id_old as "projectIdOld",
  t.project_url_old as "projectUrlOld", t.status, t.requested_at as "requestedAt"`;

/** Newest first. */
export const listTransferRequests = (db: Queryable, userId: string, page: Slice) =>
  db.rows<TransferRequest>(sql('imports.requests')`
    select ${columns} from project_transfer_requests t where t.user_id = ${userId}
    order by t.requested_at desc, t.id desc limit ${page.limit} offset ${page.offset}`);

export const countTransferRequests = (db: Queryable, userId: string) =>
  db.count(sql('imports.countRequests')`select count(*) as count from project_transfer_requests where user_id = ${userId}`);

/** Lists the wishes of everybody that are still open, oldest first. */
export const listOpenRequests = (db: Queryable) =>
  db.rows<TransferRequest>(sql('imports.openRequests')`
    select ${columns} from project_transfer_requests t where t.status in ('pending', 'approved') order by t.requested_at, t.id limit 10000`);

/** Finds the earlier request that prevents another one for the same project. */
export const findStanding = (db: Queryable, userId: string, projectIdOld: string) =>
  db.one<{ status: TransferStatus }>(sql('imports.standing')`
    select status from project_transfer_requests
    where user_id = ${userId} and project_id_old = ${projectIdOld} and status not in ('rejected', 'failed')`);

/** Waits for other requests of this person, so that they count each other. */
export const lockRequestsOf = (tx: Transaction, userId: string) =>
  tx.run(sql('imports.lockRequestsOf')`select pg_advisory_xact_lock(hashtextextended('transfer requests ' || ${userId}::text, 0))`);

/** How many requests of a person are still open. */
export const countOpenRequests = (db: Queryable, userId: string) =>
  db.count(sql('imports.countOpenRequests')`
    select count(*) as count from project_transfer_requests where user_id = ${userId} and status in ('pending', 'approved')`);

export type NewRequestRow = { id: string } & Omit<TransferRequest, 'requestId' | 'status' | 'requestedAt'>;

export const insertTransferRequest = (db: Queryable, row: NewRequestRow) =>
  db.one<TransferRequest>(sql('imports.insertRequest')`
    insert into project_transfer_requests as t (id, user_id, user_email, source_platform, project_id_old, project_url_old)
    values (${row.id}, ${row.userId}, ${row.userEmail}, ${row.sourcePlatform}, ${row.projectIdOld}, ${row.projectUrlOld})
    on conflict (user_id, project_id_old) where status not in ('rejected', 'failed') do nothing
    returning ${columns}`);

/** Completes the one open request of this person that the id or the project names; null names none. */
export const completeRequest = (
  db: Queryable,
  request: { userId: string; requestId: string | null; projectIdOld: string | null; experimentId: string },
) =>
  db.one<{ requestId: string }>(sql('imports.completeRequest')`
    update project_transfer_requests set status = 'completed', experiment_id = ${request.experimentId}, decided_at = now()
    where id = (
      select id from project_transfer_requests
      where user_id = ${request.userId} and status in ('pending', 'approved')
        and (id = ${request.requestId}::uuid or (${request.requestId}::uuid is null and project_id_old = ${request.projectIdOld}))
      for update)
    returning id as "requestId"`);

export interface PersonRow {
  userId: string;
  firstName: string;
  email: string | null;
  isActive: boolean;
}

export const listPeople = (db: Queryable, userIds: readonly string[]) =>
  db.rows<PersonRow>(sql('imports.people')`
    select user_id as "userId", first_name as "firstName", email, is_active as "isActive" from people where user_id = any (${userIds}::uuid[])`);

/** Claims a delivery id. Answers 0 when the delivery was carried out already. Waits while another process is carrying it out. */
export const claimDelivery = (db: Queryable, id: string) =>
  db.run(sql('imports.claimDelivery')`insert into webhook_deliveries (id) values (${id}) on conflict do nothing`);

export const keepDeliveryAnswer = (db: Queryable, id: string, answer: ProjectImportResult) =>
  db.run(sql('imports.keepAnswer')`update webhook_deliveries set answer = ${JSON.stringify(answer)}::jsonb where id = ${id}`);

export const findDeliveryAnswer = (db: Queryable, id: string) =>
  db.one<{ answer: ProjectImportResult | null }>(sql('imports.deliveryAnswer')`select answer from webhook_deliveries where id = ${id}`);

/** Forgets ids that are older than any signature that could bring them back. */
export const forgetDeliveries = (db: Queryable) =>
  db.run(sql('imports.forgetDeliveries')`delete from webhook_deliveries where received_at < now() - interval '30 days'`);

/** Finds the oldest protocol or macro that this person may read and that has the same name and code. */
export const findSame = (db: Queryable, userId: string, wanted: { type: 'protocol' | 'macro'; name: string; code: string; kind: string }) =>
  db.one<{ id: string }>(sql('imports.findSame')`
    select r.id from readable_resources(${userId}, array[${wanted.type}::text], false) r
    left join protocols p on p.id = r.id
    left join macros m on m.id = r.id
    where lower(r.name) = lower(${wanted.name}) and r.name = ${wanted.name} and coalesce(p.code_digest, m.code_digest) = code_digest(${wanted.code}::text, ${wanted.kind}::text)
    order by r.created_at, r.id limit 1`);
