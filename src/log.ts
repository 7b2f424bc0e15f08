/** Opens the file, or standard error, that log lines go to. */
import { mkdirSync, openSync, write, writeSync, Utf8Stream } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from './errors.ts';

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
export function openLog(file: string | undefined): Utf8Stream {
  const fd = file === undefined ? STANDARD_ERROR : openLogFile(file);
  // one write takes many lines: a write for each line took a sixth of a small request
  const stream = new Utf8Stream({ fd, fs: losing, sync: false, minLength: 4_096 });
  // its own `periodicFlush` throws in Node 26.10
  setInterval(() => stream.flush(() => undefined), FLUSH_MS).unref();
  opened.add(stream);
  return stream;
}
