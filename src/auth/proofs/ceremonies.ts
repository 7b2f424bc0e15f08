import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../database/database.ts';
import { insertCeremony, takeCeremony, type CeremonyKind } from './ceremonies.queries.ts';
import { open, seal } from '../seal.ts';

export const CEREMONY_SECONDS = 300;

interface Sealed {
  id: string;
  kind: CeremonyKind;
  data: object;
}

/**
 * Begins a ceremony that the same browser must end within five minutes, and only once. `data` is sealed into the returned cookie value. The database holds only
 * an id, which is useless without the cookie.
 */
export async function beginCeremony(db: Queryable, secret: Buffer, kind: CeremonyKind, data: object): Promise<string> {
  const id = randomUUID();
  await insertCeremony(db, { id, kind, seconds: CEREMONY_SECONDS });
  const content: Sealed = { id, kind, data };
  return seal(secret, 'ceremony', content);
}

/**
 * Ends a ceremony and returns the data in its cookie. Returns null when the cookie is not ours or of another kind, or the ceremony is over or ended already.
 */
export async function endCeremony<T>(db: Queryable, secret: Buffer, kind: CeremonyKind, cookie: string | undefined): Promise<T | null> {
  const content = cookie === undefined ? undefined : (open(secret, 'ceremony', cookie) as Sealed | undefined);
  if (content?.kind !== kind) return null;
  return (await takeCeremony(db, content.id, kind)) > 0 ? (content.data as T) : null;
}
