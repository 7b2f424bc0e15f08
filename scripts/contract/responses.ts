// The answers of each operation beside its success: refusals by status with their codes, and the headers that are sent.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { printCode, errorList, type ErrorKey } from '../../src/errors.ts';
import { translateErrorCode } from '../../src/http/answers/client-codes.ts';
import { ASKED } from './asked.ts';

interface Answers {
  refusals: string[];
  headers: string[];
  /** Headers of the request that its code reads. */
  asked: string[];
}

export interface Operation {
  operationId: string;
  security?: Record<string, string[]>[];
  parameters?: { in: string; name: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { description?: string; headers?: Record<string, object>; content?: Record<string, { schema: object }> }>;
}

const answers = JSON.parse(readFileSync(join(import.meta.dirname, '../../src/generated/answers.json'), 'utf8')) as Record<string, Answers>;
const statuses = new Map(errorList.map(({ code, status }) => [code, status]));

const text = (description: string) => ({ description, schema: { type: 'string' } });
const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });

/** The headers of answers that a client reads. */
const HEADERS: Readonly<Record<string, object>> = {
  'Accept-Ranges': text('`bytes`: a part can be asked for with Range.'),
  'Content-Disposition': text('The name of the file.'),
  'Content-Range': text('The bytes of the file that are sent, and how many it has.'),
  ETag: text('The version of what is answered, for If-Match and If-None-Match.'),
  'Idempotency-Replayed': text('`true` where this is the answer that the first request with this Idempotency-Key got.'),
  'Last-Modified': text('When the file was written, as an HTTP date.'),
  Link: text('Other pages of the list, by rel: first, prev, next, last (RFC 8288).'),
  'Retry-After': count('Seconds to wait before the call is worth repeating.'),
  Trailer: text('`X-Truncated` comes behind the body: whether a limit left rows behind.'),
  'WWW-Authenticate': text('How to say who you are.'),
  'X-Erasure-Id': text('The erasure that removes what the experiment held; ask for it at `/api/v1/erasures/{erasureId}`.'),
  'X-Table-Version': text('The version of the table that was read, for `asOf`.'),
  'X-Total-Count': count('How many the whole list has; counted up to 10,000 unless `Prefer: count=exact` is sent.'),
  'X-Total-Count-Exact': text('`false` where the count ends at 10,000.'),
};

/** Headers that say nothing of one operation. */
const USUAL = ['Cache-Control', 'Content-Length', 'Content-Security-Policy', 'Content-Type', 'Vary', 'X-Accel-Buffering'];

