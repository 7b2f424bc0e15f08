/** A real Spark beside the tests: pyspark from PyPI in a process of its own, asked over its standard input, answering over its standard output. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Statement } from '../../src/lakehouse/terms/warehouse.ts';
import { pythonWith } from './python.ts';

/** Cells are text (numbers, so that none is rounded), booleans or null. */
export type SparkCell = string | boolean | null;
export type SparkResult = { columns: string[]; rows: SparkCell[][] } | { error: string };

interface Answer {
  id: number;
  results: SparkResult[];
}

const sent = ({ sql, values }: Statement) => ({
  sql,
  values: values.map(({ value, type }) => ({
    type: typeof value === 'bigint' ? 'bigint' : type.kind === 'string' ? 'string' : 'other',
    value: typeof value === 'bigint' ? String(value) : value,
  })),
});

export class Spark {
  /** A folder that the engine may read and write; gone with it. */
  readonly folder: string;
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer | null) => void>();
  #jobs = 0;

  private constructor(folder: string, process: ChildProcess) {
    this.folder = folder;
    this.#process = process;
  }

  /** Starts Spark (the first time it installs it: about a minute) and waits until it answers. */
  static async start(): Promise<Spark> {
    const programs = pythonWith('pyspark==4.0.1');
    const folder = mkdtempSync(join(tmpdir(), 'spark-'));
    const child = spawn(join(programs, 'python'), [join(import.meta.dirname, 'spark.py'), folder], {
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd: folder,
    });
    const spark = new Spark(folder, child);
    const ready = spark.#answer(0);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      spark.#waiting.get(answer.id)?.(answer);
      spark.#waiting.delete(answer.id);
    });
    child.once('exit', () => {
      for (const settle of spark.#waiting.values()) settle(null);
    });
    await ready;
    return spark;
  }

  /** Each statement's answer, in their order; a statement that fails says why and stops no other. */
  run(statements: readonly Statement[], how: 'run' | 'explain' = 'run'): Promise<SparkResult[]> {
    const id = (this.#jobs += 1);
    const answer = this.#answer(id);
    this.#process.stdin?.write(`${JSON.stringify({ id, how, statements: statements.map(sent) })}\n`);
    return answer;
  }

  /** The rows of one statement; throws what Spark says against it. */
  async rows(sql: string, values: Statement['values'] = []): Promise<SparkCell[][]> {
    const [result] = await this.run([{ sql, values }]);
    if (!result || 'error' in result) throw new Error(`${result?.error ?? 'no answer'}\n\n${sql}`);
    return result.rows;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null) {
      const gone = once(this.#process, 'exit');
      this.#process.stdin?.end();
      const late = setTimeout(() => this.#process.kill('SIGKILL'), 20_000);
      await gone;
      clearTimeout(late);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #answer(id: number): Promise<SparkResult[]> {
    const answer = await new Promise<Answer | null>((resolve) => this.#waiting.set(id, resolve));
    if (!answer) throw new Error('Spark has stopped.');
    return answer.results;
  }
}
