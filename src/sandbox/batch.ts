import { BATCH_BYTES, KILL_GRACE_MS, OUTPUT_DEPTH, READ_MS } from './job.ts';
import type { BatchResult, ItemResult, MacroError, MacroJob } from './job.ts';
import type { BoxRecord, MacroProcess } from './process.ts';
import { isNestedDeeper, isRecord } from '../json.ts';
import { awaitOrAbort } from '../waiting.ts';

/** Where a batch gets its processes. */
export interface ProcessSource {
  /** A process that has served nobody else; it may still be starting. */
  take(): MacroProcess;
  /** Takes a process back. `sound`: the process answered everything it was given. */
  giveBack(process: MacroProcess, sound: boolean): void;
  itemsPerProcess: number;
}

const seconds = (ms: number) => `${Math.round(ms) / 1000} s`;

const makeTimeoutError = (itemTimeoutMs: number): MacroError => ({
  type: 'TimeoutError',
  message: `The macro ran longer than ${seconds(itemTimeoutMs)} on this item.`,
});

const position = (value: unknown) => (typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined);

const toError = (value: unknown): MacroError => {
  const given = isRecord(value) ? value : {};
  const error: MacroError = {
    type: typeof given.type === 'string' ? given.type.slice(0, 200) : 'Error',
    message: typeof given.message === 'string' ? given.message.slice(0, 10_000) : 'The macro failed without a message.',
  };
  const line = position(given.line);
  const column = position(given.column);
  if (line !== undefined) error.line = line;
  if (line !== undefined && column !== undefined) error.column = column;
  return error;
};

/** More than the runtimes let through, a mark of their cut included. */
const LOG_CHARACTERS = 70_000;

/** Turns a record into a result. The macro may control the box, so nothing of a record is believed before it is looked at. */
const toResult = (id: string, record: BoxRecord): ItemResult => {
  let room = LOG_CHARACTERS;
  const logs = Array.isArray(record.logs)
    ? record.logs.filter((line) => typeof line === 'string').filter((line) => (room -= line.length + 1) >= 0)
    : [];
  const durationMs = typeof record.ms === 'number' && record.ms >= 0 ? record.ms : 0;
  const failed = (error: MacroError): ItemResult => ({ id, success: false, error, logs, durationMs });
  if (record.ok !== true) return failed(toError(record.error));
  if (!isRecord(record.output)) return failed({ type: 'OutputError', message: 'The output of a macro must be an object.' });
  // deeper JSON would break what prints it later
  if (isNestedDeeper(record.output, OUTPUT_DEPTH))
    return failed({ type: 'OutputError', message: `The output is nested more than ${OUTPUT_DEPTH} levels deep.` });
  return { id, success: true, output: record.output, logs, durationMs };
};

type Outcome = 'done' | 'worn' | 'full' | 'slow' | 'crashed' | 'expired' | 'aborted';

type Answered = Pick<BatchResult, 'results' | 'outputBytes'>;

/** One process working through items `from` to `to`: items are sent ahead, answers come in order, the clock restarts with each answer. */
class Shift {
  answered: number;
  itemStarted = 0;
  how = '';
  readonly #process: MacroProcess;
  readonly #job: MacroJob;
  readonly #to: number;

  constructor(process: MacroProcess, job: MacroJob, from: number, to: number) {
    this.#process = process;
    this.#job = job;
    this.answered = from;
    this.#to = to;
  }

