/** Makes series and pictures of charts beside the service: many rows or marks take seconds of processor, in which nobody else would be answered. */
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Turns } from '../waiting.ts';
import type { Answer, PictureWork, SeriesWork, Work } from './drawing-thread.ts';

interface DrawingLimits {
  /** How long one chart may take. */
  mostMs: number;
  /** How large the thread may grow. */
  mostHeapMib: number;
  /** How long a thread without work is kept: to start one takes half a second. */
  restMs: number;
}

const LIMITS: DrawingLimits = { mostMs: 20_000, mostHeapMib: 512, restMs: 60_000 };
const THREAD = join(import.meta.dirname, `drawing-thread${extname(import.meta.filename)}`);

/** Why a chart is not drawn. Its message is for whoever asked. */
export class ChartRefused extends Error {}

const TOO_LARGE = 'This chart takes too long to draw, or too much memory. Choose fewer rows by a filter, or fewer colours or facets.';

export class Drawing {
  readonly #limits: DrawingLimits;
  /** One is drawn at a time. */
  readonly #turns = new Turns();
  #thread: Worker | undefined;
  #rest: NodeJS.Timeout | undefined;

  constructor(limits: Partial<DrawingLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Draws a picture once what was asked for before is done. Takes the rows away. Throws ChartRefused, and the signal's reason. */
  draw(picture: Omit<PictureWork, 'kind'>, signal?: AbortSignal): Promise<string | Buffer> {
    return this.#turns.take(() => this.#run({ kind: 'picture', ...picture }, signal), signal);
  }

  /** Prints the series of a chart as JSON, with the same conditions. */
  print(series: Omit<SeriesWork, 'kind'>, signal?: AbortSignal): Promise<string | Buffer> {
    return this.#turns.take(() => this.#run({ kind: 'series', ...series }, signal), signal);
  }

  /** Ends the thread. What is asked for next starts another. */
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

  async #run(work: Work, signal: AbortSignal | undefined): Promise<string | Buffer> {
    clearTimeout(this.#rest);
    const thread = (this.#thread ??= this.#start());
    const answer = await this.#ask(thread, work, signal).catch((error: unknown) => {
      // what is still being drawn would keep the next one waiting
      void this.close();
      throw error;
    });
    this.#rest = setTimeout(() => void this.close(), this.#limits.restMs).unref();
    if ('refusal' in answer) throw new ChartRefused(answer.refusal);
    if ('failure' in answer) throw new Error(answer.failure);
    return typeof answer.body === 'string' ? answer.body : Buffer.from(answer.body.buffer);
  }

  #ask(thread: Worker, work: Work, signal: AbortSignal | undefined): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const leave = () => settle(() => reject(signal?.reason as Error));
      const receive = (answer: Answer) => settle(() => resolve(answer));
      const fail = (error: NodeJS.ErrnoException) =>
        settle(() => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ChartRefused(TOO_LARGE) : error));
      const miss = () => settle(() => reject(new Error('the thread that draws charts ended without an answer')));
      const deadline = setTimeout(() => settle(() => reject(new ChartRefused(TOO_LARGE))), this.#limits.mostMs);
      const settle = (then: () => void) => {
        clearTimeout(deadline);
        signal?.removeEventListener('abort', leave);
        thread.off('message', receive).off('error', fail).off('exit', miss);
        then();
      };
      signal?.addEventListener('abort', leave, { once: true });
      thread.once('message', receive).once('error', fail).once('exit', miss);
      thread.postMessage(work, [work.rows.buffer]);
    });
  }
}
