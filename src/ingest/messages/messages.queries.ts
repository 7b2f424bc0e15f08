import type { Database, Queryable, Transaction } from '../../database/database.ts';
import { fragment, nothing, sql } from '../../database/sql.ts';
import { readJson } from '../../json.ts';

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

/**
 * Inserts messages, and answers the ids of those that were not there yet. `bodies` holds their bytes in the same order; null where the object store has them.
 */
export function insertMessages(db: Queryable, messages: readonly NewMessage[], bodies: readonly (Uint8Array | null)[]) {
  // one value of all bytes is sent as it is; each element of an array would be written in digits, twice as long
  const bytes = Buffer.concat(bodies.flatMap((body) => body ?? []));
  let before = 0;
  const rows = messages.map((message, at) => {
    const from = before;
    before += bodies[at]?.byteLength ?? 0;
    return { ...message, from: from + 1 };
  });
  return db.values<string>(sql('messages.insert')`
    with added as (
      insert into inbox (id, experiment_id, source, client_id, user_id, protocol_id, byte_count, object_key, body)
      select m.id, m."experimentId", decode(m.source, 'hex'), m."clientId", m."userId", m."protocolId", m."byteCount", m."objectKey",
        case when m."objectKey" is null then substring(${bytes}::bytea from m."from" for m."byteCount") end
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as m (id uuid, "experimentId" uuid, source text, "clientId" text, "userId" uuid,
        "protocolId" text, "byteCount" integer, "objectKey" text, "from" integer)
      on conflict (experiment_id, source) do nothing returning id, experiment_id, ordinal, byte_count
    ), waiting as (
      insert into pending_messages (experiment_id, ordinal, message_id, byte_count) select experiment_id, ordinal, id, byte_count from added
    )
    select id from added`);
}

export interface InboxMessage extends Omit<NewMessage, 'experimentId' | 'source'> {
  /** Place in the order of arrival. */
  ordinal: number;
  arrivedAt: Date;
  body: Buffer | null;
  tries: number;
}

/** Messages as one list for each fact, all in one order. Words between commas take half as long as an array's JSON, and numbers are quicker as their bytes. */
interface Together {
  bodies: Buffer | string | null;
  ids: string | null;
  /** 16 hex digits each. */
  ordinals: string | null;
  /** 8 hex digits each. */
  byteCounts: string | null;
  /** Microseconds since 2000, 16 hex digits each. */
  arrivedAt: string | null;
  /** JSON of `Said`. */
  said: string;
  /** JSON of the places of the first and the last message that were tried together. */
  tries: string;
}

/** Who sent messages, their topics, and where their bytes are: one list each. A list without any value is null. */
type Said = Record<'clientIds' | 'userIds' | 'protocolIds' | 'objectKeys', (string | null)[] | null>;

interface Asked {
  messages: number;
  bytes: number;
  after?: number;
}

/**
 * Reads the oldest pending messages as one row, in any order. With a row for each, the driver would make an object of each, and each body would be written in
 * digits. The index is read from a place on: when asked for the messages of one experiment, the planner may expect few of them, and sort all that wait to find
 * the first.
 */
const pendingTogether = (db: Queryable, experimentId: string, { messages, bytes, after = 0 }: Asked, inDigits: boolean) => {
  const bodies = inDigits ? fragment`encode(string_agg(m.body, ''), 'hex')` : fragment`string_agg(m.body, '')`;
  const query = sql('messages.listPending')`
    with oldest as materialized (
      select message_id, ordinal, byte_count from (
        select * from pending_messages where (experiment_id, ordinal) > (${experimentId}, ${after}) order by experiment_id, ordinal limit ${messages}
      ) as next where experiment_id = ${experimentId}
    )
    select ${bodies} as bodies,
      string_agg(m.id::text, ',') as ids, encode(string_agg(int8send(m.ordinal), ''), 'hex') as ordinals,
      encode(string_agg(int4send(m.byte_count), ''), 'hex') as "byteCounts", encode(string_agg(timestamptz_send(m.arrived_at), ''), 'hex') as "arrivedAt",
      json_build_object('clientIds', case when count(m.client_id) > 0 then array_agg(m.client_id) end, 'userIds', case when count(m.user_id) > 0 then array_agg(m.user_id) end,
        'protocolIds', case when count(m.protocol_id) > 0 then array_agg(m.protocol_id) end, 'objectKeys', case when count(m.object_key) > 0 then array_agg(m.object_key) end)::text as said,
      (select coalesce(json_agg(json_build_array(first_ordinal, last_ordinal)), '[]') from message_tries where experiment_id = ${experimentId})::text as tries
    from inbox m where m.id = any (case when (select sum(byte_count) from oldest) <= ${bytes} then array(select message_id from oldest) else array(
      select message_id from (select message_id, sum(byte_count) over (order by ordinal) - byte_count as before from oldest) as sized where before < ${bytes}) end)`;
  return db.one<Together>({ ...query, binary: true });
};

