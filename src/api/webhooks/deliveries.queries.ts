import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { WebhookAttempt, WebhookDelivery, WebhookDeliveryReport, WebhookDeliveryStatus } from './webhooks.model.ts';

const columns = fragment`
  m.id, m.kind, m.status, m.attempts, case when m.status = 'pending' then m.next_attempt_at end as "nextAttemptAt", last.at as "lastAttemptAt",
  last.status_code as "lastStatusCode", last.failure as "lastFailure", m.created_at as "createdAt", m.completed_at as "completedAt"`;

const withLast = fragment`
  webhook_messages m
  left join lateral (select a.at, a.status_code, a.failure from webhook_attempts a where a.message_id = m.id order by a.at desc, a.id desc limit 1) last on true`;

const matches = (endpointId: string, status: WebhookDeliveryStatus | undefined) =>
  status === undefined ? fragment`m.endpoint_id = ${endpointId}` : fragment`m.endpoint_id = ${endpointId} and m.status = ${status}`;

/** Newest first. */
export const listDeliveries = (db: Queryable, endpointId: string, status: WebhookDeliveryStatus | undefined, page: Slice) =>
  db.rows<WebhookDelivery>(sql('webhooks.listDeliveries')`
    select ${columns} from ${withLast} where ${matches(endpointId, status)}
    order by m.created_at desc, m.id desc limit ${page.limit} offset ${page.offset}`);

export const countDeliveries = (db: Queryable, endpointId: string, status: WebhookDeliveryStatus | undefined, most: number) =>
  db.count(sql('webhooks.countDeliveries')`
    select count(*) as count from (select from webhook_messages m where ${matches(endpointId, status)} limit ${most}) counted`);

export const findDelivery = (db: Queryable, endpointId: string, id: string) =>
  db.one<WebhookDeliveryReport>(sql('webhooks.findDelivery')`
    select ${columns}, m.payload,
      coalesce((select json_agg(json_build_object('at', to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'statusCode', a.status_code,
          'failure', a.failure, 'milliseconds', a.milliseconds) order by a.at, a.id)
        from (select * from webhook_attempts where message_id = m.id order by at desc, id desc limit 50) a), '[]') as log
    from ${withLast} where m.id = ${id} and m.endpoint_id = ${endpointId}`);

/** Makes an ended delivery wait again, with its full number of tries. Answers 0 when it has not ended. */
export const reopenDelivery = (db: Queryable, endpointId: string, id: string) =>
  db.run(sql('webhooks.reopenDelivery')`
    update webhook_messages set status = 'pending', attempts = 0, next_attempt_at = now(), completed_at = null
    where id = ${id} and endpoint_id = ${endpointId} and status <> 'pending'`);

export interface TakenEndpoint {
  id: string;
  /** Until when it is claimed, to the microsecond. This tells one claim from the next. */
  busyUntil: string;
  organizationId: string;
  url: string;
  /** Sealed. */
  secret: string;
  /** Sealed; null when there is no old secret that is still valid. */
  oldSecret: string | null;
  failures: number;
  /** Whether the last call that it accepted took long. */
  isSlow: boolean;
}

/** Claims an endpoint for so many seconds in order to call it. Answers nothing when another worker has it, or when it may not be called now. */
export const takeEndpoint = (db: Queryable, endpointId: string, seconds: number) =>
  db.one<TakenEndpoint>(sql('webhooks.takeEndpoint')`
    update webhook_endpoints set busy_until = now() + make_interval(secs => ${seconds})
    where id = ${endpointId} and is_enabled and coalesce(busy_until <= now(), true) and coalesce(held_until <= now(), true)
    returning id, busy_until::text as "busyUntil", organization_id as "organizationId", url, secret, case when old_secret_until > now() then old_secret end as "oldSecret", failures, is_slow as "isSlow"`);

/** Gives an endpoint back, unless the claim ran out and another worker has it now. */
export const releaseEndpoint = (db: Queryable, { id, busyUntil }: TakenEndpoint) =>
  db.run(sql('webhooks.releaseEndpoint')`
    update webhook_endpoints set busy_until = null where id = ${id} and busy_until = ${busyUntil}::timestamptz`);

export interface DueMessage {
  id: string;
  payload: string;
  /** How many attempts came before. */
  attempts: number;
}

export const findDue = (db: Queryable, endpointId: string) =>
  db.one<DueMessage>(sql('webhooks.findDue')`
    select m.id, m.payload, m.attempts from webhook_messages m join webhook_endpoints w on w.id = m.endpoint_id
    where m.endpoint_id = ${endpointId} and m.status = 'pending' and m.next_attempt_at <= now() and w.is_enabled
    order by m.next_attempt_at, m.id limit 1`);

