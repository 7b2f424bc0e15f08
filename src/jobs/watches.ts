import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { findDue, type Condition } from './watches.queries.ts';

/** Work that is looked for more often than the queue's clock ticks. */
export interface Watch {
  /** Milliseconds between two beginnings, at least. */
  everyMs: number;
  /** Whether there is any work, as a condition on Postgres. Without it, the watch begins every time. */
  due?: Condition;
  run: (signal: AbortSignal) => Promise<void>;
}

export interface Watches {
  /** Begins a watch without a look. One that still runs begins once more as soon as it is done. */
  begin: (watch: Watch) => void;
  /** Aborts the signal of the watches that run, and waits for them. */
  stop: () => Promise<void>;
}

/** One statement looks for the work of all watches, so that a quiet service costs two statements a second. */
const LOOK_MS = 500;

/** Starts watching. What a watch or a look throws is handed to `onProblem` until the watching stops, and the next look comes as usual. */
export function startWatches(db: Database, watches: readonly Watch[], onProblem: (error: unknown) => void): Watches {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Map<Watch, Promise<void>>();
  const wanted = new Set<Watch>();
  const begun = new Map<Watch, number>();
  const note = (error: unknown): void => {
    if (!signal.aborted) onProblem(error);
  };
  const begin = (watch: Watch): void => {
    // a watch that still runs is not begun twice, but looks once more when it is done
    if (running.has(watch)) {
      wanted.add(watch);
      return;
    }
    begun.set(watch, performance.now());
    const one = watch
      .run(signal)
      .catch(note)
      .finally(() => {
        running.delete(watch);
        if (wanted.delete(watch) && !signal.aborted) begin(watch);
      });
    running.set(watch, one);
  };
  const conditions = watches.map(({ due }) => due);
  const mayBegin = (watch: Watch) => !running.has(watch) && performance.now() - (begun.get(watch) ?? -Infinity) >= watch.everyMs;
  const look = async () => {
    const due = await findDue(db, conditions);
    if (signal.aborted) return;
    for (const [at, watch] of watches.entries()) if (due[at] && mayBegin(watch)) begin(watch);
  };
  const watch = async () => {
    while (!signal.aborted) {
      await look().catch(note);
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  const watching = watch();
  return {
    begin,
    stop: async () => {
      stopping.abort();
      await watching;
      await Promise.all(running.values());
    },
  };
}
