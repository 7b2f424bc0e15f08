/** Runs one statement on the server: starts it, waits for it, reads it page by page, and ends it in every case. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DBSQLParameter, DBSQLParameterType, thrift } from '@databricks/sql';
import { errors } from '../../../errors.ts';
import type { Statement } from '../../terms/warehouse.ts';
import type { BoundValue } from '../../terms/dialect.ts';
import { awaitOrAbort } from '../../../waiting.ts';
import type { DatabricksSessions, Lease, Session } from './sessions.ts';

export type Row = Record<string, unknown>;

type Operation = Awaited<ReturnType<Session['executeStatement']>>;

const { TOperationState } = thrift.TCLIService_types;
const UNDER_WAY = new Set([TOperationState.INITIALIZED_STATE, TOperationState.PENDING_STATE, TOperationState.RUNNING_STATE]);
const FIRST_POLL_MS = 5;
const LONGEST_POLL_MS = 250;
/** The rows that are asked for at once. The server may send fewer. */
const PAGE_ROWS = 20_000;

/** A statement as the driver takes it. */
export interface BoundStatement {
  sql: string;
  parameters: DBSQLParameter[];
}

/** Turns a statement's values into the driver's parameters. Throws `errors.internal` on a list, which no statement of this dialect has. */
export const bindStatement = ({ sql, values }: Statement): BoundStatement => ({ sql, parameters: values.map(parameter) });

/** Makes a parameter. Statements cast every marker themselves, so text is enough, except for a limit, which must be a whole number. */
function parameter({ value, type }: BoundValue): DBSQLParameter {
  if (typeof value === 'object' && value !== null) throw errors.internal().with({ cause: new Error('A list cannot be bound here.') });
  if (value === null) return new DBSQLParameter({ type: DBSQLParameterType.VOID, value });
  if (typeof value === 'bigint') return new DBSQLParameter({ type: DBSQLParameterType.BIGINT, value });
  if (typeof value === 'boolean') return new DBSQLParameter({ type: DBSQLParameterType.BOOLEAN, value });
  if (typeof value === 'string') return new DBSQLParameter({ type: DBSQLParameterType.STRING, value });
  const whole = type.kind === 'int' && Number.isInteger(value);
  return new DBSQLParameter({ type: whole ? DBSQLParameterType.INTEGER : DBSQLParameterType.DOUBLE, value });
}

export interface RunningStatement {
  /** Reads pages of rows, in order. BIGINT comes as bigint, DECIMAL as text. Throws what the driver throws, or the signal's reason. */
  pages(): AsyncGenerator<Row[]>;
  /**
   * Ends the statement and gives its lease up, without waiting. `read` and `failed` close the statement; `left` cancels it. `in doubt` ends its session.
   */
  end(how: 'read' | 'failed' | 'left' | 'in doubt'): void;
}

interface Started {
  operation: Operation;
  lease: Lease;
  sessions: DatabricksSessions;
  signal: AbortSignal;
}

async function finished(operation: Operation, signal: AbortSignal): Promise<void> {
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(2 * pause, LONGEST_POLL_MS)) {
    const { operationState } = await awaitOrAbort(operation.status(false), signal);
    // throws the error of the state, unless the statement succeeded
    if (operationState === undefined || !UNDER_WAY.has(operationState)) return operation.finished();
    await sleep(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

async function* read({ operation, signal }: Started): AsyncGenerator<Row[]> {
  await finished(operation, signal);
  do {
    const rows = await awaitOrAbort(operation.fetchChunk({ maxRows: PAGE_ROWS, disableBuffering: true }), signal);
    if (rows.length > 0) yield rows as Row[];
  } while (await awaitOrAbort(operation.hasMoreRows(), signal));
}

function end({ operation, lease, sessions }: Started, how: 'read' | 'failed' | 'left' | 'in doubt'): void {
  const ended =
    how === 'in doubt'
      ? Promise.reject(new Error('the session is not trusted any more'))
      : how === 'left'
        ? operation.cancel()
        : operation.close();
  sessions.watch(
    ended.then(
      () => lease.release(how === 'left'),
      () => lease.discard(),
    ),
  );
}

/**
 * Sends a statement without waiting for its result, so that it can be cancelled at once. When the signal comes first, the statement is cancelled as soon as the
 * server has given its handle. When no handle comes, the session is closed, which ends the statement too.
 */
export async function startStatement(
  sessions: DatabricksSessions,
  lease: Lease,
  { sql, parameters }: BoundStatement,
  { signal, tag }: { signal: AbortSignal; tag?: string | undefined },
): Promise<RunningStatement> {
  const starting = lease.session.executeStatement(sql, {
    ordinalParameters: parameters,
    // asks for no rows in the first answer: that answer would otherwise wait for them
    maxRows: null,
    useCloudFetch: false,
    queryTags: tag === undefined ? undefined : { request: tag },
  });
  const of = (operation: Operation): Started => ({ operation, lease, sessions, signal });
  let operation: Operation;
  try {
    operation = await awaitOrAbort(starting, signal);
  } catch (error) {
    sessions.watch(
      starting.then(
        (late) => end(of(late), 'left'),
        () => lease.discard(),
      ),
    );
    throw error;
  }
  return { pages: () => read(of(operation)), end: (how) => end(of(operation), how) };
}