export type AttemptOutcome = Omit<WebhookAttempt, 'at'>;

export const insertAttempt = (db: Queryable, attempt: AttemptOutcome & { id: string; messageId: string }) =>
  db.run(sql('webhooks.insertAttempt')`
    insert into webhook_attempts (id, message_id, status_code, failure, milliseconds)
    select ${attempt.id}, m.id, ${attempt.statusCode}, ${attempt.failure}, ${attempt.milliseconds} from webhook_messages m where m.id = ${attempt.messageId}`);

/** Records the outcome of an attempt. A message that was not delivered and has no `retryInSeconds` has failed for good. */
export const settleMessage = (db: Queryable, id: string, outcome: { isDelivered: boolean; retryInSeconds: number | null }) => {
  const status: WebhookDeliveryStatus = outcome.isDelivered ? 'delivered' : outcome.retryInSeconds === null ? 'failed' : 'pending';
  return db.run(sql('webhooks.settleMessage')`
    update webhook_messages set attempts = attempts + 1, status = ${status}, completed_at = case when ${status === 'pending'} then null else now() end,
      next_attempt_at = now() + make_interval(secs => ${outcome.retryInSeconds ?? 0})
    where id = ${id}`);
};

/** An endpoint after a call. */
interface Called {
  isEnabled: boolean;
  failures: number;
  failingSeconds: number;
}

/** Records a successful call. Answers undefined when the endpoint is gone. */
export const noteSuccess = (db: Queryable, endpointId: string, isSlow: boolean) =>
  db.one<Called>(sql('webhooks.noteSuccess')`
    update webhook_endpoints set failures = 0, failing_since = null, held_until = null, last_success_at = now(), is_slow = ${isSlow}
    where id = ${endpointId} returning is_enabled as "isEnabled", failures, 0 as "failingSeconds"`);

/** Counts a failure, leaves the endpoint alone for a while, and says how long it has been failing. Answers undefined when it is gone, or has another URL. */
export const noteFailure = (db: Queryable, { id, url }: Pick<TakenEndpoint, 'id' | 'url'>, holdSeconds: number) =>
  db.one<Called>(sql('webhooks.noteFailure')`
    update webhook_endpoints set failures = failures + 1, failing_since = coalesce(failing_since, now()),
      held_until = now() + make_interval(secs => ${holdSeconds})
    where id = ${id} and url = ${url} returning is_enabled as "isEnabled", failures, extract(epoch from now() - failing_since)::float8 as "failingSeconds"`);

export const disableEndpoint = (db: Queryable, endpointId: string, reason: string) =>
  db.run(sql('webhooks.disable')`
    update webhook_endpoints set is_enabled = false, disabled_reason = ${reason}, updated_at = now(), version = version + 1
    where id = ${endpointId} and is_enabled`);

/** Fails the messages that wait for an endpoint that is no longer called. */
export const failWaiting = (db: Queryable, endpointId: string) =>
  db.run(sql('webhooks.failWaiting')`
    update webhook_messages set status = 'failed', completed_at = now() where endpoint_id = ${endpointId} and status = 'pending'`);

/** Something is due for the endpoint, and nobody is calling it. */
const waiting = fragment`w.is_enabled and coalesce(w.busy_until <= now(), true) and coalesce(w.held_until <= now(), true)
  and exists (select from webhook_messages m where m.endpoint_id = w.id and m.status = 'pending' and m.next_attempt_at <= now())`;

export const anyEndpointWaiting = fragment`exists (select from webhook_endpoints w where ${waiting})`;

export const listWaitingEndpoints = (db: Queryable, most: number) =>
  db.rows<{ endpointId: string; isFailing: boolean }>(sql('webhooks.listWaitingEndpoints')`
    select w.id as "endpointId", w.failures > 0 as "isFailing" from webhook_endpoints w
    where ${waiting} limit ${most}`);

/** Removes ended deliveries that are older than `days`, or beyond the newest `most` of each endpoint; answers how many. */
export const forgetDeliveries = (db: Queryable, keep: { days: number; most: number; atOnce: number }) =>
  db.run(sql('webhooks.forgetDeliveries')`
    delete from webhook_messages where id in (
      select id from (
        select id, status, created_at, row_number() over (partition by endpoint_id order by created_at desc, id desc) as place from webhook_messages
      ) placed
      where status <> 'pending' and (created_at < now() - make_interval(days => ${keep.days}::integer) or place > ${keep.most})
      limit ${keep.atOnce})`);
