import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { MacroLanguage } from '../src/sandbox/job.ts';

const FOLDER = join(import.meta.dirname, 'yardsticks');

/** A macro in an interpreter without a box and without a harness. */
export interface Bare {
  /** Gives it a macro's text; what `run` takes afterwards does not hold the reading of it. */
  load(code: string): Promise<void>;
  /** Milliseconds for all items, one after the other: read JSON, call, print JSON. Measured inside. */
  run(items: readonly object[]): Promise<number>;
  stop(): void;
}

const commandOf = (language: MacroLanguage, level: 'bubblewrap' | 'embedded'): [string, string[]] => {
  if (language === 'r') return ['/usr/lib/R/bin/Rscript', ['--vanilla', join(FOLDER, 'bare.R')]];
  if (language === 'javascript') return [process.execPath, [join(FOLDER, 'bare-quickjs.ts')]];
  return level === 'bubblewrap' ? ['/usr/bin/python3', [join(FOLDER, 'bare.py')]] : [process.execPath, [join(FOLDER, 'bare-pyodide.ts')]];
};

/** Starts the interpreter that a language runs in at a level. */
export async function startBare(language: MacroLanguage, level: 'bubblewrap' | 'embedded'): Promise<Bare> {
  const [file, args] = commandOf(language, level);
  if (!existsSync(file)) throw new Error(`${file} is not installed`);
  const threads = { OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1' };
  const child = spawn(file, args, { env: { ...process.env, ...threads }, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { done, value } = await lines.next();
    if (done === true) throw new Error(`${file} ended`);
    return value;
  };
  const ask = async (message: object): Promise<{ ms: number }> => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    return JSON.parse(await next()) as { ms: number };
  };
  await next();
  let code: string | undefined;
  return {
    load: async (text) => {
      code = text;
      await Promise.resolve();
    },
    run: async (items) => {
      const message = { ...(code === undefined ? {} : { code }), items: items.map((item) => JSON.stringify(item)) };
      code = undefined;
      return (await ask(message)).ms;
    },
    stop: () => {
      child.kill('SIGKILL');
    },
  };
}
