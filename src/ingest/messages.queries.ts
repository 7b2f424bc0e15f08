import type { Database, Queryable, Transaction } from '../database/database.ts';
import { sql } from '../database/sql.ts';

export type { Database, Queryable, Transaction };

export interface NewMessage {
  id: string;
  experimentId: string;
  /** 20 hex digits. */
  source: string;
  clientId: string | null;
  userId: string | null;
  protocolId: string | null;
  byteCount: number;
  objectKey: string | null;
}

/** Answers the ids of those that were not there yet. Bodies go beside the facts, as bytes; null where the object store has them. */
export const insertMessages = (db: Queryable, messages: readonly NewMessage[], bodies: readonly (Uint8Array | null)[]) =>
  db.rows<{ id: string }>(sql('messages.insert')`
    insert into messages (id, experiment_id, source, client_id, user_id, protocol_id, byte_count, object_key, body)
    select m.id, m."experimentId", decode(m.source, 'hex'), m."clientId", m."userId", m."protocolId", m."byteCount", m."objectKey", m.body
    from rows from (
      jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as (id uuid, "experimentId" uuid, source text, "clientId" text, "userId" uuid,
        "protocolId" text, "byteCount" integer, "objectKey" text),
      unnest(${bodies.map((body) => (body === null ? null : Buffer.from(body.buffer, body.byteOffset, body.byteLength)))}::bytea[])
    ) as m (id, "experimentId", source, "clientId", "userId", "protocolId", "byteCount", "objectKey", body)
    on conflict (experiment_id, source) do nothing returning id`);

export interface InboxMessage {
  id: string;
  clientId: string | null;
  userId: string | null;
  protocolId: string | null;
  arrivedAt: Date;
  body: Buffer | null;
  objectKey: string | null;
  byteCount: number;
  tries: number;
}

/** The oldest pending messages of an experiment, up to about so many bytes; at least one. */
export const listPending = (db: Queryable, experimentId: string, most: { messages: number; bytes: number }) =>
  db.rows<InboxMessage>(sql('messages.listPending')`
    with oldest as (
      select id, sum(byte_count) over (order by ordinal) - byte_count as before from messages
      where experiment_id = ${experimentId} and status = 'pending' order by ordinal limit ${most.messages}
    )
    select m.id, m.client_id as "clientId", m.user_id as "userId", m.protocol_id as "protocolId", m.arrived_at as "arrivedAt", m.body,
      m.object_key as "objectKey", m.byte_count as "byteCount", m.tries
    from oldest join messages m on m.id = oldest.id where oldest.before < ${most.bytes} order by m.ordinal`);

/** Messages of an experiment that have been handled and arrived in a time, from one of them on, oldest first. */
export const listHandled = (
  db: Queryable,
  experimentId: string,
  { from, to, after, limit }: { from: string; to: string; after: number; limit: number },
) =>
  db.rows<InboxMessage & { ordinal: number }>(sql('messages.listHandled')`
    select id, ordinal, client_id as "clientId", user_id as "userId", protocol_id as "protocolId", arrived_at as "arrivedAt", body, object_key as "objectKey",
      byte_count as "byteCount", tries
    from messages where experiment_id = ${experimentId} and status <> 'pending' and arrived_at >= ${from}::timestamptz and arrived_at < ${to}::timestamptz
      and ordinal > ${after} order by ordinal limit ${limit}`);

/** Experiments that have messages. */
export const listExperiments = (db: Queryable) =>
  db.rows<{ experimentId: string }>(sql('messages.listExperiments')`select distinct experiment_id as "experimentId" from messages`);

/** Makes messages that were set aside, wholly or in part, and arrived in a time pending again; answers how many. */
export const reopenBetween = (db: Queryable, experimentId: string, from: string, to: string) =>
  db.run(sql('messages.reopenBetween')`update messages set status = 'pending', tries = 0, handled_at = null
    where experiment_id = ${experimentId} and status in ('partial', 'quarantined') and arrived_at >= ${from}::timestamptz and arrived_at < ${to}::timestamptz`);

