/** Draws pictures beside the service: a chart of many marks takes seconds of processor, in which nobody else would be answered. */
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DrawingAnswer, Picture } from './drawing-thread.ts';

interface DrawingLimits {
  /** How long one picture may take. */
  mostMs: number;
  /** How large the thread may grow. */
  mostHeapMib: number;
  /** How long a thread without work is kept: to start one takes half a second. */
  restMs: number;
}

const LIMITS: DrawingLimits = { mostMs: 20_000, mostHeapMib: 512, restMs: 60_000 };
const THREAD = join(import.meta.dirname, `drawing-thread${extname(import.meta.filename)}`);

/** A picture that takes longer, or more memory, than one may. */
export class PictureTooLarge extends Error {}

export class Drawing {
  readonly #limits: DrawingLimits;
  /** The last of the pictures that were asked for. They are drawn one at a time. */
  #last: Promise<unknown> = Promise.resolve();
  #thread: Worker | undefined;
  #rest: NodeJS.Timeout | undefined;

  constructor(limits: Partial<DrawingLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Draws a picture once those before it are drawn. Throws PictureTooLarge, and the signal's reason. */
  async draw(picture: Picture, signal?: AbortSignal): Promise<string | Buffer> {
    const drawn = this.#last.then(() => this.#run(picture, signal));
    this.#last = drawn.catch(() => undefined);
    return drawn;
  }

  /** Ends the thread. The next picture starts another. */
  async close(): Promise<void> {
    clearTimeout(this.#rest);
    const thread = this.#thread;
    this.#forget(thread);
    await thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: this.#limits.mostHeapMib } });
    // a thread may end while nobody waits for it
    thread.on('error', () => undefined).once('exit', () => this.#forget(thread));
    thread.unref();
    return thread;
  }

  #forget(thread: Worker | undefined): void {
    if (this.#thread === thread) this.#thread = undefined;
  }

  async #run(picture: Picture, signal: AbortSignal | undefined): Promise<string | Buffer> {
    signal?.throwIfAborted();
    clearTimeout(this.#rest);
    const thread = (this.#thread ??= this.#start());
    const answer = await this.#ask(thread, picture, signal).catch((error: unknown) => {
      // what is still being drawn would keep the next picture waiting
      void this.close();
      throw error;
    });
    this.#rest = setTimeout(() => void this.close(), this.#limits.restMs).unref();
    if ('failure' in answer) throw new Error(answer.failure);
    return typeof answer.body === 'string' ? answer.body : Buffer.from(answer.body);
  }

  #ask(thread: Worker, picture: Picture, signal: AbortSignal | undefined): Promise<DrawingAnswer> {
    return new Promise<DrawingAnswer>((resolve, reject) => {
      const leave = () => settle(() => reject(signal?.reason as Error));
      const receive = (answer: DrawingAnswer) => settle(() => resolve(answer));
      const fail = (error: NodeJS.ErrnoException) =>
        settle(() => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new PictureTooLarge() : error));
      const miss = () => settle(() => reject(new Error('the thread that draws pictures ended without an answer')));
      const deadline = setTimeout(() => settle(() => reject(new PictureTooLarge())), this.#limits.mostMs);
      const settle = (then: () => void) => {
        clearTimeout(deadline);
        signal?.removeEventListener('abort', leave);
        thread.off('message', receive).off('error', fail).off('exit', miss);
        then();
      };
      signal?.addEventListener('abort', leave, { once: true });
      thread.once('message', receive).once('error', fail).once('exit', miss);
      thread.postMessage(picture);
    });
  }
}
