import type { CompileProblem } from './job.ts';
import type { BoxRecord, MacroProcess } from './process.ts';
import { FairQueue } from './queue.ts';

const LIMIT_MS = 5_000;
const IDLE_MS = 30_000;
/** Codes of one caller that may wait. */
const WAITING = 8;

const toProblems = (record: BoxRecord): CompileProblem[] => {
  if (!Array.isArray(record.problems)) return [];
  return record.problems.slice(0, 20).map((problem: unknown) => {
    const { line, column, message } = (problem ?? {}) as Record<string, unknown>;
    return { line: Number(line) || 1, column: Number(column) || 1, message: String(message).slice(0, 1000) };
  });
};

/** Asks a process of a language whether code would start. The process only parses and runs nothing, so callers share it in turns. It ends when idle. */
export class Checker {
  readonly #start: () => MacroProcess;
  readonly #turns = new FairQueue(1, WAITING);
  #process: MacroProcess | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(start: () => MacroProcess) {
    this.#start = start;
  }

  /** Lists why code would not start. Throws `macroQueueFull` (429) where the caller has too many codes waiting. */
  async check(code: string, caller: string): Promise<CompileProblem[]> {
    const release = await this.#turns.place(caller);
    try {
      return await this.#ask(code);
    } finally {
      release();
    }
  }

  async #ask(code: string): Promise<CompileProblem[]> {
    clearTimeout(this.#idle);
    const process = this.#process?.alive === true ? this.#process : this.#start();
    this.#process = process;
    await process.ready;
    let timer: NodeJS.Timeout | undefined;
    const answer = await new Promise<CompileProblem[] | undefined>((resolve) => {
      process.onRecord = (record) => resolve(toProblems(record));
      void process.ended.then(() => resolve(undefined));
      timer = setTimeout(() => resolve(undefined), LIMIT_MS);
      process.send({ op: 'check', code });
    });
    clearTimeout(timer);
    process.onRecord = () => undefined;
    if (answer === undefined) {
      process.kill();
      return [{ line: 1, column: 1, message: 'This code is too large or too deeply nested to be read.' }];
    }
    this.#idle = setTimeout(() => process.kill(), IDLE_MS).unref();
    return answer;
  }
}
