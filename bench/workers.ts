/** How much faster two workers put waiting messages into tables than one does. */
import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createUser } from '../src/api/account/account.service.ts';
import { addExperiment } from '../src/api/experiments/experiments.service.ts';
import { openDatabase } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { sql } from '../src/database/sql.ts';
import { anyMessageWaiting } from '../src/ingest/messages/messages.queries.ts';
import { pairs, type Measured } from './pairs.ts';
import { messageAt, store } from './pipeline.ts';
import { serve, stop } from './seed-reads.ts';

/** Experiments that messages are for: a worker takes one at a time. */
const EXPERIMENTS = 8;

/**
 * Bound: at least 1.6. Each worker has a core of its own; Postgres and the engine have whatever is left, so that on two cores two workers share with
 * them what one worker leaves free.
 */
export async function benchWorkers(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const messages = Number(process.env['ROWS'] ?? 80_000);
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 4 });
  const settings = {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    BASE_URL: 'http://127.0.0.1:3000',
    DUCKDB_THREADS: '1',
    DUCKDB_MEMORY_MB: '512',
    LOG_LEVEL: 'warn',
  };
  // to count what waits took Postgres half a core, which two workers needed
  const isAnyWaiting = async () =>
    (await db.one<{ waiting: boolean }>(sql('bench.isAnyWaiting')`select ${anyMessageWaiting} as waiting`))?.waiting ?? false;
  const person = await createUser(db, { email: 'workers@example.org', firstName: 'A', lastName: 'Worker', verified: true });
  const makeExperiment = (name: string) =>
    db.transaction((tx) => addExperiment(tx, { userId: person.id, requestId: 'bench' }, { name, organizationId: person.organizationId }));
  let rounds = 0;
  /** Messages a second that so many workers put into tables, from when they are let go until none waits. */
  const drain = (workers: number) => async (): Promise<number> => {
    const started = [];
    for (let at = 0; at < workers; at += 1) {
      const { child } = await serve(settings, ['worker']);
      execFileSync('taskset', ['-acp', String(at % availableParallelism()), String(child.pid)], { stdio: 'ignore' });
      // it looks for messages when all of them are there
      child.kill('SIGSTOP');
      started.push(child);
    }
    rounds += 1;
    const texts = Array.from({ length: messages / EXPERIMENTS }, (_, n) => messageAt(n, Date.UTC(2026, 4, 1), `m-${rounds}`));
    for (let at = 0; at < EXPERIMENTS; at += 1) await store(db, await makeExperiment(`${rounds} ${at}`), texts);
    const start = performance.now();
    for (const child of started) child.kill('SIGCONT');
    while (await isAnyWaiting()) await sleep(100);
    const seconds = (performance.now() - start) / 1_000;
    for (const child of started) await stop(child);
    const other = await db.one(sql('bench.setAside')`select id, status, reasons from inbox where status <> 'stored' limit 1`);
    if (other) throw new Error(`a message was not stored: ${JSON.stringify(other)}`);
    return messages / seconds;
  };
  await drain(2)();
  onMeasured(await pairs('messages a second by two workers against one', drain(2), drain(1), Number(process.env['PAIRS'] ?? 5)));
  await db.close();
}