const REPLACED = Buffer.from('\ufffd');
const YEAR_2000 = Date.UTC(2000);

const numbers = (digits: string | null | undefined) => Buffer.from(digits ?? '', 'hex');
/** The n-th of numbers of 8 bytes, all below 2^53. */
const longAt = (bytes: Buffer, at: number): number => bytes.readInt32BE(at * 8) * 2 ** 32 + bytes.readUInt32BE(at * 8 + 4);

/** The place of the newest pending message of an experiment; 0 when there is none. */
export const findNewest = async (db: Queryable, experimentId: string): Promise<number> =>
  (await db.value<number>(sql('messages.findNewest')`
    select ordinal from pending_messages where experiment_id = ${experimentId} order by experiment_id desc, ordinal desc limit 1`)) ?? 0;

/**
 * Lists the oldest pending messages of an experiment, or the oldest behind the place `after` in the order of arrival: up to about `bytes`, and at least one.
 */
export async function listPending(db: Queryable, experimentId: string, most: Asked): Promise<InboxMessage[]> {
  let found = await pendingTogether(db, experimentId, most, false);
  // bytes that are no UTF-8 come replaced, so the bodies are asked for again in digits
  if (found?.bodies instanceof Buffer && found.bodies.includes(REPLACED)) found = await pendingTogether(db, experimentId, most, true);
  const bodies = typeof found?.bodies === 'string' ? Buffer.from(found.bodies, 'hex') : (found?.bodies ?? Buffer.alloc(0));
  const said = readJson(found?.said ?? '{}') as Partial<Said>;
  const tries = readJson(found?.tries ?? '[]') as [first: number, last: number][];
  const [ordinals, byteCounts, arrivals] = [numbers(found?.ordinals), numbers(found?.byteCounts), numbers(found?.arrivedAt)];
  let [end, microseconds, arrivedAt] = [0, NaN, new Date(NaN)];
  const messages = (found?.ids?.split(',') ?? []).map((id, at): InboxMessage => {
    const ordinal = longAt(ordinals, at);
    const byteCount = byteCounts.readInt32BE(at * 4);
    const objectKey = said.objectKeys?.[at] ?? null;
    const start = end;
    if (objectKey === null) end += byteCount;
    const arrived = longAt(arrivals, at);
    // messages that were kept together came at one time, and a Date has no microseconds
    if (arrived !== microseconds) [microseconds, arrivedAt] = [arrived, new Date(YEAR_2000 + Math.floor(arrived / 1_000))];
    return {
      id,
      ordinal,
      clientId: said.clientIds?.[at] ?? null,
      userId: said.userIds?.[at] ?? null,
      protocolId: said.protocolIds?.[at] ?? null,
      arrivedAt,
      body: objectKey === null ? bodies.subarray(start, end) : null,
      objectKey,
      byteCount,
      tries: tries.reduce((count, [first, last]) => count + (ordinal >= first && ordinal <= last ? 1 : 0), 0),
    };
  });
  if (end !== bodies.length) throw new Error(`the bodies of ${messages.length} messages have ${bodies.length} bytes instead of ${end}`);
  return messages.sort((a, b) => a.ordinal - b.ordinal);
}

