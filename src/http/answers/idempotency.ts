import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Response } from 'express';
import type { Caller } from '../../auth/caller.ts';
import type { Database } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import { getRawBody } from '../requests/body.ts';
import { findOperation } from '../requests/parameters.ts';
import { getContext, getExchange } from '../exchange.ts';
import { claimKey, findKeptAnswer, keepAnswer, releaseKey, type Claim } from './idempotency.queries.ts';

/** The answer of the first call, thrown to the edge instead of running the operation again. */
export class StoredAnswer extends Error {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    super('already answered');
    this.status = status;
    this.body = body;
  }

  send(response: Response): void {
    response.status(this.status).setHeader('Idempotency-Replayed', 'true').type('application/json').send(this.body);
  }
}

const KEY = /^[\x20-\x7e]{1,255}$/;

const RELEASE_WITHIN_MS = 60_000;
const RELEASE_EVERY_MS = 500;

/** Gives a key back. While the database is away it tries again, for less long than a claim holds: until the claim ends, a repeated call would be refused. */
async function release(db: Database, claim: Claim): Promise<void> {
  const until = performance.now() + RELEASE_WITHIN_MS;
  while (performance.now() < until) {
    const isGivenBack = await releaseKey(db, claim).then(
      () => true,
      () => false,
    );
    if (isGivenBack) return;
    await sleep(RELEASE_EVERY_MS, undefined, { ref: false });
  }
}

const describeCall = ({ method, path }: Request, { userId: callerId }: Caller, key: string) => ({ callerId, method, path, key });

/** Whether an earlier call with the same key was answered or still runs. What that call made is then no reason to refuse this one before its body is read. */
export async function isKeyUsed(request: Request, caller: Caller): Promise<boolean> {
  const key = request.get('idempotency-key');
  return key !== undefined && (await findKeptAnswer(getContext(request).db, describeCall(request, caller, key))) !== undefined;
}

/**
 * Claims the Idempotency-Key of a POST. `caller.created` keeps the first answer of a creation for 24 h, in the transaction of the change. The same key with
 * another body is 422, a second call while the first runs 409. A call that fails, or that creates nothing, gives the key back once its answer is decided:
 * nobody may ever read that.
 */
export async function claimIdempotencyKey(request: Request, response: Response, caller: Caller, fingerprint?: Buffer): Promise<void> {
  const key = request.get('idempotency-key');
  if (key === undefined || request.method !== 'POST') return;
  if (!KEY.test(key)) throw errors.idempotencyKeyInvalid();
  if (fingerprint === undefined && request.is('multipart/form-data')) return;
  const { db } = getContext(request);
  const call = describeCall(request, caller, key);
  const print = fingerprint ?? createHash('sha256').update(getRawBody(request)).digest();
  const claim: Claim = { ...call, claim: randomUUID() };
  const claimed = await claimKey(db, claim, print).catch((error: unknown) => {
    // the statement may have claimed the key although its answer is lost
    void release(db, claim);
    throw error;
  });
  if (claimed === 0) {
    const kept = await findKeptAnswer(db, call);
    if (!kept) throw errors.idempotencyInProgress().with({ retryAfter: 1 });
    if (!kept.fingerprint.equals(print)) throw errors.idempotencyKeyReused();
    if (kept.status === null) throw errors.idempotencyInProgress().with({ retryAfter: 1 });
    if (kept.secretMade !== null) throw errors.alreadyDone(kept.secretMade);
    throw new StoredAnswer(kept.status, kept.body ?? 'null');
  }
  let kept = false;
  caller.created = async (tx, answer, secret) => {
    const status = findOperation(request)?.successStatus ?? 200;
    const claims = await keepAnswer(tx, claim, { status, body: secret ? null : JSON.stringify(answer), secretMade: secret?.made ?? null });
    // this call ran for longer than a claim holds: another call has taken the key over and carries it out
    if (claims === 0) throw errors.idempotencyInProgress().with({ retryAfter: 1 });
    kept = true;
    return answer;
  };
  let isSettled = false;
  const settle = () => {
    if (isSettled) return;
    isSettled = true;
    if (!kept || response.statusCode >= 400) void release(db, claim);
  };
  getExchange(response).onHead = settle;
  // a call that is never answered
  response.once('close', settle);
}
