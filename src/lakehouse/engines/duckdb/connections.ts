import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { errors } from '../../../errors.ts';
import { waitInLine, type Waiter } from '../../../waiting.ts';
import { makeStopError, Stop } from '../../terms/stop.ts';
import type { RunOptions } from '../../terms/warehouse.ts';

type Running = Pick<RunOptions, 'onReading'> & { signal: AbortSignal };

/** Work on a connection that nobody else uses meanwhile. */
export type Work<T> = (connection: DuckDBConnection, signal: AbortSignal) => Promise<T>;

/** Milliseconds between two looks at how far a statement has read. */
const LOOK_MS = 500;

/**
 * Keeps the connections of one in-memory instance. A connection runs one statement at a time, because a second would interrupt the first. A statement ends only
 * when the engine says so: `running` counts what the engine still works on, cancelled or not.
 */
export class DuckDbConnections {
  #running = 0;
  #closed = false;
  readonly #idle: DuckDBConnection[];
  readonly #waiting: Waiter<DuckDBConnection>[] = [];

  private constructor(connections: DuckDBConnection[]) {
    this.#idle = connections;
  }

  /** Opens `count` connections and runs `settings` on each. Once the engine's configuration is locked, nobody can change it. */
  static async open(instance: DuckDBInstance, count: number, settings: readonly string[] = []): Promise<DuckDbConnections> {
    const connections: DuckDBConnection[] = [];
    for (let at = 0; at < count; at += 1) {
      const connection = await instance.connect();
      for (const setting of settings) await connection.run(setting);
      connections.push(connection);
    }
    return new DuckDbConnections(connections);
  }

  get running(): number {
    return this.#running;
  }

  /**
   * Runs `work` on a connection of its own. An abort, or `timeoutMs` after the call, interrupts the engine until it stops. `work` gets the signal that says so,
   * for anything it awaits besides the engine. Throws `errors.warehouseTimeout` or the signal's reason; other failures as the engine gave them.
   */
  async use<T>({ onReading, ...options }: RunOptions, work: Work<T>): Promise<T> {
    const stop = new Stop(options);
    try {
      const connection = await this.#acquire(stop.signal);
      try {
        return await this.#run(connection, { signal: stop.signal, onReading }, work);
      } finally {
        this.#release(connection);
      }
    } finally {
      stop.clear();
    }
  }

  async #run<T>(connection: DuckDBConnection, { signal, onReading }: Running, work: Work<T>): Promise<T> {
    const look = () => {
      const { percentage } = connection.progress;
      if (percentage >= 0) onReading?.(percentage / 100);
    };
    const looking = onReading && setInterval(look, LOOK_MS);
    // the engine forgets an interrupt that arrives while it plans a statement, so the interrupt is repeated
    let again: ReturnType<typeof setInterval> | undefined;
    const interrupt = () => {
      connection.interrupt();
      again ??= setInterval(() => connection.interrupt(), 20);
    };
    this.#running += 1;
    try {
      if (signal.aborted) throw makeStopError(signal);
      signal.addEventListener('abort', interrupt, { once: true });
      return await work(connection, signal);
    } catch (error) {
      throw signal.aborted ? makeStopError(signal) : error;
    } finally {
      this.#running -= 1;
      clearInterval(looking);
      clearInterval(again);
      signal.removeEventListener('abort', interrupt);
    }
  }

  async #acquire(signal: AbortSignal): Promise<DuckDBConnection> {
    if (this.#closed) throw errors.shuttingDown();
    if (signal.aborted) throw makeStopError(signal);
    return this.#idle.pop() ?? (await waitInLine(this.#waiting, signal));
  }

  #release(connection: DuckDBConnection): void {
    if (this.#closed) {
      connection.closeSync();
      return;
    }
    const next = this.#waiting.shift();
    if (next) next.go(connection);
    else this.#idle.push(connection);
  }

  /** Refuses all who wait or still come. Connections in use close when their statement ends. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(errors.shuttingDown());
    for (const connection of this.#idle.splice(0)) connection.closeSync();
  }
}
