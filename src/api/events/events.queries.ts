import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { SentKind } from './events.model.ts';

export interface Subscriber {
  endpointId: string;
  organizationId: string;
  isFailing: boolean;
}

/** Lists endpoints of the experiment's organization that want to hear of a kind of event. Endpoints with a backlog of `most` messages are left out. */
export const listSubscribers = (tx: Queryable, experimentId: string, kind: SentKind, most: number) =>
  tx.rows<Subscriber>(sql('events.listSubscribers')`
    select w.id as "endpointId", w.organization_id as "organizationId", w.failures > 0 as "isFailing"
    from resources r join webhook_endpoints w on w.organization_id = r.organization_id
    where r.id = ${experimentId} and w.is_enabled and ${kind} = any (w.kinds)
      and (select count(*) from (select from webhook_messages m where m.endpoint_id = w.id and m.status = 'pending' limit ${most}) backlog) < ${most}
    order by w.id`);

/** One message for each endpoint, in the order given. */
export const insertMessages = (tx: Queryable, kind: SentKind, messages: readonly { id: string; endpointId: string; payload: string }[]) =>
  tx.run(sql('events.insertMessages')`
    insert into webhook_messages (id, endpoint_id, kind, payload)
    select id, endpoint_id, ${kind}, payload
    from unnest(${messages.map(({ id }) => id)}::uuid[], ${messages.map(({ endpointId }) => endpointId)}::uuid[],
      ${messages.map(({ payload }) => payload)}::text[]) as m (id, endpoint_id, payload)`);
