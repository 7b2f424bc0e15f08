import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { SentKind } from './events.model.ts';

export interface Subscriber {
  endpointId: string;
  organizationId: string;
  isFailing: boolean;
}

/** Endpoints of the organization that owns an experiment which want to hear of a kind, and whose backlog is not beyond `most`. */
export const listSubscribers = (tx: Queryable, experimentId: string, kind: SentKind, most: number) =>
  tx.rows<Subscriber>(sql('events.listSubscribers')`
    select w.id as "endpointId", w.organization_id as "organizationId", w.failures > 0 as "isFailing"
    from resources r join webhook_endpoints w on w.organization_id = r.organization_id
    where r.id = ${experimentId} and w.is_enabled and ${kind} = any (w.kinds)
      and (select count(*) from (select from webhook_messages m where m.endpoint_id = w.id and m.status = 'pending' limit ${most}) backlog) < ${most}
    order by w.id`);

export const insertMessage = (tx: Queryable, message: { id: string; endpointId: string; kind: SentKind; payload: string }) =>
  tx.run(sql('events.insertMessage')`
    insert into webhook_messages (id, endpoint_id, kind, payload) values (${message.id}, ${message.endpointId}, ${message.kind}, ${message.payload})`);
