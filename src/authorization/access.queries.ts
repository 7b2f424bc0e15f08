import type { Queryable } from '../database/database.ts';
import { fragment, sql } from '../database/sql.ts';
import type { AccessSource, Action, ResourceType } from './roles.ts';

/** One row of the decision procedure; absent when the resource does not exist. */
export interface DecisionRow {
  organizationId: string;
  source: AccessSource | null;
  canRead: boolean;
  canContribute: boolean;
  canUpdate: boolean;
  canShare: boolean;
  canManage: boolean;
}

/** The decision for one caller, resource and action: the resource's organization and the first source that covers the action. */
export const decisionOf = (userId: string | ReturnType<typeof fragment>, type: ResourceType, resourceId: string, action: Action) => fragment`
  select r.organization_id,
    coalesce(bool_or(a.can_read), false) as can_read,
    coalesce(bool_or(a.can_contribute), false) as can_contribute,
    coalesce(bool_or(a.can_update), false) as can_update,
    coalesce(bool_or(a.can_share), false) as can_share,
    coalesce(bool_or(a.can_manage), false) as can_manage,
    (array_agg(a.source order by a.rank) filter (where case ${action}::text
      when 'read' then a.can_read when 'contribute' then a.can_contribute when 'update' then a.can_update
      when 'share' then a.can_share else a.can_manage end))[1] as source
  from resources r
  left join effective_access a on a.resource_id = r.id and a.user_id = ${userId}
  where r.id = ${resourceId} and r.type = ${type}
  group by r.id`;

export const findDecision = (db: Queryable, userId: string, type: ResourceType, resourceId: string, action: Action) =>
  db.one<DecisionRow>(sql('authorization.decision')`
    select d.organization_id as "organizationId", d.source, d.can_read as "canRead", d.can_contribute as "canContribute",
      d.can_update as "canUpdate", d.can_share as "canShare", d.can_manage as "canManage"
    from (${decisionOf(userId, type, resourceId, action)}) d`);

export interface Capabilities {
  canContribute: boolean;
  canUpdate: boolean;
  canManage: boolean;
  canShare: boolean;
  /** The caller holds a direct grant that can be given up. */
  canLeave: boolean;
  /** The caller may move the resource to another organization. */
  canTransfer: boolean;
}

export const findCapabilities = (db: Queryable, userId: string, resourceId: string) =>
  db.one<Capabilities>(sql('authorization.capabilities')`
    select
      coalesce(bool_or(a.can_contribute), false) as "canContribute",
      coalesce(bool_or(a.can_update), false) as "canUpdate",
      coalesce(bool_or(a.can_manage), false) as "canManage",
      coalesce(bool_or(a.can_share), false) as "canShare",
      coalesce(bool_or(a.source = 'user-grant'), false) as "canLeave",
      coalesce(bool_or(a.can_manage), false)
        and r.type in ('experiment', 'protocol', 'macro', 'workbook')
        and (coalesce(bool_or(a.can_manage and a.source = 'organization-role'), false)
          or not exists (select from organization_members m join users u on u.id = m.user_id
                         where m.organization_id = r.organization_id and m.is_admin and u.deleted_at is null)) as "canTransfer"
    from resources r
    left join effective_access a on a.resource_id = r.id and a.user_id = ${userId}
    where r.id = ${resourceId}
    group by r.id`);
