/** COPY over the driver's connection, in both directions, with back-pressure. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type pg from 'pg';

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

interface Messages {
  resolve: () => void;
  reject: (cause: unknown) => void;
}

/** The half of the driver's connection that its types leave out. */
type CopyConnection = pg.Connection & {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
};

/** What the driver calls while a COPY is its active query. */
abstract class Copy implements pg.Submittable {
  readonly #text: string;
  readonly #messages: Messages;
  #failed: unknown;

  constructor(text: string, messages: Messages) {
    this.#text = text;
    this.#messages = messages;
  }

  /** The driver, which gives an answer up after a while, puts the end of its waiting here. */
  callback: () => void = () => undefined;

  submit(connection: pg.Connection): void {
    connection.query(this.#text);
  }

  fail(cause: unknown): void {
    this.#failed ??= cause;
  }

  /** Whether the server has refused it: it has no use for the rest. */
  protected isRefused = false;

  handleError(cause: unknown): void {
    this.callback();
    this.isRefused = true;
    this.#messages.reject(this.#failed ?? cause);
  }

  handleReadyForQuery(connection: pg.Connection): void {
    this.callback();
    // a target that is ended before it has drained never says that it has
    connection.stream.resume();
    if (this.#failed === undefined) this.#messages.resolve();
    else this.#messages.reject(this.#failed);
  }

  handleCommandComplete(): void {
    // the answer that counts is readiness for the next statement
  }

  abstract handleCopyData(message: { chunk: Buffer }, connection: pg.Connection): void;
  abstract handleCopyInResponse(connection: CopyConnection): void;
}

class CopyOut extends Copy {
  readonly #target: Writable;

  constructor(text: string, target: Writable, messages: Messages) {
    super(text, messages);
    this.#target = target;
    target.on('error', (cause) => this.fail(cause));
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: pg.Connection): void {
    // the driver reads the next bytes into the same memory
    if (this.#target.write(Buffer.from(chunk))) return;
    connection.stream.pause();
    const resume = () => {
      this.#target.off('drain', resume);
      this.#target.off('error', resume);
      connection.stream.resume();
    };
    this.#target.once('drain', resume);
    this.#target.once('error', resume);
  }

  handleCopyInResponse(): void {
    throw new Error('the server wants bytes for a statement that gives them');
  }
}

class CopyIn extends Copy {
  readonly #source: Pieces;

  constructor(text: string, source: Pieces, messages: Messages) {
    super(text, messages);
    this.#source = source;
  }

  handleCopyData(): void {
    throw new Error('the server gives bytes for a statement that takes them');
  }

  handleCopyInResponse(connection: CopyConnection): void {
    void this.#send(connection);
  }

  async #send(connection: CopyConnection): Promise<void> {
    try {
      for await (const chunk of this.#source) {
        // the next statement may be another COPY
        if (this.isRefused) return;
        connection.sendCopyFromChunk(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
        if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain');
      }
      if (!this.isRefused) connection.endCopyFrom();
    } catch (error) {
      this.fail(error);
      if (!this.isRefused) connection.sendCopyFail('the source of the rows failed');
    }
  }
}

/** Runs a `copy … to stdout` into a stream, which is left open. */
export const copyOut = (client: pg.ClientBase, text: string, target: Writable): Promise<void> =>
  new Promise((resolve, reject) => {
    client.query(new CopyOut(text, target, { resolve, reject }));
  });

/** Runs a `copy … from stdin` over bytes. */
export const copyIn = (client: pg.ClientBase, text: string, source: Pieces): Promise<void> =>
  new Promise((resolve, reject) => {
    client.query(new CopyIn(text, source, { resolve, reject }));
  });
