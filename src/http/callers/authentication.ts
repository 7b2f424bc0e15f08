import type { Request, Response } from 'express';
import { isWellFormedApiKey, KEY_PREFIX } from '../../auth/proofs/api-keys.ts';
import { hashToken } from '../../auth/seal.ts';
import type { Caller } from '../../auth/caller.ts';
import { requireGranted } from '../../authorization/access.ts';
import { ACTIONS, RESOURCE_TYPES, TRANSFERABLE, type Action, type ResourceType } from '../../authorization/roles.ts';
import { isUuid } from '../../database/uuid.ts';
import { errors } from '../../errors.ts';
import { admitKey, findKeyWait, touchKey, type Admission, type Question, type SessionAdmission } from './authentication.queries.ts';
import { readJsonBody } from '../requests/body.ts';
import { getContext, getExchange, measureStage } from '../exchange.ts';
import { claimIdempotencyKey } from '../answers/idempotency.ts';
import { requireTrustedOrigin } from './origins.ts';
import { isTableRequest, refuseUnknownParameters } from '../requests/parameters.ts';
import { admitBySession } from './sessions.ts';
import { admitWebhook, type Delivery } from './webhooks.ts';

/** Path parameter that holds the id of a guarded resource, by type. */
const ID_PARAMETER: Record<ResourceType, string> = {
  experiment: 'id',
  protocol: 'id',
  macro: 'id',
  workbook: 'id',
  device: 'deviceId',
  device_group: 'groupId',
};

const isResourceType = (text: string): text is ResourceType => (RESOURCE_TYPES as readonly string[]).includes(text);
const isAction = (text: string): text is Action => (ACTIONS as readonly string[]).includes(text);

/** The `{resourceType}` of a path. Errors: unknownResourceType. */
export function checkResourceType(text: string): ResourceType {
  if (!isResourceType(text)) throw errors.unknownResourceType();
  return text;
}

interface Guard {
  type: ResourceType;
  action: Action;
  parameter: string;
}

/**
 * Reads what a scope guards. `experiment:read` names the type; `resource:share` takes it from the `{resourceType}` of the path. Errors: unknownResourceType,
 * notTransferable.
 */
function guardOf(request: Request, [scope]: readonly string[]): Guard | null {
  if (scope === undefined) return null;
  const [named = '', verb = ''] = scope.split(':');
  const type = named === 'resource' ? String(request.params['resourceType']) : named;
  const checked = checkResourceType(type);
  if (verb === 'transfer' && !TRANSFERABLE[checked]) throw errors.notTransferable(checked);
  const action = verb === 'transfer' ? 'manage' : verb;
  if (!isAction(action)) throw new Error(`no such action: ${scope}`);
  return { type: checked, action, parameter: named === 'resource' ? 'id' : ID_PARAMETER[checked] };
}

const pathId = (request: Request, name: string) => String(request.params[name]);

/** Makes the ids of a path as they are stored; one that is no UUID, or an unknown type, is refused with 400. Called only after the caller is known. */
function canonicalisePath({ params }: Request): void {
  for (const [name, value] of Object.entries(params))
    if (name === 'resourceType') checkResourceType(String(value));
    else if (/(^id|Id)$/.test(name)) {
      if (!isUuid(String(value))) throw errors.invalidId(name);
      params[name] = String(value).toLowerCase();
    }
}

async function spendRate(request: Request, response: Response, admission: Admission): Promise<void> {
  response.setHeader('RateLimit-Policy', `"key";q=${admission.rateLimit};w=60`);
  if (admission.used !== null) {
    response.setHeader('RateLimit', `"key";r=${admission.rateLimit - admission.used};t=60`);
    return;
  }
  const wait = (await findKeyWait(getContext(request).admission, admission.keyId)) ?? 1;
  response.setHeader('RateLimit', `"key";r=0;t=${wait}`);
  throw errors.rateLimited(wait).with({ retryAfter: wait });
}

async function admitByKey(request: Request, response: Response, key: string, question: Question | null): Promise<Admission | null> {
  if (!isWellFormedApiKey(key)) throw errors.apiKeyMalformed();
  const admission = await admitKey(getContext(request).admission, { hash: hashToken(key), question });
  if (admission) await spendRate(request, response, admission);
  if (admission?.touch === true) await touchKey(getContext(request).admission, admission.keyId);
  return admission ?? null;
}

const BEARER = new RegExp(`^bearer +(${KEY_PREFIX}\\S*) *$`, 'i');

/** The API key of a request, by either header; the empty text where it has none. Errors: apiKeysDiffer. */
function keyOf(request: Request): string {
  const named = request.get('x-api-key') ?? '';
  const bearer = BEARER.exec(request.get('authorization') ?? '')?.[1] ?? '';
  if (named !== '' && bearer !== '' && named !== bearer) throw errors.apiKeysDiffer();
  return named === '' ? bearer : named;
}

/**
 * Finds who calls: the owner of the API key if a known one is sent, else the owner of the session. Account-management routes accept a session only: a key
 * cannot make keys, register passkeys or change an organization. A key beside a session of the same person is ignored there.
 */
async function admit(
  request: Request,
  response: Response,
  question: Question | null,
  accepts: 'session' | 'any',
): Promise<Admission | SessionAdmission> {
  const key = keyOf(request);
  const byKey = key === '' ? null : await admitByKey(request, response, key, question);
  if (byKey && accepts === 'any') return byKey;
  const session = await admitBySession(request, response, question);
  if (byKey && byKey.userId !== session?.userId) throw errors.apiKeyNotAccepted();
  if (!session) throw key === '' ? errors.unauthorized() : errors.apiKeyUnknown();
  requireTrustedOrigin(request);
  return session;
}

/**
 * Admits the caller of every operation with `@Security` (`caller`: a key or a session; `session`: a session only). Refusals come in this order: 401, 429,
 * malformed id 400, missing 404, denied 403. Only then are the query's names, the body and the Idempotency-Key looked at. One statement finds out all that 401,
 * 429, 404 and 403 depend on.
 */
export async function expressAuthentication(
  request: Request,
  name: string,
  scopes: readonly string[],
  response: Response,
): Promise<Caller | Delivery> {
  const exchange = getExchange(response);
  exchange.route = (request.route as { path?: string } | undefined)?.path ?? request.path;
  if (name === 'webhookSignature') return admitWebhook(request);
  // a type in the path that is unknown, or cannot be moved, is refused after 401, like a malformed id
  let guard: Guard | null = null;
  let badType: unknown;
  try {
    guard = guardOf(request, scopes);
  } catch (error) {
    badType = error;
  }
  const id = guard ? pathId(request, guard.parameter) : '';
  const question = guard && isUuid(id) ? { type: guard.type, resourceId: id, action: guard.action } : null;
  const admission = await measureStage(exchange, 'auth', () => admit(request, response, question, name === 'session' ? 'session' : 'any'));
  if (badType !== undefined) throw badType as Error;
  canonicalisePath(request);
  if (guard) requireGranted(admission, guard.type, guard.action);

  const caller: Caller = {
    userId: admission.userId,
    via:
      'keyId' in admission
        ? { kind: 'key', keyId: admission.keyId }
        : { kind: 'session', sessionId: admission.handle, createdAt: admission.createdAt },
    requestId: exchange.requestId,
    organizationId: admission.organizationId,
    created: async (_tx, answer) => answer,
  };
  exchange.caller = caller;
  // a table decides for itself who reads it, before its other parameters are looked at
  if (!isTableRequest(request)) refuseUnknownParameters(request);
  await readJsonBody(request);
  await claimIdempotencyKey(request, response, caller);
  return caller;
}
