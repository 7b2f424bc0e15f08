import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export type CeremonyKind = 'passkey-registration' | 'passkey-authentication' | 'provider';

export const insertCeremony = (db: Queryable, ceremony: { id: string; kind: CeremonyKind; seconds: number }) =>
  db.run(sql('auth.insertCeremony')`
    insert into ceremonies (id, kind, expires_at) values (${ceremony.id}, ${ceremony.kind}, now() + make_interval(secs => ${ceremony.seconds}))`);

/** Takes a ceremony that is still open; 0 when it is over. */
export const takeCeremony = (db: Queryable, id: string, kind: CeremonyKind) =>
  db.run(sql('auth.takeCeremony')`delete from ceremonies where id = ${id} and kind = ${kind} and expires_at > now()`);
