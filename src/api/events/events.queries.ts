import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { SentKind } from './events.model.ts';

export interface Subscriber {
  endpointId: string;
  organizationId: string;
  isFailing: boolean;
  /** Whether `most` messages or more are waiting for it. */
  isFull: boolean;
}

/** Lists endpoints of the experiment's organization that want to hear of a kind of event. */
export const listSubscribers = (tx: Queryable, experimentId: string, kind: SentKind, most: number) =>
  tx.rows<Subscriber>(sql('events.listSubscribers')`
    select w.id as "endpointId", w.organization_id as "organizationId", w.failures > 0 as "isFailing",
      (select count(*) from (select from webhook_messages m where m.endpoint_id = w.id and m.status = 'pending' limit ${most}) backlog) >= ${most} as "isFull"
    from resources r join webhook_endpoints w on w.organization_id = r.organization_id
    where r.id = ${experimentId} and w.is_enabled and ${kind} = any (w.kinds)
    order by w.id`);

interface NewMessage {
  id: string;
  endpointId: string;
  payload: string;
  /** Whether it has failed already, as one too many. */
  isDropped: boolean;
}

/** One message for each endpoint, in the order given. */
export const insertMessages = (tx: Queryable, kind: SentKind, messages: readonly NewMessage[]) =>
  tx.run(sql('events.insertMessages')`
    with made as (
      insert into webhook_messages (id, endpoint_id, kind, payload, status, completed_at)
      select id, endpoint_id, ${kind}, payload, case when is_dropped then 'failed' else 'pending' end, case when is_dropped then now() end
      from unnest(${messages.map(({ id }) => id)}::uuid[], ${messages.map(({ endpointId }) => endpointId)}::uuid[],
        ${messages.map(({ payload }) => payload)}::text[], ${messages.map(({ isDropped }) => isDropped)}::boolean[]) as m (id, endpoint_id, payload, is_dropped)
      returning id, status
    )
    insert into webhook_attempts (id, message_id, failure, milliseconds) select id, id, 'queue-full', 0 from made where status = 'failed'`);
