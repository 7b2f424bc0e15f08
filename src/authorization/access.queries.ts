import type { Queryable } from '../database/database.ts';
import { gatherQuestions } from '../database/gathering.ts';
import { sql, type Labelled } from '../database/sql.ts';
import type { AccessSource, Action, ResourceType } from './roles.ts';

interface Question {
  userId: string;
  type: ResourceType;
  resourceId: string;
  action: Action;
}

interface Answer {
  organizationId: string;
  source: AccessSource | null;
}

const named = ({ userId, type, resourceId, action }: Question) => `${userId} ${type} ${resourceId} ${action}`;

const findDecisions = async (db: Queryable, asked: readonly Question[], statement: Labelled): Promise<ReadonlyMap<string, Answer>> => {
  const rows = await db.rows<Answer & { turn: number }>(statement`
    select asked.turn::integer, d.organization_id as "organizationId", d.source
    from unnest((select ${asked.map(({ userId }) => userId)}::uuid[]), (select ${asked.map(({ type }) => type)}::text[]),
      (select ${asked.map(({ resourceId }) => resourceId)}::uuid[]), (select ${asked.map(({ action }) => action)}::text[]))
      with ordinality asked (user_id, type, resource_id, action, turn)
    cross join lateral decide(asked.user_id, asked.type, asked.resource_id, asked.action) d`);
  const names = asked.map(named);
  return new Map(rows.map(({ turn, ...answer }) => [names[turn - 1] ?? '', answer]));
};

/** Runs the decision procedure for one caller, resource and action. All ids must be well formed. Answers undefined when there is no such resource. */
export const findDecision = gatherQuestions<Question, Answer>({
  label: 'authorization.decision',
  name: named,
  shares: true,
  ask: findDecisions,
});

/** Runs the same procedure for many resources of one type, in the order given. A row has no organization where there is no such resource. */
export const listDecisions = (db: Queryable, userId: string, type: ResourceType, resourceIds: readonly string[], action: Action) =>
  db.rows<{ organizationId: string | null; source: AccessSource | null }>(sql('authorization.decisions')`
    select d.organization_id as "organizationId", d.source
    from unnest(${resourceIds}::uuid[]) with ordinality as asked (id, position)
    left join lateral decide(${userId}, ${type}, asked.id, ${action}) d on true
    order by asked.position`);

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
