import { randomUUIDv7 } from 'node:crypto';
import { hashApiKey, isWellFormedApiKey, makeApiKey } from '../../auth/api-keys.ts';
import { audit } from '../../auth/audit.ts';
import type { Database } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import { insertApiKey, revokeApiKey, revokeApiKeyById } from './credentials.queries.ts';

/** Makes a key for a user. The key itself is returned here and nowhere else. */
export const createApiKey = (
  db: Database,
  key: { userId: string; name: string; rateLimit?: number; expiresAt?: Date },
): Promise<{ id: string; key: string }> =>
  db.transaction(async (tx) => {
    const made = makeApiKey();
    const id = randomUUIDv7();
    await insertApiKey(tx, {
      id,
      userId: key.userId,
      name: key.name,
      hash: made.hash,
      lastFour: made.lastFour,
      rateLimit: key.rateLimit ?? 100,
      expiresAt: key.expiresAt ?? null,
    });
    await audit(tx, null, { action: 'api-key.created', subjectId: key.userId, details: { keyId: id } });
    return { id, key: made.key };
  });

/** Revokes a key, named by its id or by itself; it is refused from the next call on. */
export const revokeKey = (db: Database, keyOrId: string): Promise<{ id: string }> =>
  db.transaction(async (tx) => {
    const revoked = isWellFormedApiKey(keyOrId) ? await revokeApiKey(tx, hashApiKey(keyOrId)) : await revokeApiKeyById(tx, keyOrId);
    if (!revoked) throw errors.apiKeyUnknown();
    await audit(tx, null, { action: 'api-key.revoked', subjectId: revoked.userId, details: { keyId: revoked.id } });
    return { id: revoked.id };
  });
