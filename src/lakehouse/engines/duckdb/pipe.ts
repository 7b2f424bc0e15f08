import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, open } from 'node:fs';
import { mkdir, rename, unlink } from 'node:fs/promises';
import { Socket } from 'node:net';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errors } from '../../../errors.ts';

const run = promisify(execFile);
const LET_GO_MS = 20;

export interface Pipe {
  path: string;
  reader: Readable;
  /** Says that the writer is done. The reader ends after what is left in the pipe. */
  finish(): void;
  /** Says that the writer failed. The reader is destroyed and never ends. */
  fail(error: Error): void;
}

// opens a plain descriptor: a FileHandle would close its own when it is garbage-collected
const fdOf = promisify(open);

const AT_ONCE = 16;
const LEAST_SPARE = 8;

/**
 * Keeps named pipes in a folder. A program makes several at a time, before they are needed, because its start holds the event loop of a process of 300 MB for
 * 20 ms, and for 55 to 160 ms beside a load of 14. A pipe is used again when the writer and the reader are done with it.
 */
export class Pipes {
  readonly #folder: string;
  readonly #spare: string[] = [];
  #making: Promise<unknown> | undefined;
  #closed = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The folder of the pipes that nobody uses yet. */
  get #store(): string {
    return join(this.#folder, 'pipes');
  }

  async #make(): Promise<void> {
    await mkdir(this.#store, { recursive: true, mode: 0o700 });
    const made = Array.from({ length: AT_ONCE }, () => join(this.#store, `${randomUUID()}.pipe`));
    await run('mkfifo', ['-m', '600', ...made]);
    this.#spare.push(...made);
  }

  /** Makes pipes where few are left. */
  async fill(): Promise<void> {
    if (this.#closed || this.#spare.length >= LEAST_SPARE) return;
    this.#making ??= this.#make().finally(() => (this.#making = undefined));
    await this.#making;
  }

  async #take(): Promise<string> {
    for (;;) {
      const spare = this.#spare.pop();
      if (spare !== undefined) {
        const path = join(this.#folder, basename(spare));
        await rename(spare, path);
        return path;
      }
      if (this.#closed) throw errors.shuttingDown();
      await this.fill();
    }
  }

  /** Makes no more pipes. Those that are being made are in the folder when this resolves. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#making?.catch(() => undefined);
  }

  async #keep(path: string): Promise<void> {
    const spare = join(this.#store, basename(path));
    await rename(path, spare);
    this.#spare.push(spare);
  }

  async #lose(path: string): Promise<void> {
    await unlink(path).catch(() => undefined);
    // whoever needs a pipe that cannot be made is told then
    await this.fill().catch(() => undefined);
  }

  /** Opens both ends of a pipe. Where one cannot be opened, nothing of it stays open and the pipe is used next time. */
  async #open(path: string): Promise<{ reading: number; holding: number }> {
    let reading: number | undefined;
    try {
      reading = await fdOf(path, constants.O_RDONLY | constants.O_NONBLOCK);
      return { reading, holding: await fdOf(path, constants.O_WRONLY | constants.O_NONBLOCK) };
    } catch (error) {
      if (reading !== undefined) closeSync(reading);
      this.#spare.push(path);
      throw error;
    }
  }

  /**
   * Opens a named pipe that an engine writes as if it were a file, and that is read without blocking a thread. We keep a write end open until `finish`. Without
   * it the reader would take a writer that failed, or has not come yet, for the end.
   */
  async open(): Promise<Pipe> {
    const path = await this.#take();
    const ends = await this.#open(path);
    let holding: number | null = ends.holding;
    const release = () => {
      if (holding !== null) closeSync(holding);
      holding = null;
    };
    const reader = new Socket({ fd: ends.reading, readable: true, writable: false });
    let settled = false;
    let written = false;
    // A writer that opens a pipe without readers waits in the kernel, where nothing interrupts it. A reader that comes and goes lets the writer in, and the
    // next write fails. A write that already waits on the full pipe fails too.
    const letGo = async () => {
      while (!settled) {
        closeSync(await fdOf(path, constants.O_RDONLY | constants.O_NONBLOCK));
        await sleep(LET_GO_MS);
      }
    };
    const settle = () => {
      settled = true;
      release();
    };
    reader.once('close', () => {
      release();
      if (written) void this.#keep(path).catch(() => undefined);
      else void letGo().catch(() => undefined);
    });
    return {
      path,
      reader,
      finish: () => {
        settle();
        // a writer that came when the reader had left may have made a plain file
        if (reader.closed) void this.#lose(path);
        else written = true;
      },
      fail: (error) => {
        settle();
        void this.#lose(path);
        reader.destroy(error);
      },
    };
  }
}
