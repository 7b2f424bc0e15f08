import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Audience, ChangeKind } from './changes.model.ts';
import type { Position } from './position.ts';

/**
 * Finds the horizon: the oldest transaction that still runs. Every earlier transaction has ended, and nothing will be added to it. Answers no row when another
 * process names the epoch just now.
 */
export const findHorizon = (db: Queryable) =>
  db.one<Position>(sql('changes.horizon')`
    with named as (
      insert into change_epoch (one) select true where not exists (select from change_epoch) on conflict do nothing returning epoch
    )
    select pg_snapshot_xmin(pg_current_snapshot())::text as xid, 0 as n, floor(extract(epoch from now()))::bigint as at, e.epoch
    from (select epoch from change_epoch union all select epoch from named) e`);

/** A recorded change of an experiment; `data` is JSON text. */
export interface ChangeRow {
  /** Which of the lanes asked for the change belongs to, counted from 1. */
  lane: number;
  xid: string;
  n: number;
  kind: ChangeKind;
  audience: Audience;
  data: string;
  /** The device that changed, where the change is of a device. */
  deviceId: string | null;
}

/** Lists the changes of each lane's experiment after the lane's position and before the horizon, at most `most` for each lane. */
export const listChanges = (
  db: Queryable,
  lanes: readonly { experimentId: string; position: Pick<Position, 'xid' | 'n'> }[],
  horizon: string,
  most: number,
) =>
  db.rows<ChangeRow>(sql('changes.list')`
    select l.lane::integer, c.xid::text, c.n, c.kind, c.audience, c.data::text, c.data ->> 'deviceId' as "deviceId"
    from unnest(${lanes.map(({ experimentId }) => experimentId)}::uuid[], ${lanes.map(({ position }) => position.xid)}::xid8[],
      ${lanes.map(({ position }) => position.n)}::bigint[]) with ordinality l (experiment_id, xid, n, lane)
    cross join lateral (
      select * from changes c where c.experiment_id = l.experiment_id and (c.xid, c.n) > (l.xid, l.n) and c.xid < ${horizon}::xid8
      order by c.xid, c.n limit ${most}) c
    order by l.lane, c.xid, c.n`);

export interface StandingQuestion {
  credential: { kind: 'key' | 'session'; id: string };
  userId: string;
  experimentId: string;
}

/** What somebody may hear of an experiment now. */
export interface Standing {
  read: boolean;
  contribute: boolean;
  manage: boolean;
  /** May read for another reason than that the experiment is public. */
  related: boolean;
}

/** Decides what listeners may hear, in the order asked. Everything is false where the key or the session has ended. */
export const listStandings = (db: Queryable, asked: readonly StandingQuestion[]) =>
  db.rows<Standing>(sql('changes.standings')`
    with asked as (
      select * from unnest(${asked.map(({ credential }) => credential.kind)}::text[], ${asked.map(({ credential }) => credential.id)}::uuid[],
        ${asked.map(({ userId }) => userId)}::uuid[], ${asked.map(({ experimentId }) => experimentId)}::uuid[])
        with ordinality asked (kind, credential_id, user_id, experiment_id, turn)
    ), admitted as (
      select asked.* from asked join users u on u.id = asked.user_id and u.deleted_at is null
      where exists (select from api_keys k where asked.kind = 'key' and k.id = asked.credential_id and key_stands(k))
        or exists (select from sessions s where asked.kind = 'session' and s.id = asked.credential_id and s.expires_at > now())
    )
    select coalesce(s.read, false) as read, coalesce(s.contribute, false) as contribute, coalesce(s.manage, false) as manage, coalesce(s.related, false) as related
    from asked left join admitted d using (turn) left join lateral (
      select bool_or(a.can_read) as read, bool_or(a.can_contribute) as contribute, bool_or(a.can_manage) as manage, bool_or(a.can_read and a.rank < 5) as related
      from effective_access a where a.user_id = d.user_id and a.resource_id = d.experiment_id and a.resource_type = 'experiment') s on true
    order by asked.turn`);

/** Which of these devices each of these people may read. */
export const listReadableDevices = (db: Queryable, userIds: readonly string[], deviceIds: readonly string[]) =>
  db.rows<{ userId: string; deviceIds: string[] }>(sql('changes.readableDevices')`
    select a.user_id as "userId", array_agg(distinct a.resource_id::text) as "deviceIds" from effective_access a
    where a.user_id = any (${userIds}::uuid[]) and a.resource_id = any (${deviceIds}::uuid[]) and a.resource_type = 'device' and a.can_read
    group by a.user_id`);

/** Forgets changes that are older than so many hours. */
export const forgetChanges = (db: Queryable, hours: number) =>
  db.run(sql('changes.forget')`delete from changes where at < now() - make_interval(hours => ${hours})`);