/** Headers of refusals, by status. */
const REFUSAL_HEADERS: Readonly<Record<number, string[]>> = {
  401: ['WWW-Authenticate'],
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const codes = (...keys: ErrorKey[]) => keys.map(printCode);

const EVERYWHERE = codes('callerBusy', 'internal', 'overloaded', 'shuttingDown', 'databaseUnavailable', 'databaseTimeout', 'storageFull');
const CALLER = codes('unauthorized', 'apiKeyUnknown', 'apiKeyMalformed', 'apiKeysDiffer', 'rateLimited');
/** Of what reads the lake, by either engine: which of them answers is a setting. */
const ENGINE = codes(
  'warehouseBusy',
  'warehouseTimeout',
  'warehouseUnavailable',
  'warehouseStarting',
  'warehouseRefused',
  'warehouseTableMissing',
  'lakeNotPublished',
  'lakeFileUnreadable',
  'lakeCacheTooSmall',
  'objectsUnavailable',
);
const BODY = codes(
  'invalidInput',
  'malformedJson',
  'undecodableBody',
  'payloadTooLarge',
  'unsupportedMediaType',
  'unsupportedEncoding',
  'textHoldsNul',
);
/** What Postgres says of a change: the constraint that it breaks (`src/database/errors.ts`). */
const CHANGE = codes('originMissing', 'originNotTrusted', 'conflict');
/** Conflicts that pass by themselves: they say when to ask again. */
export const PASSING_CONFLICTS = codes('deviceBusy', 'exportNotReady', 'idempotencyInProgress');
const REPEATED = codes('idempotencyKeyInvalid', 'idempotencyKeyReused', 'idempotencyInProgress');

/** Codes of the database, by the operations that can meet them; nothing in their code names them. */
const OF_DATABASE: Readonly<Record<string, string[]>> = {
  checkReadiness: codes('databaseUnavailable', 'databaseTimeout'),
  registerDevice: codes('serialTaken'),
  registerMobileDevice: codes('serialTaken'),
  registerDevices: codes('serialTaken'),
  updateDevice: codes('serialTaken'),
  uploadFiles: codes('sourceChanged', 'tableNameTaken'),
  replayUpload: codes('sourceChanged', 'tableNameTaken'),
};

/** Codes that the code of operations reaches and that none of them can answer. */
const NEVER: Readonly<Record<string, string[]>> = {
  // what was made is read back by the transaction that made it
  createApiKey: codes('keyNotFound'),
  createDashboard: codes('dashboardNotFound'),
  createVisualization: codes('visualizationNotFound'),
  testWebhook: codes('webhookDeliveryNotFound'),
  // an embargo of what is made public is EMBARGO_OF_PUBLIC before
  createExperiment: codes('embargoNotEditable'),
  importProject: codes('embargoNotEditable'),
  // nobody sends a signing request there, and ours are well made
  ...Object.fromEntries(
    [
      'deleteDevice',
      'onboardDevice',
      'onboardDeviceGroup',
      'registerDevice',
      'registerDevices',
      'registerMobileDevice',
      'removeExperimentDevice',
      'revokeDeviceCredentials',
      'revokeDeviceGroupCredentials',
    ].map((operationId) => [operationId, codes('csrInvalid')]),
  ),
};

/** What the edge refuses before an operation is reached, by what the document says of the operation. */
function edgeCodes(method: string, path: string, { security = [], parameters = [], requestBody }: Operation): string[] {
  // nobody is turned away from there but who sends no request that can be understood
  if (path.startsWith('/health/')) return codes('hostInvalid', 'internal');
  const [scheme, scopes = []] = Object.entries(security[0] ?? {})[0] ?? [];
  const isCalled = scheme === 'caller' || scheme === 'session';
  const writes = method !== 'get';
  const named = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  return [
    ...EVERYWHERE,
    ...(isCalled ? CALLER : []),
    ...(scheme === 'session' ? codes('apiKeyNotAccepted') : []),
    ...(scheme === 'webhookSignature' ? codes('webhookSignatureInvalid') : []),
    ...(scopes.length > 0 ? codes('resourceNotFound', 'actionDenied') : []),
    ...(scopes[0] === 'resource:transfer' ? codes('notTransferable') : []),
    ...(named.includes('resourceType') ? codes('unknownResourceType') : []),
    ...(named.some((name) => /(^id|Id)$/.test(name)) ? codes('invalidId') : []),
    ...(parameters.length > 0 || isCalled ? codes('invalidInput') : []),
    ...(parameters.some((parameter) => parameter.in !== 'header') ? codes('textHoldsNul') : []),
    ...(writes && (scheme !== undefined || requestBody) ? BODY : []),
    ...(writes && isCalled ? CHANGE : []),
    ...(method === 'post' && isCalled ? REPEATED : []),
  ];
}

/** A refusal of a status, with the codes that tell why. */
function refusal(status: number, refused: readonly string[]): object {
  const named = refused.some((code) => PASSING_CONFLICTS.includes(code)) ? ['Retry-After'] : (REFUSAL_HEADERS[status] ?? []);
  const headers = named.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const);
  return {
    description: refused.map((code) => `\`${code}\``).join(', '),
    ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    'x-codes': refused,
  };
}

/** Refusals that most operations give alike. */
const SHARED: Readonly<Record<string, readonly [number, readonly string[]]>> = {
  NotSignedIn: [401, codes('apiKeyUnknown', 'unauthorized')],
  NoSession: [401, [...codes('apiKeyNotAccepted', 'unauthorized'), translateErrorCode(printCode('apiKeyUnknown'))].sort()],
  NotFound: [404, codes('resourceNotFound')],
  Changed: [412, codes('preconditionFailed')],
  BodyTooLarge: [413, codes('payloadTooLarge')],
  BodyUnsupported: [415, codes('unsupportedEncoding', 'unsupportedMediaType')],
  KeyReused: [422, codes('idempotencyKeyReused')],
  TooManyRequests: [429, codes('callerBusy', 'rateLimited')],
  Failed: [500, codes('internal')],
  Unavailable: [503, codes('databaseUnavailable', 'overloaded', 'shuttingDown', 'storageFull')],
  TimedOut: [504, codes('databaseTimeout')],
};
const namesOf = new Map(Object.entries(SHARED).map(([name, [status, refused]]) => [`${status} ${String(refused)}`, name]));

