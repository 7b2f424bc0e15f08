import type { SignInMethod } from '../../auth/sessions.ts';
import type { Decision } from '../../authorization/access.ts';
import type { Action, ResourceType } from '../../authorization/roles.ts';
import type { Queryable } from '../../database/database.ts';
import { gatherQuestions } from '../../database/gathering.ts';
import { fragment, sql, type Labelled } from '../../database/sql.ts';

export interface Question {
  type: ResourceType;
  resourceId: string;
  action: Action;
}

/** A caller with a key, and what was decided about the question; it is denied where there is none. */
export interface Admission extends Decision {
  keyId: string;
  userId: string;
  rateLimit: number;
  /** Whether to write the key's time of last use, once an hour. In between, the window of the key knows it. */
  touch: boolean;
  /** Accepted requests in the last 60 seconds, this one included; null when the limit refuses it. */
  used: number | null;
}

interface KeyQuestion {
  hash: Buffer;
  question: Question | null;
}

/** Seconds since the last request of a window. One that is more than a minute ahead is over: the clock was set back. */
const passed = fragment`case when excluded.second < w.second - 60 then 61 else excluded.second - w.second end`;

/** Finds the keys, counts a request in the window of each and decides the questions. Each key is named once. */
const admitKeys = async (db: Queryable, asked: readonly KeyQuestion[], statement: Labelled): Promise<ReadonlyMap<string, Admission>> => {
  const of = <T>(value: (question: Question) => T) => asked.map(({ question }) => (question ? value(question) : null));
  // windows are locked in the order of their keys, so that two of these statements never wait for each other
  const rows = await db.rows<Admission & { turn: number }>(statement`
    with k as (
      select asked.*, api_keys.id, api_keys.user_id, api_keys.rate_limit,
        coalesce(api_keys.last_request_at < now() - interval '1 hour', true) as touch, floor(extract(epoch from clock_timestamp()))::bigint as second
      from unnest((select ${asked.map(({ hash }) => hash)}::bytea[]), (select ${of((question) => question.type)}::text[]),
        (select ${of((question) => question.resourceId)}::uuid[]), (select ${of((question) => question.action)}::text[]))
        with ordinality asked (hash, type, resource_id, action, turn)
      join api_keys on api_keys.hash = asked.hash
      join users on users.id = api_keys.user_id and users.deleted_at is null
      where key_stands(api_keys)
    ), counted as (
      insert into api_key_windows as w (key_id, second, accepted)
      select id, second, 1::bigint || array_fill(0::bigint, array[61]) from k order by id
      on conflict (key_id) do update set
        second = case when ${passed} > 60 then excluded.second else greatest(w.second, excluded.second) end,
        accepted = window_counted(w.accepted, ${passed})
      where window_used(w.accepted, ${passed}) < (select rate_limit from k where k.id = w.key_id)
      returning key_id, window_used(accepted, 0)::integer as used
    )
    select k.turn::integer, k.id as "keyId", k.user_id as "userId", k.rate_limit as "rateLimit", k.touch,
      (select used from counted where key_id = k.id) as used, d.organization_id as "organizationId", d.source
    from k left join lateral decide(k.user_id, k.type, k.resource_id, k.action) d on true`);
  const keys = asked.map(named);
  return new Map(rows.map(({ turn, ...admission }) => [keys[turn - 1] ?? '', admission]));
};

const named = ({ hash }: KeyQuestion) => hash.toString('latin1');

/**
 * Admits a request by its key, in one statement: finds the key, counts the request in its window and decides the question. Requests of the same moment share
 * the statement. Undefined: the key is unknown, expired, disabled or revoked. A refused request is not counted.
 */
export const admitKey = gatherQuestions<KeyQuestion, Admission>({ label: 'http.admitKey', name: named, shares: false, ask: admitKeys });

export const touchKey = (db: Queryable, keyId: string) =>
  db.run(sql('http.touchKey')`
    update api_keys set last_request_at = now() where id = ${keyId} and (last_request_at is null or last_request_at < now() - interval '1 hour')`);

/** Seconds until a key that has used up its window may call again. */
export const findKeyWait = (db: Queryable, keyId: string) =>
  db.value<number>(sql('http.keyWait')`
    select coalesce(min(61 - age), 1)::integer
    from (
      select n + floor(extract(epoch from clock_timestamp()))::bigint - w.second as age, w.accepted[n + 1] - w.accepted[n + 2] as count
      from api_key_windows w, generate_series(0, 60) n
      where w.key_id = ${keyId}
    ) counted
    where count > 0 and age between 0 and 60`);

export interface SessionAdmission extends Decision {
  handle: string;
  userId: string;
  method: SignInMethod;
  createdAt: Date;
  expiresAt: Date;
  /** Whether this request renewed the session, so that its cookie must be sent anew. */
  renewed: boolean;
}

/** Admits a request by its session, in one statement: finds the session, renews it once a day and decides the question. No row: unknown, ended or expired. */
export const admitSession = (db: Queryable, tokenHash: Buffer, question: Question | null) => {
  const decision = question
    ? fragment`left join lateral decide(s.user_id, ${question.type}, ${question.resourceId}, ${question.action}) d on true`
    : fragment`left join (select null::uuid as organization_id, null::text as source) d on true`;
  return db.one<SessionAdmission>(sql('http.admitSession')`
    with s as (
      select sessions.*
      from sessions
      join users on users.id = sessions.user_id and users.deleted_at is null
      where token_hash = ${tokenHash} and expires_at > now()
    ), renewed as (
      update sessions set expires_at = now() + interval '30 days', renewed_at = now(), updated_at = now()
      where id = (select id from s) and renewed_at < now() - interval '1 day'
      returning expires_at
    )
    select s.id as handle, s.user_id as "userId", s.method, s.created_at as "createdAt",
      coalesce((select expires_at from renewed), s.expires_at) as "expiresAt", exists (select from renewed) as renewed,
      d.organization_id as "organizationId", d.source
    from s ${decision}`);
};
