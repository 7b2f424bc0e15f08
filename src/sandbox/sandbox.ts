import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errors } from '../errors.ts';
import { runBatch } from './batch.ts';
import { Checker } from './checker.ts';
import { LANGUAGES, type BatchResult, type CompileProblem, type LevelReport, type MacroJob, type MacroLanguage } from './job.ts';
import { Pool } from './pool.ts';
import { chooseLevels, type Prepared, type ProbeSettings } from './probe.ts';
import { FairQueue } from './queue.ts';
import { findRuntimes } from './runtimes.ts';
import { decodeSource } from './source.ts';

/** Runs untrusted macros in python, r and javascript, alike in all three, in boxes that nothing leaves. */
export interface Sandbox {
  level(language: MacroLanguage): LevelReport;
  /**
   * Runs a macro over items, in order; failures are results. Throws `macroQueueFull` (429) when the caller has too many jobs waiting,
   * `macroRuntimeUnavailable` (503), `shuttingDown` (503), or the reason of `job.signal`.
   */
  run(job: MacroJob): Promise<BatchResult>;
  /**
   * Why code would not start; nothing of it is run. Empty when it would, or when the language is unavailable. Throws `macroQueueFull` (429) when the caller
   * has too many codes waiting, and `shuttingDown` (503).
   */
  check(language: MacroLanguage, code: string, caller: string): Promise<CompileProblem[]>;
  /** Jobs and processes at this moment, for gauges. */
  load(): { running: number; waiting: number; processes: number };
  close(): Promise<void>;
}

export interface SandboxSettings {
  /** `src/sandbox/runtimes` of the package. */
  runtimesFolder: string;
  /** Languages to offer; all three without it. */
  languages?: readonly MacroLanguage[];
  /** `best` (the default) takes bubblewrap where it works and embedded elsewhere. */
  level?: ProbeSettings['level'];
  /** Whether embedded processes may run as root where another user cannot read the program's files. */
  acceptRoot?: boolean;
  /** A folder of ours that outlives the process: the memory of a ready Pyodide is kept there, which saves seconds at start. */
  keepIn?: string;
  python?: string;
  /** Jobs that run at once. */
  running?: number;
  /** Jobs that one caller may have waiting. */
  waitingPerCaller?: number;
  /** Waiting processes per language that was used in the last `unusedMs`: one, and ten minutes. */
  warm?: number;
  unusedMs?: number;
  memoryMb?: number;
}

/** Starts what is configured; takes as long as the slowest interpreter needs to start. */
export const openSandbox = async (settings: SandboxSettings): Promise<Sandbox> => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldlake-sandbox-'));
  await chmod(folder, 0o755);
  const languages = settings.languages ?? LANGUAGES;
  const prepared = await chooseLevels(
    {
      runtimes: findRuntimes(settings.runtimesFolder),
      folder,
      keepIn: settings.keepIn,
      level: settings.level ?? 'best',
      acceptRoot: settings.acceptRoot ?? false,
      python: settings.python ?? '/usr/bin/python3',
      node: process.execPath,
      limits: { memoryMb: settings.memoryMb ?? 1536, cpuSeconds: 3_000, fileMb: 32 },
    },
    languages,
  );
  const queue = new FairQueue(settings.running ?? 2, settings.waitingPerCaller ?? 8);
  const preparedFor = (language: MacroLanguage): Prepared =>
    prepared.get(language) ?? { level: 'unavailable', reason: 'it is not configured' };
  const requireLaunch = (language: MacroLanguage) => {
    const { launch } = preparedFor(language);
    if (launch === undefined) throw errors.macroRuntimeUnavailable(language);
    return launch;
  };
  const pool = new Pool({
    launch: (language, hurried) => requireLaunch(language)(hurried),
    warm: settings.warm ?? 1,
    unusedMs: settings.unusedMs ?? 600_000,
  });
  const checkers = new Map<MacroLanguage, Checker>();
  let closed = false;

  return {
    level: (language) => {
      const { level, reason } = preparedFor(language);
      return { level, reason };
    },
    run: async (job) => {
      if (closed) throw errors.shuttingDown();
      requireLaunch(job.language);
      const release = await queue.place(job.caller, job.signal);
      const started = performance.now();
      try {
        const decoded = { ...job, code: decodeSource(job.code) };
        const answered = await runBatch(decoded, pool.sourceFor(decoded));
        return { ...answered, durationMs: performance.now() - started };
      } finally {
        release();
      }
    },
    check: async (language, code, caller) => {
      if (closed) throw errors.shuttingDown();
      if (preparedFor(language).launch === undefined) return [];
      const checker = checkers.get(language) ?? new Checker(() => pool.start(language));
      checkers.set(language, checker);
      return checker.check(decodeSource(code), caller);
    },
    load: () => ({ ...queue.load, processes: pool.size }),
    close: async () => {
      closed = true;
      await pool.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
