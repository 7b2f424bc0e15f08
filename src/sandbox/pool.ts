import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { errors } from '../errors.ts';
import type { ProcessSource } from './batch.ts';
import type { MacroJob, MacroLanguage } from './job.ts';
import { MacroProcess, type Launch } from './process.ts';

export interface PoolSettings {
  /** The command of the next process of a language. `hurried`: somebody waits for it. */
  launch: (language: MacroLanguage, hurried: boolean) => Launch;
  /** Started processes that wait for work, per language that was used in the last `unusedMs`. */
  warm: number;
  unusedMs: number;
}

/** A process is replaced after this many items. */
const ITEMS_PER_PROCESS = 5_000;
/** How long a process waits for the next batch of the same caller and version before it ends, and how many wait in this way, over all callers. */
const KEPT_MS = 10_000;
const MOST_KEPT = 4;

/** A start takes from the processor what others need. It waits until nobody has asked for `QUIET_MS`, but for no longer than `LATEST_MS`. */
const QUIET_MS = 250;
const LATEST_MS = 3_000;

/** What a process is bound to from its first item on. */
const owner = ({ language, caller, version, code }: MacroJob): string =>
  JSON.stringify([language, caller, version, createHash('sha256').update(code).digest('base64')]);

/**
 * Processes, each of which serves one caller's use of one macro version and is then thrown away. From the first use of a language on, the next ones are started
 * ahead of need, until it is used no more.
 */
export class Pool {
  readonly #settings: PoolSettings;
  readonly #waiting = new Map<MacroLanguage, MacroProcess[]>();
  readonly #kept = new LRUCache<string, MacroProcess>({
    max: MOST_KEPT,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    dispose: (process, _owner, reason) => {
      if (reason !== 'delete') process.kill();
    },
  });
  readonly #all = new Set<MacroProcess>();
  /** Languages that lack a waiting process, with the time since when. */
  readonly #lacking = new Map<MacroLanguage, number>();
  /** Ends the waiting processes of a language: one of python with pandas holds 100 MB. */
  readonly #unused = new Map<MacroLanguage, NodeJS.Timeout>();
  #refill: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Starts a process. Errors: `shuttingDown` when the pool is closed, because nobody would end it. */
  start(language: MacroLanguage, hurried = true): MacroProcess {
    if (this.#closed) throw errors.shuttingDown();
    const process = new MacroProcess(this.#settings.launch(language, hurried));
    this.#all.add(process);
    void process.ended.then(() => this.#all.delete(process));
    return process;
  }

  sourceFor(job: MacroJob): ProcessSource {
    const key = owner(job);
    return {
      itemsPerProcess: ITEMS_PER_PROCESS,
      take: () => {
        const process = this.#takeKept(key) ?? this.#takeWarm(job.language);
        this.#refillSoon();
        this.#endUnusedLater(job.language);
        return process;
      },
      giveBack: (process, sound) => {
        if (sound && !this.#closed && !this.#kept.has(key)) this.#kept.set(key, process);
        else process.kill();
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#refill);
    for (const timer of this.#unused.values()) clearTimeout(timer);
    this.#kept.clear();
    const ended = [...this.#all].map((process) => process.ended);
    for (const process of this.#all) process.kill();
    await Promise.all(ended);
  }

  /** Starts processes until as many wait as are wished. */
  #fill(language: MacroLanguage): void {
    if (this.#closed) return;
    const waiting = this.#takeWaiting(language);
    while (waiting.length < this.#settings.warm) waiting.push(this.start(language, false));
    this.#waiting.set(language, waiting);
  }

  #refillSoon(): void {
    if (this.#lacking.size === 0) return;
    clearTimeout(this.#refill);
    const latest = Math.min(...this.#lacking.values()) + LATEST_MS - performance.now();
    this.#refill = setTimeout(
      () => {
        const languages = [...this.#lacking.keys()];
        this.#lacking.clear();
        for (const language of languages) this.#fill(language);
      },
      Math.max(0, Math.min(QUIET_MS, latest)),
    ).unref();
  }

  #takeKept(key: string): MacroProcess | undefined {
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    return kept?.alive === true ? kept : undefined;
  }

  /** Takes the processes of a language that wait and still live. */
  #takeWaiting(language: MacroLanguage): MacroProcess[] {
    const waiting = this.#waiting.get(language) ?? [];
    this.#waiting.delete(language);
    return waiting.filter((process) => process.alive);
  }

  #takeWarm(language: MacroLanguage): MacroProcess {
    const [process, ...others] = this.#takeWaiting(language);
    this.#waiting.set(language, others);
    if (!this.#lacking.has(language)) this.#lacking.set(language, performance.now());
    return process ?? this.start(language);
  }

  #endUnusedLater(language: MacroLanguage): void {
    clearTimeout(this.#unused.get(language));
    const end = () => {
      for (const process of this.#takeWaiting(language)) process.kill();
    };
    this.#unused.set(language, setTimeout(end, this.#settings.unusedMs).unref());
  }
}
