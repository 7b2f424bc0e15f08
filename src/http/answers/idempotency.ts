import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Response } from 'express';
import type { Caller, HeldKey } from '../../auth/caller.ts';
import type { Database } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { getRawBody } from '../requests/body.ts';
import { findOperation } from '../requests/parameters.ts';
import { getContext, getExchange } from '../exchange.ts';
import { claimKey, findKeptAnswer, keepAnswer, prolongClaim, releaseKey, type Claim, type KeptAnswer } from './idempotency.queries.ts';

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

const nameCall = ({ callerId, method, path, key }: Claim): string => JSON.stringify([callerId, method, path, key]);

/** The keys that are being given back, by their calls. */
const returning = new Map<string, Promise<void>>();

function giveBack(db: Database, claim: Claim): void {
  const call = nameCall(claim);
  const returned = release(db, claim).finally(() => {
    if (returning.get(call) === returned) returning.delete(call);
  });
  returning.set(call, returned);
}

/** Waits for the key of a call that has just failed. Whoever was told so may repeat it before the key is back. */
async function awaitReturn(claim: Claim): Promise<void> {
  const returned = returning.get(nameCall(claim));
  if (returned) await Promise.race([returned, sleep(RELEASE_EVERY_MS, undefined, { ref: false })]);
}

const describeCall = ({ method, path }: Request, { userId: callerId }: Caller, key: string) => ({ callerId, method, path, key });

/** Takes a key for a first call. Answers what an earlier call keeps instead; errors where that still runs. */
async function takeKey(db: Database, claim: Claim, print: Buffer): Promise<KeptAnswer | undefined> {
  await awaitReturn(claim);
  const claimed = await claimKey(db, claim, print).catch((error: unknown) => {
    // the statement may have claimed the key although its answer is lost
    giveBack(db, claim);
    throw error;
  });
  if (claimed > 0) return undefined;
  return (await findKeptAnswer(db, claim)) ?? refuse(errors.idempotencyInProgress().with({ retryAfter: 1 }));
}

/** Answers a repeated call by what the first one was answered. */
function answerRepeat(kept: KeptAnswer, print: Buffer): never {
  if (!kept.fingerprint.equals(print)) throw errors.idempotencyKeyReused();
  if (kept.status === null) throw errors.idempotencyInProgress().with({ retryAfter: 1 });
  if (kept.secretMade !== null) throw errors.alreadyDone(kept.secretMade);
  throw new StoredAnswer(kept.status, kept.body ?? 'null');
}

interface Holder {
  request: Request;
  response: Response;
  caller: Caller;
}

/** Has the answer of a first call be kept under its key, or the key be given back. `readPrint` is asked when the call has done its work. */
function keepFirst({ request, response, caller }: Holder, db: Database, claim: Claim, readPrint: () => Buffer): void {
  let kept = false;
  caller.created = async (tx, answer, secret) => {
    const status = findOperation(request)?.successStatus ?? 200;
    const body = secret ? null : JSON.stringify(answer);
    const claims = await keepAnswer(tx, claim, { fingerprint: readPrint(), status, body, secretMade: secret?.made ?? null });
    // this call ran for longer than a claim holds: another call has taken the key over and carries it out
    if (claims === 0) throw errors.idempotencyInProgress().with({ retryAfter: 1 });
    kept = true;
    return answer;
  };
  let isSettled = false;
  const settle = (isDone: boolean) => {
    if (isSettled) return;
    isSettled = true;
    if (!isDone) giveBack(db, claim);
  };
  getExchange(response).onHead = () => settle(kept && response.statusCode < 400);
  // nobody is answered any more, and the call may still fail: the release waits for its transaction, and leaves an answer that was committed
  response.once('close', () => settle(false));
}

/**
 * Claims the Idempotency-Key of a POST whose body has been read. `caller.created` keeps the first answer of a creation for 24 h, in the transaction of the
 * change. The same key with another body is 422, a second call while the first runs 409. A call that fails, or that creates nothing, gives the key back once
 * its answer is decided: nobody may ever read that.
 */
export async function claimIdempotencyKey(request: Request, response: Response, caller: Caller): Promise<void> {
  const key = request.get('idempotency-key');
  if (key === undefined || request.method !== 'POST') return;
  if (!KEY.test(key)) throw errors.idempotencyKeyInvalid();
  if (request.is('multipart/form-data')) return;
  const { db } = getContext(request);
  const print = createHash('sha256').update(getRawBody(request)).digest();
  const claim: Claim = { ...describeCall(request, caller, key), claim: randomUUID() };
  const kept = await takeKey(db, claim, print);
  if (kept) answerRepeat(kept, print);
  keepFirst({ request, response, caller }, db, claim, () => print);
}

/** What a key is claimed with whose body is still to come; no fingerprint is empty. */
const TO_COME = Buffer.alloc(0);

/** Claims the Idempotency-Key of a POST before its body is read. Otherwise as `claimIdempotencyKey`; a second call while the first runs is refused at once. */
export async function holdIdempotencyKey(request: Request, response: Response, caller: Caller): Promise<HeldKey> {
  const key = request.get('idempotency-key');
  if (key === undefined) return { isRepeat: false, prolong: async () => undefined, tell: () => undefined };
  const { db } = getContext(request);
  const claim: Claim = { ...describeCall(request, caller, key), claim: randomUUID() };
  const kept = await takeKey(db, claim, TO_COME);
  if (kept?.status === null) throw errors.idempotencyInProgress().with({ retryAfter: 1 });
  if (kept) return { isRepeat: true, prolong: async () => undefined, tell: (print) => answerRepeat(kept, print) };
  let told: Buffer = TO_COME;
  keepFirst({ request, response, caller }, db, claim, () => told);
  return {
    isRepeat: false,
    prolong: () => prolongClaim(db, claim),
    tell: (print) => {
      told = print;
    },
  };
}
