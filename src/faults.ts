import type { Logger } from 'pino';

/**
 * What can fail outside every request and job, where nobody is left to be told:
 * - `connection`: a peer's connection broke, or what was under way was called off, and nobody listened any more.
 * - `statement`: Postgres refused or lost a statement that nobody waited for.
 * - `rejection`: a promise that nobody waited for failed otherwise. Its own work has ended, through its `finally`s.
 * - `exception`: a callback threw, and what it had half done is unknown.
 * - `memory`: the process could not have the memory that it asked for.
 */
export type FaultKind = 'connection' | 'statement' | 'rejection' | 'exception' | 'memory';

/** Whether the process goes on after a fault, or drains as it does on SIGTERM and ends with status 1. docs/operations.md says why. */
const AFTER: Record<FaultKind, 'goes on' | 'ends'> = {
  connection: 'goes on',
  statement: 'goes on',
  rejection: 'goes on',
  exception: 'ends',
  memory: 'ends',
};

/** How long the service says that it is not ready after a fault that it survives. */
const REST_MS = 10_000;
/** More faults than this within a minute are no accident any more: the process ends. */
const MOST_A_MINUTE = 10;

const CONNECTION =
  /^(ECONN(RESET|REFUSED|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ABORT_ERR|ERR_STREAM_(PREMATURE_CLOSE|DESTROYED|WRITE_AFTER_END)|ERR_HTTP_.+|UND_ERR_.+|ERR_SSL_.+|ERR_TLS_.+)$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Says the kind of an error that nothing caught; `isRejection` when it came from a promise. */
export function classifyFault(error: unknown, isRejection: boolean): FaultKind {
  if (!(error instanceof Error)) return isRejection ? 'rejection' : 'exception';
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (
    code === 'ERR_MEMORY_ALLOCATION_FAILED' ||
    (error instanceof RangeError && /allocation failed|Invalid string length/.test(error.message))
  )
    return 'memory';
  if (CONNECTION.test(code) || error.name === 'AbortError') return 'connection';
  if (SQLSTATE.test(code) || /^Connection terminated/.test(error.message)) return 'statement';
  return isRejection ? 'rejection' : 'exception';
}

interface Service {
  log: Logger;
  /** Tells callers and balancers to go elsewhere; true again when it may be used. */
  setReady: (ready: boolean) => void;
  /** Drains and ends the process. */
  end: () => void;
}

/** Logs what fails outside requests and jobs from now on, and handles it by its kind. Call it once a process. */
export function watchFaults({ log, setReady, end }: Service): void {
  let rest: NodeJS.Timeout | undefined;
  let faults: number[] = [];
  let isEnding = false;
  const meet = (error: unknown, isRejection: boolean) => {
    const kind = classifyFault(error, isRejection);
    const now = performance.now();
    faults = [...faults.filter((at) => now - at < 60_000), now];
    const after = faults.length > MOST_A_MINUTE ? 'ends' : AFTER[kind];
    log.fatal({ err: error, kind, after }, 'something failed outside every request');
    setReady(false);
    clearTimeout(rest);
    if (isEnding) return;
    if (after === 'goes on') rest = setTimeout(() => setReady(true), REST_MS).unref();
    else {
      isEnding = true;
      end();
    }
  };
  process.on('uncaughtException', (error) => meet(error, false));
  process.on('unhandledRejection', (reason) => meet(reason, true));
}