/** Experiments with pending messages, those that wait longest first. */
export const listWaiting = (db: Queryable, limit: number) =>
  db.rows<{ experimentId: string }>(sql('messages.listWaiting')`
    select experiment_id as "experimentId" from messages where status = 'pending' group by experiment_id order by min(arrived_at) limit ${limit}`);

export interface MessageReport {
  id: string;
  status: 'stored' | 'partial' | 'quarantined';
  stored: number;
  quarantined: number;
  alreadyThere: number;
  /** Why measurements were not stored, with how many. */
  reasons: Readonly<Record<string, number>>;
}

/** Ends pending messages; answers those that were pending still. */
export const finishMessages = (tx: Queryable, reports: readonly MessageReport[]) =>
  tx.rows<{ id: string }>(sql('messages.finish')`
    update messages m set status = r.status, stored = m.stored + r.stored, quarantined = r.quarantined, already_there = greatest(r."alreadyThere" - m.stored, 0),
      reasons = r.reasons, handled_at = now()
    from jsonb_to_recordset(${JSON.stringify(reports)}::jsonb)
      as r(id uuid, status text, stored bigint, quarantined bigint, "alreadyThere" bigint, reasons jsonb)
    where m.id = r.id and m.status = 'pending' returning m.id`);

/** Of these messages, those that nobody has handled yet. */
export const stillPending = (db: Queryable, ids: readonly string[]) =>
  db.rows<{ id: string }>(sql('messages.stillPending')`select id from messages where id = any (${ids}::uuid[]) and status = 'pending'`);

/** The place of what is written next in the order of annotation changes. */
export const nextAnnotationChange = async (db: Queryable) =>
  (await db.one<{ sequence: number }>(sql('messages.nextAnnotationChange')`select nextval('annotation_changes') as sequence`))?.sequence ??
  0;

/** Counts a try of each before it is made, so that a message that ends the process is found out. */
export const countTries = (db: Queryable, ids: readonly string[]) =>
  db.run(sql('messages.countTries')`update messages set tries = tries + 1 where id = any (${ids}::uuid[]) and status = 'pending'`);

/** Makes set-aside messages of an experiment pending again; answers how many. */
export const reopenMessages = (db: Queryable, experimentId: string) =>
  db.run(sql('messages.reopen')`update messages set status = 'pending', tries = 0, handled_at = null
    where experiment_id = ${experimentId} and status in ('partial', 'quarantined')`);

export const insertContributors = (db: Queryable, experimentId: string, userIds: readonly string[]) =>
  db.rows<{ userId: string }>(sql('messages.insertContributors')`
    insert into contributors (experiment_id, user_id) select ${experimentId}, u.id from users u where u.id = any (${userIds}::uuid[])
    on conflict do nothing returning user_id as "userId"`);

/** Messages that were set aside longer ago than their retention, with the keys of their bytes. */
export const listExpired = (db: Queryable, before: Date, limit: number) =>
  db.rows<{ id: string; objectKey: string | null }>(sql('messages.listExpired')`select id, object_key as "objectKey" from messages
    where status in ('partial', 'quarantined') and handled_at < ${before.toISOString()}::timestamptz limit ${limit}`);

export const deleteMessages = (db: Queryable, ids: readonly string[]) =>
  db.run(sql('messages.delete')`delete from messages where id = any (${ids}::uuid[])`);

/** What an experiment left in the inbox. */
export const listEveryMessage = (db: Queryable, experimentId: string, limit: number) =>
  db.rows<{ id: string; objectKey: string | null; byteCount: number }>(sql('messages.listEvery')`
    select id, object_key as "objectKey", byte_count as "byteCount" from messages where experiment_id = ${experimentId} limit ${limit}`);

export const deleteContributors = (db: Queryable, experimentId: string) =>
  db.run(sql('messages.deleteContributors')`delete from contributors where experiment_id = ${experimentId}`);

export const knownObjects = (db: Queryable, keys: readonly string[]) =>
  db.rows<{ objectKey: string }>(
    sql('messages.knownObjects')`select object_key as "objectKey" from messages where object_key = any (${keys}::text[])`,
  );
