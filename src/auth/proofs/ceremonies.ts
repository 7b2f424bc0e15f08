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
 * Begins something that one browser must end within five minutes, once. What it is bound to is sealed into the returned cookie; the database holds an
 * id that is useless without it.
 */
export async function beginCeremony(db: Queryable, secret: Buffer, kind: CeremonyKind, data: object): Promise<string> {
  const id = randomUUID();
  await insertCeremony(db, { id, kind, seconds: CEREMONY_SECONDS });
  const content: Sealed = { id, kind, data };
  return seal(secret, 'ceremony', content);
}

/** Ends it: what the cookie was bound to, or null when it is not ours, of another kind, over or ended already. */
export async function endCeremony<T>(db: Queryable, secret: Buffer, kind: CeremonyKind, cookie: string | undefined): Promise<T | null> {
  const content = cookie === undefined ? undefined : (open(secret, 'ceremony', cookie) as Sealed | undefined);
  if (content?.kind !== kind) return null;
  return (await takeCeremony(db, content.id, kind)) > 0 ? (content.data as T) : null;
}