  async run(deadline: number, gathered: Answered): Promise<Outcome> {
    const { items, signal, itemTimeoutMs } = this.#job;
    let timer: NodeJS.Timeout | undefined;
    let abort: () => void = () => undefined;
    try {
      return await new Promise<Outcome>((resolve) => {
        const watch = (patience: number) => {
          clearTimeout(timer);
          this.itemStarted = performance.now();
          const left = deadline - this.itemStarted;
          timer = setTimeout(() => resolve(left < patience ? 'expired' : 'slow'), Math.max(0, Math.min(left, patience)));
        };
        abort = () => resolve('aborted');
        signal?.addEventListener('abort', abort, { once: true });
        if (signal?.aborted) resolve('aborted');
        const itemPatience = itemTimeoutMs + KILL_GRACE_MS;
        let reading = true;
        this.#process.onRecord = (record, length) => {
          if (reading && record.go === true) {
            reading = false;
            watch(itemPatience);
            return;
          }
          const item = items[this.answered];
          if (item === undefined || record.i !== this.answered || this.answered >= this.#to) return;
          gathered.results.push(toResult(item.id, record));
          gathered.outputBytes += length;
          this.answered += 1;
          const isFull = gathered.outputBytes > findRoom(this.#job);
          if (isFull || record.last === true) {
            // a record of the next item may have come in the same bytes; it is ignored, because that item runs again elsewhere
            this.#process.onRecord = () => undefined;
            resolve(isFull ? 'full' : 'worn');
          } else if (this.answered === this.#to) resolve('done');
          else watch(itemPatience);
        };
        void this.#process.ended.then((how) => {
          this.how = how;
          resolve('crashed');
        });
        watch(READ_MS);
        this.#send();
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.#process.onRecord = () => undefined;
    }
  }

  #send(): void {
    const { items, code, itemTimeoutMs, clock } = this.#job;
    this.#process.send({ op: 'job', code, itemMs: itemTimeoutMs, clock: clock ?? null });
    for (let index = this.answered; index < this.#to; index++) {
      this.#process.send({ op: 'item', i: index, data: items[index]?.data ?? null, ctx: items[index]?.context ?? {} });
      this.#process.served += 1;
    }
  }
}

/** Says what became of the item that its process was working on when it had to go. */
const lost = (outcome: Outcome, shift: Shift, process: MacroProcess, job: MacroJob): MacroError => {
  if (outcome === 'slow') return makeTimeoutError(job.itemTimeoutMs);
  if (outcome === 'expired') return outOfTime(job.timeoutMs);
  if (process.flooded) return { type: 'OutputError', message: 'The output of this item is larger than 10 MB.' };
  return { type: 'CrashError', message: `The process of this macro ended while it worked on this item (${shift.how}).` };
};

const findRoom = ({ outputBytes = BATCH_BYTES }: MacroJob): number => outputBytes;

const outOfRoom: MacroError = { type: 'OutputError', message: 'The outputs of the batch reached their limit before this item was run.' };

const outOfTime = (timeoutMs: number): MacroError => ({
  type: 'TimeoutError',
  message: `The batch reached its limit of ${seconds(timeoutMs)} before this item was done.`,
});

/**
 * Runs all items in order. An item that takes its process down is reported and the rest goes on in a fresh one. The batch's limits cut off what follows.
 * Rejects with the reason of `job.signal`, or when no process starts (the message says how it ended).
 */
export const runBatch = async (job: MacroJob, source: ProcessSource): Promise<Answered> => {
  const gathered: Answered = { results: [], outputBytes: 0 };
  const { results } = gathered;
  const cutOff = (error: MacroError) => {
    for (const item of job.items.slice(results.length))
      results.push({ id: item.id, success: false, error, unfinished: true, logs: [], durationMs: 0 });
  };
  let deadline = Infinity;
  let failedStarts = 0;
  if (findRoom(job) <= 0) cutOff(outOfRoom);
  while (results.length < job.items.length) {
    const process = source.take();
    try {
      await (job.signal === undefined ? process.ready : awaitOrAbort(process.ready, job.signal));
      failedStarts = 0;
    } catch (error) {
      source.giveBack(process, false);
      job.signal?.throwIfAborted();
      failedStarts += 1;
      if (failedStarts === 2) throw error;
      continue;
    }
    if (deadline === Infinity) deadline = performance.now() + job.timeoutMs;
    const room = Math.max(1, source.itemsPerProcess - process.served);
    const shift = new Shift(process, job, results.length, Math.min(job.items.length, results.length + room));
    const outcome = performance.now() >= deadline ? 'expired' : await shift.run(deadline, gathered);
    source.giveBack(process, outcome === 'done' && process.served < source.itemsPerProcess);
    if (outcome === 'full') cutOff(outOfRoom);
    if (outcome === 'done' || outcome === 'worn' || outcome === 'full') continue;
    if (outcome === 'aborted') throw job.signal?.reason;
    const durationMs = shift.itemStarted === 0 ? 0 : performance.now() - shift.itemStarted;
    const failed = job.items[results.length];
    if (failed !== undefined)
      results.push({
        id: failed.id,
        success: false,
        error: lost(outcome, shift, process, job),
        ...(outcome === 'expired' ? { unfinished: true as const } : {}),
        logs: [],
        durationMs,
      });
    if (outcome === 'expired') cutOff(outOfTime(job.timeoutMs));
  }
  return gathered;
};