/** A refusal, by reference where it is shared. */
function declared(status: number, refused: readonly string[]): object {
  const name = namesOf.get(`${status} ${String(refused)}`);
  return name === undefined ? refusal(status, refused) : { $ref: `#/components/responses/${name}` };
}

/** Declares what an operation answers beside its success, the headers of its success, and the headers of a request that it reads. */
export function declareAnswers(method: string, path: string, operation: Operation): void {
  const { refusals, headers, asked: read } = answers[operation.operationId] ?? { refusals: [], headers: [], asked: [] };
  if (!(operation.operationId in answers)) throw new Error(`npm run answers was not run since ${operation.operationId} was made`);
  const never = NEVER[operation.operationId] ?? [];
  const gone = never.filter((code) => !refusals.includes(code));
  if (gone.length > 0) throw new Error(`${operation.operationId} does not reach ${gone.join(', ')} any more; take it out of NEVER`);
  const asked = read.filter((name) => ASKED[name]?.methods.includes(method));
  const known = new Set([
    ...edgeCodes(method, path, operation),
    // code that changes something is reached by those too that ask for no version of it
    ...refusals.filter((code) => (code !== printCode('preconditionFailed') || asked.includes('If-Match')) && !never.includes(code)),
    ...(refusals.some((code) => ENGINE.includes(code) && code.startsWith('WAREHOUSE')) ? ENGINE : []),
    ...(OF_DATABASE[operation.operationId] ?? []),
  ]);
  const isForClient = path.startsWith('/api/v1/auth/');
  const byStatus = new Map<number, Set<string>>();
  for (const code of known) {
    const status = statuses.get(code);
    if (status === undefined) throw new Error(`${operation.operationId} answers ${code}, which is not in the catalogue`);
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(isForClient ? translateErrorCode(code) : code));
  }
  const unknown = headers.filter((name) => !(name in HEADERS) && !USUAL.includes(name));
  if (unknown.length > 0)
    throw new Error(`${operation.operationId} sends ${unknown.join(', ')}, which scripts/contract/responses.ts does not describe`);
  const sent = [...headers, ...(asked.includes('Idempotency-Key') ? ['Idempotency-Replayed'] : [])]
    .filter((name) => name in HEADERS)
    .map((name) => [name, { $ref: `#/components/headers/${name}` }] as const);
  for (const [status, response] of Object.entries(operation.responses))
    if (/^[23]/.test(status) && sent.length > 0) response.headers = { ...response.headers, ...Object.fromEntries(sent) };
  if (headers.includes('ETag') && method === 'get')
    operation.responses['304'] = { description: 'You have it already: the ETag is the one of If-None-Match.' };
  if (headers.includes('Content-Range'))
    operation.responses['206'] = { ...operation.responses['200'], description: 'The part that Range asked for.' };
  for (const [status, refused] of byStatus) operation.responses[status] = declared(status, [...refused].sort());
  operation.parameters = [
    ...(operation.parameters ?? []),
    ...asked.map((name) => ({ name, in: 'header', required: false, description: ASKED[name]?.description, schema: ASKED[name]?.schema })),
  ];
  operation.responses['default'] = { $ref: '#/components/responses/Refused' } as object;
}

/** What stands beside the operations: headers, and the refusal of any other status. */
export const sharedAnswers = {
  headers: HEADERS,
  responses: {
    ...Object.fromEntries(Object.entries(SHARED).map(([name, [status, refused]]) => [name, refusal(status, refused)])),
    Refused: {
      description:
        'Any other refusal: of what is no request that can be understood (400 `HOST_INVALID` and `NOT_HTTP`, 405 `METHOD_NOT_ALLOWED`, 408 `REQUEST_TOO_SLOW`, 431 `HEADERS_TOO_LARGE`), or by what stands between.',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  },
};
