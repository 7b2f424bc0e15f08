import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { PasskeyInfo } from './passkeys.model.ts';

export type NewPasskeyRow = Pick<PasskeyInfo, 'id' | 'userId' | 'name' | 'counter' | 'deviceType' | 'backedUp' | 'aaguid'> & {
  credentialId: string;
  publicKey: Buffer;
  transports: string[];
};

const columns = fragment`
  id, name, replace(encode(public_key, 'base64'), E'\\n', '') as "publicKey", user_id as "userId", credential_id as "credentialID", counter,
  device_type as "deviceType", backed_up as "backedUp", array_to_string(transports, ',') as transports, aaguid, created_at as "createdAt",
  last_used_at as "lastUsedAt"`;

/** Inserts a passkey. Answers undefined when anybody has registered the credential already. */
export const insertPasskey = (db: Queryable, passkey: NewPasskeyRow) =>
  db.one<PasskeyInfo>(sql('auth.insertPasskey')`
    insert into passkeys (id, user_id, name, credential_id, public_key, counter, device_type, backed_up, transports, aaguid)
    values (${passkey.id}, ${passkey.userId}, ${passkey.name}, ${passkey.credentialId}, ${passkey.publicKey}, ${passkey.counter}, ${passkey.deviceType},
      ${passkey.backedUp}, ${passkey.transports}, ${passkey.aaguid})
    on conflict (credential_id) do nothing returning ${columns}`);

export const listPasskeys = (db: Queryable, userId: string) =>
  db.rows<PasskeyInfo>(sql('auth.listPasskeys')`
    select ${columns} from passkeys where user_id = ${userId} order by created_at, id limit 1000`);

export type StoredCredential = Pick<NewPasskeyRow, 'id' | 'userId' | 'credentialId' | 'publicKey' | 'counter' | 'transports'>;

/** A credential of an account that is not deleted, locked so that its counter only goes up. */
export const lockCredential = (db: Queryable, credentialId: string) =>
  db.one<StoredCredential>(sql('auth.lockCredential')`
    select p.id, p.user_id as "userId", p.credential_id as "credentialId", p.public_key as "publicKey", p.counter, p.transports
    from passkeys p join users u on u.id = p.user_id and u.deleted_at is null
    where p.credential_id = ${credentialId} for update of p`);

export const touchPasskey = (db: Queryable, id: string, counter: number, backedUp: boolean) =>
  db.run(sql('auth.touchPasskey')`
    update passkeys set counter = ${counter}, backed_up = ${backedUp}, last_used_at = now() where id = ${id}`);

/** Renames a passkey of a person. Answers undefined when there is none. */
export const renamePasskey = (db: Queryable, userId: string, id: string, name: string) =>
  db.one<PasskeyInfo>(sql('auth.renamePasskey')`
    update passkeys set name = ${name} where id = ${id} and user_id = ${userId} returning ${columns}`);

export const deletePasskeyRow = (db: Queryable, userId: string, id: string) =>
  db.run(sql('auth.deletePasskey')`delete from passkeys where id = ${id} and user_id = ${userId}`);
