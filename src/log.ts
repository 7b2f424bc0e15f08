/** Opens the log: JSON lines into a file or on standard error, without secrets. */
import { mkdirSync, openSync, write, writeSync, Utf8Stream } from 'node:fs';
import { dirname } from 'node:path';
import { pino, type Logger } from 'pino';
import type { Config } from './config.ts';
import { ApiError, StartError } from './errors.ts';

const REDACTED = [
  'req.headers.cookie',
  'req.headers["x-api-key"]',
  'req.headers.authorization',
  '*.key',
  '*.token',
  '*.code',
  '*.otp',
  '*.cookie',
  '*.email',
  '*.clientSecret',
  '*.smtpUrl',
  '*.secret',
  '*.password',
  '*.url',
  '*.uploadUrl',
];

/** What a line says of an error. Other members can hold a whole connection of Postgres, or the values of a row. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack } = pino.stdSerializers.err(error);
  // SQLSTATE or errno; as `code` it would be taken for one that somebody signs in by
  const told = { type, message, stack, errorCode: (error as NodeJS.ErrnoException).code };
  return error instanceof ApiError ? { ...told, facts: error.details.facts, cause: describeError(error.details.cause) } : told;
}

const STANDARD_ERROR = 2;
/** How long a line waits for others at most. */
const FLUSH_MS = 500;

/** An error that passes by itself: the reader of a pipe is slow. */
const isPassing = (error: unknown) => ['EAGAIN', 'EBUSY'].includes(String((error as { code?: unknown } | null)?.code));

/** Lines that a full disk does not take are lost. With the functions of `node:fs` the stream waits for room, and the process with it, or ends the process. */
const losing = {
  writeSync(fd: number, text: string): number {
    try {
      return writeSync(fd, text);
    } catch (error) {
      if (isPassing(error)) throw error;
      return Buffer.byteLength(text);
    }
  },
  write(fd: number, text: string, encoding: BufferEncoding, done: (error: Error | null, count: number) => void): void {
    write(fd, text, null, encoding, (error, count) => {
      if (error === null || isPassing(error)) done(error, count);
      else done(null, Buffer.byteLength(text));
    });
  },
};

function openLogFile(file: string): number {
  try {
    mkdirSync(dirname(file), { recursive: true });
    return openSync(file, 'a');
  } catch (error) {
    throw new StartError(`LOG_FILE cannot be written: ${(error as Error).message}.`, { cause: error });
  }
}

const opened = new Set<Utf8Stream>();
process.on('exit', () => {
  for (const each of opened) each.flushSync();
});

/** Opens where log lines go: standard error unless a file is named. Errors: StartError. */
function openStream(file: string | undefined): { write: (line: string) => void } {
  const fd = file === undefined ? STANDARD_ERROR : openLogFile(file);
  // one write takes many lines: a write for each line took a sixth of a small request
  const stream = new Utf8Stream({ fd, fs: losing, sync: false, minLength: 4_096 });
  opened.add(stream);
  let flushing: NodeJS.Timeout | undefined;
  const flush = (): void => {
    flushing = undefined;
    stream.flush(() => undefined);
  };
  return {
    write: (line) => {
      stream.write(line);
      // its own `periodicFlush` throws in Node 26.10, and a flush of nothing goes through two threads
      flushing ??= setTimeout(flush, FLUSH_MS).unref();
    },
  };
}

/** Opens the log of this process. Errors: StartError. */
export function openLog({ logLevel, logFile }: Pick<Config, 'logLevel' | 'logFile'>): Logger {
  const options = { base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } };
  return pino({ ...options, level: logLevel, redact: { paths: REDACTED, censor: '[redacted]' } }, openStream(logFile));
}
