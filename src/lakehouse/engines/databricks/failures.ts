/** Decides what a failure of the driver means. The driver's text never leaves the log: callers get a sentence of the catalogue. */
import { errors, type ApiError } from '../../../errors.ts';

/**
 * `session-lost`: the server no longer knows the session. `starting`: the SQL warehouse says that it is stopped or starting. `busy`: the server takes no more
 * requests now. `refused`: credentials, certificate or address are wrong. `timeout`: the statement took longer than the server allows. `stopped`: somebody else
 * ended the statement. `unreachable`: the connection broke, or the server answered 500 or above. `missing`: a table that the statement names does not exist.
 * `overflow`: a sum has more digits than a decimal holds. `failed`: anything else.
 */
export type Failure =
  'session-lost' | 'starting' | 'busy' | 'refused' | 'timeout' | 'stopped' | 'unreachable' | 'missing' | 'overflow' | 'failed';

interface Shape {
  name?: unknown;
  message?: unknown;
  stack?: unknown;
  code?: unknown;
  type?: unknown;
  errorCode?: unknown;
  statusCode?: unknown;
  payload?: unknown;
  response?: {
    errorMessage?: unknown;
    displayMessage?: unknown;
    headers?: { get?: (name: string) => string | null };
  };
}

const PREFIX = '^(?:[A-Z_]+: |requirement failed: |\\*?[\\w.$]+Exception:\\s?)*';
const lost = new RegExp(
  `${PREFIX}(?:Invalid SessionHandle|Session(?: handle)?:? ?(?:SessionHandle )?\\[?[\\w-]+\\]? (?:is closed|does not exist|has expired)|The session was closed or has expired)`,
  'i',
);
/** Texts that servers send while nodes boot. Only these are waited for. */
const booting = new RegExp(
  `${PREFIX}(?:Session handle:? .* has not been initialized or had already closed|Couldn't create directory /local_disk0/|(?:Cluster|Endpoint|Warehouse) \\S+ is (?:temporarily unavailable|starting|not running))`,
  'i',
);
const temporarily = /^TEMPORARILY_UNAVAILABLE\b/;
/** The code must come before any quote: text of the statement itself could hold the same words. */
const missing =
  /^[^`'"\n]*\[(TABLE_OR_VIEW_NOT_FOUND|PATH_NOT_FOUND|DELTA_(MISSING_DELTA_TABLE|TABLE_NOT_FOUND|PATH_DOES_NOT_EXIST|VERSION_NOT_(FOUND|CONTIGUOUS)))[\].]/;
const overflown = /^[^`'"\n]*\[(ARITHMETIC_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE)[\].]/;
const gaveUp = /^Hive driver: (\d{3}|Error) when connecting to resource/;
const broken =
  /^Expected to read \d+ |answer was cut|socket hang up|premature close|aborted|timed out|network|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPROTO/i;
const distrusted = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/;

const HEADERS = ['x-thriftserver-error-message', 'x-databricks-error-or-redirect-message'];

function wordsOf(error: Shape): string[] {
  const { response } = error;
  const headers = response?.headers;
  const said = typeof headers?.get === 'function' ? HEADERS.map((name) => headers.get?.(name)) : [];
  // an answer with an error status arrives as an object whose `stack` holds the server's own lines
  const lines = error.name === 'Status Error' && typeof error.stack === 'string' ? error.stack.split('\n') : [];
  return [...said, response?.errorMessage, response?.displayMessage, error.message, ...lines].filter(
    (text): text is string => typeof text === 'string' && text !== '',
  );
}

function ofStatus(status: number): Failure {
  if (status === 401 || status === 403 || status === 404) return 'refused';
  if (status === 429) return 'busy';
  if (status === 503) return 'starting';
  return status >= 500 ? 'unreachable' : 'failed';
}

const STATES: Readonly<Record<string, Failure>> = { TIMEOUT: 'timeout', CANCELED: 'stopped', CLOSED: 'stopped' };

export function classifyFailure(thrown: unknown): Failure {
  if (typeof thrown !== 'object' || thrown === null) return 'failed';
  const error = thrown as Shape;
  const words = wordsOf(error);
  if (words.some((text) => lost.test(text))) return 'session-lost';
  if (words.some((text) => booting.test(text) || temporarily.test(text))) return 'starting';
  if (typeof error.statusCode === 'number') return ofStatus(error.statusCode);
  if (typeof error.errorCode === 'string' && STATES[error.errorCode] !== undefined && error.payload === undefined)
    return STATES[error.errorCode] ?? 'failed';
  const [, status] = words.map((text) => gaveUp.exec(text)).find((found) => found !== null) ?? [];
  if (status !== undefined) return status === 'Error' ? 'unreachable' : ofStatus(Number(status));
  if (words.some((text) => missing.test(text))) return 'missing';
  if (words.some((text) => overflown.test(text))) return 'overflow';
  if (error.errorCode === 'ERROR') return 'failed';
  const code = typeof error.code === 'string' ? error.code : '';
  if (distrusted.test(code)) return 'refused';
  if (error.type === 'system' || error.type === 'body-timeout' || broken.test(code)) return 'unreachable';
  if (error.name === 'AuthenticationError') return 'refused';
  // only the driver's own transport errors are left here; failures of statements were recognised above by their state
  return error.name !== 'Status Error' && words.some((text) => broken.test(text)) ? 'unreachable' : 'failed';
}

const ANSWERS: Readonly<Record<Failure, () => ApiError>> = {
  'session-lost': errors.warehouseUnavailable,
  starting: () => errors.warehouseStarting().with({ retryAfter: 30 }),
  busy: () => errors.warehouseBusy().with({ retryAfter: 5 }),
  refused: errors.warehouseRefused,
  timeout: errors.warehouseTimeout,
  stopped: errors.warehouseUnavailable,
  unreachable: errors.warehouseUnavailable,
  missing: errors.warehouseTableMissing,
  overflow: errors.sumTooLarge,
  failed: errors.internal,
};

/** Makes the answer for a failure. `cause` is for the log. */
export const translateFailure = (failure: Failure, cause: unknown): ApiError => ANSWERS[failure]().with({ cause });