const messageColumns = fragment`id, ordinal, client_id as "clientId", user_id as "userId", protocol_id as "protocolId", arrived_at as "arrivedAt", body,
  object_key as "objectKey", byte_count as "byteCount", tries`;

/** Lists the handled messages of an experiment that arrived within a time and after the place `after`, oldest first. */
export const listHandled = (
  db: Queryable,
  experimentId: string,
  { from, to, after, limit }: { from: string; to: string; after: number; limit: number },
) =>
  db.rows<InboxMessage>(sql('messages.listHandled')`
    select ${messageColumns} from messages where experiment_id = ${experimentId} and status <> 'pending' and arrived_at >= ${from}::timestamptz and arrived_at < ${to}::timestamptz
      and ordinal > ${after} order by ordinal limit ${limit}`);

/** Experiments that have messages. */
export const listExperiments = (db: Queryable) =>
  db.values<string>(sql('messages.listExperiments')`select distinct experiment_id from inbox`);

/**
 * Makes those messages of an experiment pending again that were set aside, wholly or in part. With `arrived` these are only the ones that arrived in that time.
 * Answers how many.
 */
export const reopenMessages = (db: Queryable, experimentId: string, arrived?: { from: string; to: string }) =>
  db.run(sql('messages.reopen')`
    insert into pending_messages (experiment_id, ordinal, message_id, byte_count, again) select experiment_id, ordinal, id, byte_count, true from inbox
    where experiment_id = ${experimentId} and status <> 'stored' ${
      arrived ? fragment`and arrived_at >= ${arrived.from}::timestamptz and arrived_at < ${arrived.to}::timestamptz` : nothing
    }
    on conflict do nothing`);

/** By the index, which passes over ended messages that are not cleaned up yet: after 200,000 of them EXISTS took 8 to 20 ms. */
export const anyMessageWaiting = fragment`(select true from pending_messages order by experiment_id, ordinal limit 1) is not null`;

/** Experiments with pending messages and the place of the oldest one of each, those that wait longest first. */
export const listWaiting = (db: Queryable, limit: number) =>
  db.rows<{ experimentId: string; oldest: number }>(sql('messages.listWaiting')`
    select experiment_id as "experimentId", min(ordinal) as oldest from pending_messages group by experiment_id order by oldest limit ${limit}`);

export interface MessageReport {
  id: string;
  status: 'stored' | 'partial' | 'quarantined';
  stored: number;
  quarantined: number;
  alreadyThere: number;
  /** Why measurements were not stored, with how many. */
  reasons: Readonly<Record<string, number>>;
}

/** Prints the condition for messages at these places: one range where each place is next to the one before, as mostly, and a list otherwise. */
function placedAt(ordinals: readonly number[]) {
  const [first, last] = [ordinals.at(0) ?? 0, ordinals.at(-1) ?? -1];
  return ordinals.every((ordinal, at) => ordinal === first + at)
    ? fragment`ordinal between ${first} and ${last}`
    : fragment`ordinal = any (string_to_array(${ordinals.join(',')}, ',')::bigint[])`;
}

/** Ends the waiting of messages. Answers how many were still pending, and the places of those among them that had been handled before. */
export const endPending = (tx: Queryable, experimentId: string, ordinals: readonly number[]) =>
  tx.one<{ ended: number; again: number[] }>(sql('messages.endPending')`
    with ended as (
      delete from pending_messages where experiment_id = ${experimentId} and ${placedAt(ordinals)} returning ordinal, again
    )
    select count(*)::integer as ended, coalesce(jsonb_agg(ordinal) filter (where again), '[]') as again from ended`);

/** Forgets the tries whose messages are no longer pending. */
export const forgetTries = (tx: Queryable, experimentId: string) =>
  tx.run(sql('messages.forgetTries')`delete from message_tries t where t.experiment_id = ${experimentId} and not exists (
    select from pending_messages p where p.experiment_id = t.experiment_id and p.ordinal between t.first_ordinal and t.last_ordinal)`);

