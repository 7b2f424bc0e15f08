import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

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

export const revokeApiKey = (db: Queryable, hash: Buffer) =>
  db.one<{ id: string; userId: string }>(sql('credentials.revokeApiKey')`
    update api_keys set revoked_at = now(), updated_at = now() where hash = ${hash} and revoked_at is null returning id, user_id as "userId"`);

export const revokeApiKeyById = (db: Queryable, id: string) =>
  db.one<{ id: string; userId: string }>(sql('credentials.revokeApiKeyById')`
    update api_keys set revoked_at = now(), updated_at = now() where id = ${id} and revoked_at is null returning id, user_id as "userId"`);
