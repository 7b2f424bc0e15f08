import type { Queryable } from '../../database/database.ts';
import { fragment, keyword, sql } from '../../database/sql.ts';
import type { ApiKeyInfo } from './credentials.model.ts';

export interface NewKeyRow {
  id: string;
  userId: string;
  name: string;
  hash: Buffer;
  lastFour: string;
  rateLimit: number;
  expiresAt: Date | null;
}

export const insertApiKey = (db: Queryable, key: NewKeyRow) =>
  db.run(sql('credentials.insertApiKey')`
    insert into api_keys (id, user_id, name, hash, last_four, rate_limit, expires_at)
    values (${key.id}, ${key.userId}, ${key.name}, ${key.hash}, ${key.lastFour}, ${key.rateLimit}, ${key.expiresAt})`);

/** Revokes the key that has this id or this hash. */
export const revokeApiKey = (db: Queryable, { id, hash }: { id: string | null; hash: Buffer | null }) =>
  db.one<{ id: string; userId: string }>(sql('credentials.revokeApiKey')`
    update api_keys set revoked_at = now(), updated_at = now()
    where (id = ${id} or hash = ${hash}) and revoked_at is null returning id, user_id as "userId"`);

export type KeySort = 'createdAt' | 'updatedAt' | 'name' | 'expiresAt' | 'lastRequest';
const SORTED: Record<KeySort, string> = {
  createdAt: 'k.created_at',
  updatedAt: 'k.updated_at',
  name: 'k.name',
  expiresAt: 'k.expires_at',
  lastRequest: '"lastRequest"',
};

/** Exact to the second while the key's window remembers the request, else to the hour. */
const lastRequest = fragment`greatest(k.last_request_at, (select to_timestamp(w.second) from api_key_windows w where w.key_id = k.id))`;

const columns = fragment`
  k.id, 'default' as "configId", k.name, k.prefix as start, k.prefix, k.last_four as "lastFour", k.user_id as "referenceId",
  k.enabled and k.revoked_at is null as enabled, true as "rateLimitEnabled", 60000 as "rateLimitTimeWindow", k.rate_limit as "rateLimitMax",
  coalesce((
    select window_used(w.accepted, floor(extract(epoch from clock_timestamp()))::bigint - w.second)
    from api_key_windows w where w.key_id = k.id
  ), 0)::integer as "requestCount",
  null as remaining, null as "refillInterval", null as "refillAmount", null as "lastRefillAt", ${lastRequest} as "lastRequest",
  k.expires_at as "expiresAt", k.revoked_at as "revokedAt", k.created_at as "createdAt", k.updated_at as "updatedAt", null as permissions, null as metadata`;

export const findApiKey = (db: Queryable, userId: string, id: string) =>
  db.one<ApiKeyInfo>(sql('credentials.findApiKey')`select ${columns} from api_keys k where k.id = ${id} and k.user_id = ${userId}`);

export const lockApiKey = (db: Queryable, userId: string, id: string) =>
  db.one<{ createdAt: Date; revokedAt: Date | null }>(sql('credentials.lockApiKey')`
    select created_at as "createdAt", revoked_at as "revokedAt" from api_keys where id = ${id} and user_id = ${userId} for update`);

interface KeyPage {
  limit: number;
  offset: number;
  sort: KeySort;
  descending: boolean;
}

export const listApiKeys = (db: Queryable, userId: string, { limit, offset, sort, descending }: KeyPage) =>
  db.rows<ApiKeyInfo>(sql('credentials.listApiKeys')`
    select ${columns} from api_keys k where k.user_id = ${userId}
    order by ${keyword(`${SORTED[sort]} ${descending ? 'desc' : 'asc'} nulls last`)}, k.id desc limit ${limit} offset ${offset}`);

export const countApiKeys = (db: Queryable, userId: string) =>
  db.count(sql('credentials.countApiKeys')`select count(*)::integer as count from api_keys where user_id = ${userId}`);

/** Counts a person's keys that are not revoked, those among them that are off or over too. */
export const countStandingApiKeys = (db: Queryable, userId: string) =>
  db.count(sql('credentials.countStandingApiKeys')`
    select count(*)::integer as count from api_keys where user_id = ${userId} and revoked_at is null`);

export const updateApiKey = (
  db: Queryable,
  id: string,
  change: { name: string | null; enabled: boolean | null; expiresAt: Date | null; keepExpiry: boolean },
) =>
  db.run(sql('credentials.updateApiKey')`
    update api_keys set name = coalesce(${change.name}, name), enabled = coalesce(${change.enabled}, enabled),
      expires_at = case when ${change.keepExpiry} then expires_at else ${change.expiresAt} end, updated_at = now()
    where id = ${id}`);
