import type { Queryable, Slice } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { AuditEntry } from './audit.model.ts';

/** Lists what a person did and what was done to them, newest first, limited to the named actions. */
export const listOwnAudit = (db: Queryable, userId: string, actions: readonly string[], page: Slice) =>
  db.rows<AuditEntry>(sql('audit.listOwn')`
    select id, at, action, coalesce(actor_id = ${userId}, false) as "byYou", organization_id as "organizationId", request_id as "requestId", details
    from (
      select * from audit_events where actor_id = ${userId}
      union
      select * from audit_events where subject_id = ${userId}
    ) events
    where action = any (${actions}::text[]) order by at desc, id desc limit ${page.limit} offset ${page.offset}`);

export const countOwnAudit = (db: Queryable, userId: string, actions: readonly string[]) =>
  db.count(sql('audit.countOwn')`
    select count(*)::integer as count
    from (
      select 1 from audit_events
      where (actor_id = ${userId} or subject_id = ${userId}) and action = any (${actions}::text[]) limit 10001
    ) counted`);
