import type { Queryable } from '../database/database.ts';
import { sql } from '../database/sql.ts';

/** What a call was admitted by. */
type Credential = { kind: 'key'; keyId: string } | { kind: 'session'; sessionId: string };

/** Whether the API key or the session by which a call was admitted is still good. */
export const isStillGood = async (db: Queryable, { via }: { via: Credential }): Promise<boolean> =>
  (await db.one(
    via.kind === 'key'
      ? sql('auth.isKeyGood')`select from api_keys k where k.id = ${via.keyId} and key_stands(k)`
      : sql('auth.isSessionGood')`select from sessions where id = ${via.sessionId} and expires_at > now()`,
  )) !== undefined;