/** Notes what became of messages that did not become exactly one stored row. */
export const noteReports = (tx: Queryable, reports: readonly (MessageReport & { again: boolean })[]) =>
  tx.run(sql('messages.noteReports')`
    update inbox m set status = r.status, stored = case when r.again then m.stored else 0 end + r.stored, quarantined = r.quarantined,
      already_there = greatest(r."alreadyThere" - case when r.again then m.stored else 0 end, 0), reasons = r.reasons, handled_at = now()
    from jsonb_to_recordset(${JSON.stringify(reports)}::jsonb)
      as r(id uuid, status text, stored bigint, quarantined bigint, "alreadyThere" bigint, reasons jsonb, again boolean)
    where m.id = r.id`);

/** Of these places in the order of arrival, those that nobody has handled yet. */
export const listStillPending = (db: Queryable, experimentId: string, ordinals: readonly number[]) =>
  db.values<number>(sql('messages.stillPending')`
    select ordinal from pending_messages where experiment_id = ${experimentId} and ordinal = any (string_to_array(${ordinals.join(',')}, ',')::bigint[])`);

/** Answers the place of the next change in the order of annotation changes. */
export const findNextAnnotationChange = async (db: Queryable) =>
  (await db.value<number>(sql('messages.nextAnnotationChange')`select nextval('annotation_changes')`)) ?? 0;

/**
 * Notes a try of messages before it is made, so that a message that ends the process is found. The messages are those from place `first` to place `last` in the
 * order of arrival. Answers the id of the try.
 */
export const noteTry = (db: Queryable, experimentId: string, { first, last }: { first: number; last: number }) =>
  db.value<number>(sql('messages.noteTry')`
    insert into message_tries (experiment_id, first_ordinal, last_ordinal) values (${experimentId}, ${first}, ${last}) returning id`);

/** Notes that a try ends at an earlier place in the order of arrival. */
export const shortenTry = (db: Queryable, id: number, last: number) =>
  db.run(sql('messages.shortenTry')`update message_tries set last_ordinal = ${last} where id = ${id}`);

export const takeBackTry = (db: Queryable, id: number) => db.run(sql('messages.takeBackTry')`delete from message_tries where id = ${id}`);

export const insertContributors = (db: Queryable, experimentId: string, userIds: readonly string[]) =>
  db.values<string>(sql('messages.insertContributors')`
    insert into contributors (experiment_id, user_id) select ${experimentId}, u.id from users u where u.id = any (${userIds}::uuid[])
    on conflict do nothing returning user_id`);

/** Lists messages that were set aside before a time, with the keys of their bytes. */
export const listExpired = (db: Queryable, before: Date, limit: number) =>
  db.rows<{ id: string; objectKey: string | null }>(sql('messages.listExpired')`select id, object_key as "objectKey" from inbox m
    where status <> 'stored' and not exists (select from pending_messages p where p.experiment_id = m.experiment_id and p.ordinal = m.ordinal) and handled_at < ${before.toISOString()}::timestamptz limit ${limit}`);

export const deleteMessages = (db: Queryable, messages: readonly { id: string }[]) => {
  const ids = messages.map(({ id }) => id);
  return db.run(sql('messages.delete')`
    with gone as (
      delete from pending_messages p using inbox m where m.id = any (${ids}::uuid[]) and p.experiment_id = m.experiment_id and p.ordinal = m.ordinal
    )
    delete from inbox where id = any (${ids}::uuid[])`);
};

/** What an experiment left in the inbox. */
export const listEveryMessage = (db: Queryable, experimentId: string, limit: number) =>
  db.rows<{ id: string; objectKey: string | null; byteCount: number }>(sql('messages.listEvery')`
    select id, object_key as "objectKey", byte_count as "byteCount" from inbox where experiment_id = ${experimentId} limit ${limit}`);

export const deleteContributors = (db: Queryable, experimentId: string) =>
  db.run(sql('messages.deleteContributors')`delete from contributors where experiment_id = ${experimentId}`);

export const listKnownObjects = (db: Queryable, keys: readonly string[]) =>
  db.values<string>(sql('messages.knownObjects')`
    select object_key from inbox where object_key = any (${keys}::text[])`);
