/** What is handed to the sandbox and what comes back. Everything is plain JSON data; times are in milliseconds. */
export const LANGUAGES = ['python', 'r', 'javascript'] as const;
export type MacroLanguage = (typeof LANGUAGES)[number];

/** `bubblewrap` and `embedded` contain the macro; at `unavailable` nothing runs. */
export type Level = 'bubblewrap' | 'embedded' | 'unavailable';

export interface LevelReport {
  level: Level;
  /** Why it is not a better level, and what to install; empty at `bubblewrap`. */
  reason: string;
}

export interface MacroItem {
  id: string;
  /** What the macro sees as `json`. */
  data: unknown;
  /** What the macro sees, read-only, as `ctx`. */
  context?: Readonly<Record<string, unknown>>;
}

export interface MacroJob {
  language: MacroLanguage;
  /** Source text, or the canonical base64 of printable UTF-8. */
  code: string;
  /** Names the macro and its version: a process never serves two of them. */
  version: string;
  /** Fairness key: who is asking. A process never serves two of them. */
  caller: string;
  items: readonly MacroItem[];
  /** For all items together, from the moment the first process is ready. */
  timeoutMs: number;
  itemTimeoutMs: number;
  /** Bytes of what all items answer, together; once there are more, the items that follow are cut off. */
  outputBytes?: number | undefined;
  /** What the clock says to the macro (epoch milliseconds). Without it the clocks of javascript and python's `datetime` are not patched. */
  clock?: number;
  signal?: AbortSignal;
}

export interface MacroError {
  /** `ValueError`, `TypeError`, `simpleError`, `SyntaxError`; ours are TimeoutError, CrashError, OutputError, MemoryError. */
  type: string;
  message: string;
  /** 1-based, in the macro's own text. */
  line?: number;
  column?: number;
}

/** Prints an error as one sentence. A plain error is told by its message alone. */
export const printMacroError = ({ type, message }: MacroError): string =>
  ['Error', 'simpleError'].includes(type) ? message : `${type}: ${message}`;

export interface ItemResult {
  id: string;
  success: boolean;
  output?: Record<string, unknown>;
  error?: MacroError;
  /** One of the batch's own limits cut this item off, whether it had begun or not: it may be tried again. */
  unfinished?: true;
  /** What the macro printed, a line each; cut at 64 kB. */
  logs: string[];
  durationMs: number;
}

export interface BatchResult {
  /** One result for each item, in the order of the items. */
  results: ItemResult[];
  /** Bytes of what the items answered. */
  outputBytes: number;
  durationMs: number;
}

/** A reason why code would not start. It is a warning when a macro is saved, not a refusal. */
export interface CompileProblem {
  line: number;
  column: number;
  message: string;
}

/** Bytes of output per item; more is an `OutputError`. The runtimes cut logs at 64 kB. */
export const OUTPUT_BYTES = 10_000_000;
/** Bytes of what all items of a batch answer together, unless the job says less: what is kept in memory until the batch is done. */
export const BATCH_BYTES = 64_000_000;
/** Levels of nesting that an output may have, because the code that prints it afterwards is recursive. */
export const OUTPUT_DEPTH = 100;

/** The parent's clock runs out this much later than the one inside the process, which can stop an item without losing the process. */
export const KILL_GRACE_MS = 250;

/** How long a process may take to start. One that could not get a thread may wait for ever. */
export const START_MS = 30_000;

/** How long a process may take to read a macro, before its first item starts. */
export const READ_MS = 5_000;
