import { ApiError, errors, isRefusal } from '../errors.ts';

/** Constraints whose violation means that a request clashes with the current state; it is no bug of ours. */
const byConstraint: Readonly<Record<string, () => ApiError>> = {
  devices_serial_number: errors.serialTaken,
  // the name is made of type and serial, so this is the same clash
  devices_thing_name_key: errors.serialTaken,
  // another writer has claimed the source since we looked
  lake_sources_pkey: errors.sourceChanged,
  // the table was there when the upload looked for it
  uploads_table_id_fkey: errors.tableDeleted,
  // another organization has taken the slug since we looked
  organizations_slug_key: errors.organizationSlugAlreadyTaken,
  lake_tables_upload_name: () => errors.tableNameTaken('of that name'),
};

const unavailable = () => errors.databaseUnavailable().with({ retryAfter: 1 });

const byState: Readonly<Record<string, () => ApiError>> = {
  '23505': errors.conflict,
  '23503': errors.conflict,
  '23001': errors.conflict,
  '40001': errors.conflict,
  '40P01': errors.conflict,
  // text with NUL, and its JSON escape
  '22021': errors.textHoldsNul,
  '22P05': errors.textHoldsNul,
  '57014': errors.databaseTimeout,
  // the time that the server's own settings give a wait for a lock, or a transaction
  '55P03': errors.databaseTimeout,
  '25P04': errors.databaseTimeout,
  // a standby, or a database whose provider lets nobody write: a new connection may lead to another
  '25006': unavailable,
  // the role may log in no more, or has another password
  '28000': unavailable,
  '28P01': unavailable,
  // the disk of Postgres
  '53100': () => errors.storageFull().with({ retryAfter: 60 }),
  '53300': unavailable,
  '57P01': unavailable,
  // Postgres ends every connection when one of its processes was killed
  '57P02': unavailable,
  '57P03': unavailable,
};

// EAGAIN means that more connections wait at a unix socket than it holds
const CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EAGAIN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
];
/** The messages of failures of the connection to which pg gives no code. */
const SAID =
  /^(timeout exceeded when trying to connect|timeout expired|Connection terminated|Connection ended|Client has encountered a connection error|Client was closed|This socket has been ended by the other party|Received unexpected |There was an error establishing an SSL connection|Cannot use a pool after)/;
/** The message of pg when no answer came: the server may be away, or only slow. */
const SILENCE = 'Query read timeout';

interface Failure {
  code?: string;
  constraint?: string;
  message?: string;
  /** Of an error that Postgres told. */
  severity?: string;
}

/** Whether there is no connection, or none any more: after a fatal error, whatever it says, Postgres ends it. */
const isConnectionFailure = ({ code, message, severity }: Failure) =>
  severity === 'FATAL' || code?.startsWith('08') === true || CODES.includes(code ?? '') || SAID.test(message ?? '');

/** Whether a failure means that its connection cannot be used any more. */
export const isConnectionLost = (error: unknown): error is ApiError =>
  isRefusal(error, 'databaseUnavailable') ||
  (error instanceof ApiError && (error.cause as { silent?: boolean } | undefined)?.silent === true);

/**
 * Translates SQLSTATE and constraint name into an error of the catalogue. Anything that is not listed is a bug: 500, with the driver's error as the cause for
 * our log only. The label names the statement; SQL text goes nowhere.
 */
export function translateDatabaseError(error: unknown, label: string): ApiError {
  if (error instanceof ApiError) return error;
  const failure = error as Failure;
  const { code, constraint, message } = failure;
  const silent = message === SILENCE;
  const cause = Object.assign(new Error(`${label}: ${code ?? ''} ${message ?? ''}`), { code, constraint, label, silent });
  const known = (constraint === undefined ? undefined : byConstraint[constraint]) ?? (code === undefined ? undefined : byState[code]);
  const answer = known?.() ?? (silent ? errors.databaseTimeout() : isConnectionFailure(failure) ? unavailable() : errors.internal());
  answer.cause = cause;
  return answer;
}
