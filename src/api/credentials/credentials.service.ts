import { randomUUIDv7 } from 'node:crypto';
import { makeApiKey } from '../../auth/proofs/api-keys.ts';
import { hashToken } from '../../auth/seal.ts';
import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import { isName, NAME_RULE } from '../../contract/names.ts';
import type { Database, Transaction } from '../../database/database.ts';
import { isUuid } from '../../database/uuid.ts';
import { errors } from '../../errors.ts';
import { refuseBody } from '../input/input.service.ts';
import type { ApiKeyChange, ApiKeyInfo, CreatedApiKey, NewApiKeyRequest } from './credentials.model.ts';
import { countStandingApiKeys, findApiKey, insertApiKey, lockApiKey, revokeApiKey, updateApiKey } from './credentials.queries.ts';

interface KeyFacts {
  userId: string;
  name: string;
  rateLimit?: number;
  expiresAt?: Date | null;
}

async function addKey(tx: Transaction, by: Caller | null, key: KeyFacts): Promise<{ id: string; key: string }> {
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
  await audit(tx, by, { action: 'api-key.created', subjectId: key.userId, details: { keyId: id } });
  return { id, key: made.key };
}

/** Makes a key for a user. The key itself is returned here and nowhere else. */
export const createApiKey = (db: Database, key: KeyFacts): Promise<{ id: string; key: string }> =>
  db.transaction((tx) => addKey(tx, null, key));

/** Revokes a key, given by its id or its text. The key is refused from the next call on. */
export const revokeKey = (db: Database, keyOrId: string): Promise<{ id: string }> =>
  db.transaction(async (tx) => {
    const revoked = await revokeApiKey(tx, { id: isUuid(keyOrId) ? keyOrId : null, hash: hashToken(keyOrId) });
    if (!revoked) throw errors.apiKeyUnknown();
    await audit(tx, null, { action: 'api-key.revoked', subjectId: revoked.userId, details: { keyId: revoked.id } });
    return { id: revoked.id };
  });

const DAY_SECONDS = 86_400;
const MOST_DAYS = 365;
/** Each key has a limit of requests of its own. */
const MOST_KEYS = 1_000;

function checkedName(name = ''): string {
  const trimmed = name.trim();
  if (trimmed === '') throw errors.nameRequired();
  if (trimmed.length > 32) throw errors.invalidNameLength();
  if (!isName(name)) throw refuseBody([{ path: '/name', message: `must be ${NAME_RULE}` }]);
  return trimmed;
}

/** Turns seconds from now into an instant; null means never. A key that expires may live for at most 365 days from its creation. */
function expiryOf(expiresIn: number | null, createdAt: Date): Date | null {
  if (expiresIn === null) return null;
  if (expiresIn < DAY_SECONDS) throw errors.expiresInIsTooSmall();
  const at = new Date(Date.now() + expiresIn * 1000);
  if (expiresIn > MOST_DAYS * DAY_SECONDS || at.getTime() > createdAt.getTime() + MOST_DAYS * DAY_SECONDS * 1000 + 60_000)
    throw errors.expiresInIsTooLarge();
  return at;
}

async function mustFind(tx: Transaction, userId: string, id: string): Promise<ApiKeyInfo> {
  const found = isUuid(id) ? await findApiKey(tx, userId, id) : undefined;
  if (!found) throw errors.keyNotFound();
  return found;
}

/** Makes a key for the caller. Errors: nameRequired, invalidNameLength, expiresInIsTooSmall, expiresInIsTooLarge, tooManyApiKeys. */
export const makeKey = (ctx: Context, caller: Caller, asked: NewApiKeyRequest): Promise<CreatedApiKey> => {
  const name = checkedName(asked.name);
  const expiresAt = expiryOf(asked.expiresIn ?? null, new Date());
  return ctx.db.transaction(async (tx) => {
    if ((await countStandingApiKeys(tx, caller.userId)) >= MOST_KEYS) throw errors.tooManyApiKeys(MOST_KEYS);
    const { id, key } = await addKey(tx, caller, { userId: caller.userId, name, expiresAt });
    const answer = { ...(await mustFind(tx, caller.userId, id)), key };
    return caller.created(tx, answer, { made: `API key ${id}` });
  });
};

/** Loads one key of the caller's. Errors: keyNotFound, also for somebody else's. */
export const loadKey = (ctx: Context, caller: Caller, id: string): Promise<ApiKeyInfo> =>
  ctx.db.transaction((tx) => mustFind(tx, caller.userId, id));

/** Renames a key, turns it off or on, or sets when it ends. Errors: keyNotFound, noValuesToUpdate, apiKeyRevoked, and those of a creation. */
export const changeKey = (ctx: Context, caller: Caller, change: ApiKeyChange): Promise<ApiKeyInfo> =>
  ctx.db.transaction(async (tx) => {
    const found = isUuid(change.keyId) ? await lockApiKey(tx, caller.userId, change.keyId) : undefined;
    if (!found) throw errors.keyNotFound();
    if (change.name === undefined && change.enabled === undefined && change.expiresIn === undefined) throw errors.noValuesToUpdate();
    if (found.revokedAt) throw errors.apiKeyRevoked();
    await updateApiKey(tx, change.keyId, {
      name: change.name === undefined ? null : checkedName(change.name),
      enabled: change.enabled ?? null,
      expiresAt: expiryOf(change.expiresIn ?? null, found.createdAt),
      keepExpiry: change.expiresIn === undefined,
    });
    await audit(tx, caller, { action: 'api-key.updated', subjectId: caller.userId, details: { keyId: change.keyId } });
    return mustFind(tx, caller.userId, change.keyId);
  });

/** Revokes a key of the caller's. The key is refused from the next call on, and stays in the list as revoked. Errors: keyNotFound. */
export const revokeOwnKey = (ctx: Context, caller: Caller, id: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const found = isUuid(id) ? await lockApiKey(tx, caller.userId, id) : undefined;
    if (!found) throw errors.keyNotFound();
    if (!(await revokeApiKey(tx, { id, hash: null }))) return;
    await audit(tx, caller, { action: 'api-key.revoked', subjectId: caller.userId, details: { keyId: id } });
  });
