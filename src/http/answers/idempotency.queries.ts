import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

interface Call {
  callerId: string;
  method: string;
  path: string;
  key: string;
}

/** A call that holds its key. `claim` tells it apart from a repeated call, which has the same key. */
export interface Claim extends Call {
  claim: string;
}

export interface KeptAnswer {
  fingerprint: Buffer;
  status: number | null;
  body: string | null;
  secretMade: string | null;
}

/** Claims a key for a first call; 0 when somebody has it. A claim older than two minutes belongs to a crashed call and is taken over. */
export const claimKey = (db: Queryable, call: Claim, fingerprint: Buffer) =>
  db.run(sql('http.claimKey')`
    insert into idempotency_keys as k (caller_id, method, path, key, claim, fingerprint)
    values (${call.callerId}, ${call.method}, ${call.path}, ${call.key}, ${call.claim}, ${fingerprint})
    on conflict (caller_id, method, path, key) do update
      set claim = excluded.claim, fingerprint = excluded.fingerprint, created_at = now(), locked_until = now() + interval '2 minutes', status = null, body = null, secret_made = null
      where (k.status is null and k.locked_until < now() and k.fingerprint = excluded.fingerprint) or k.created_at < now() - interval '24 hours'`);

export const findKeptAnswer = (db: Queryable, call: Call) =>
  db.one<KeptAnswer>(sql('http.findKeptAnswer')`
    select fingerprint, status, body, secret_made as "secretMade" from idempotency_keys
    where caller_id = ${call.callerId} and method = ${call.method} and path = ${call.path} and key = ${call.key}`);

/** Keeps the answer of a call that still holds its key; 0 when it does not. */
export const keepAnswer = (db: Queryable, call: Claim, answer: KeptAnswer) =>
  db.run(sql('http.keepAnswer')`
    update idempotency_keys set fingerprint = ${answer.fingerprint}, status = ${answer.status}, body = ${answer.body}, secret_made = ${answer.secretMade}
    where caller_id = ${call.callerId} and method = ${call.method} and path = ${call.path} and key = ${call.key} and claim = ${call.claim}`);

/** Keeps the claim of a call that still runs. */
export const prolongClaim = (db: Queryable, call: Claim) =>
  db.run(sql('http.prolongClaim')`
    update idempotency_keys set locked_until = now() + interval '2 minutes'
    where caller_id = ${call.callerId} and method = ${call.method} and path = ${call.path} and key = ${call.key} and claim = ${call.claim} and status is null`);

export const releaseKey = (db: Queryable, call: Claim) =>
  db.run(sql('http.releaseKey')`
    delete from idempotency_keys
    where caller_id = ${call.callerId} and method = ${call.method} and path = ${call.path} and key = ${call.key} and claim = ${call.claim} and status is null`);
