import { Gauge, type Registry } from 'prom-client';
import { findClockLead } from '../database/clock.ts';
import type { Database } from '../database/database.ts';
import { findLag, type Lag } from '../lakehouse/tables/delta/publisher.ts';
import { findWaiting, type Waiting } from './lake.queries.ts';

interface GaugeOf<T> {
  name: string;
  help: string;
  of: keyof T;
}

const GAUGES: readonly GaugeOf<Waiting>[] = [
  { name: 'pipeline_pending_messages', help: 'Messages that are acknowledged and not handled yet.', of: 'pendingMessages' },
  { name: 'pipeline_message_lag_seconds', help: 'How long the oldest of them waits.', of: 'messageLag' },
  { name: 'pipeline_pending_macro_rows', help: 'Measurements that a macro is still to run on.', of: 'pendingMacroRows' },
  { name: 'pipeline_macro_lag_seconds', help: 'How long the oldest of them waits.', of: 'macroLag' },
];

const LOG_GAUGES: readonly GaugeOf<Lag>[] = [
  { name: 'lake_log_waiting_versions', help: 'Versions of lake tables that are committed and not published yet.', of: 'entries' },
  { name: 'lake_log_lag_seconds', help: 'How long the oldest of them waits.', of: 'seconds' },
];

const CLOCK_GAUGES: readonly GaugeOf<{ seconds: number }>[] = [
  { name: 'machine_clock_ahead_seconds', help: 'How far the clock of this machine is ahead of that of Postgres.', of: 'seconds' },
];

/** Makes a question that is asked once for all who ask before it is answered. Its answer is unknown where that fails. */
function shareAnswer<T>(ask: () => Promise<T | undefined>): () => Promise<T | undefined> {
  let answer: Promise<T | undefined> | undefined;
  return () =>
    (answer ??= ask()
      .catch(() => undefined)
      .finally(() => (answer = undefined)));
}

/** Registers gauges of how far the pipeline is behind, and the clock ahead. Postgres is asked when somebody reads them, once for all of them. */
export function registerPipelineGauges(registry: Registry, db: Database): void {
  const register = <T extends Record<keyof T, number>>(gauges: readonly GaugeOf<T>[], find: () => Promise<T | undefined>) => {
    const ask = shareAnswer(find);
    for (const { name, help, of } of gauges)
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          const found = await ask();
          // a gauge without a known value is left out
          if (found) this.set(found[of]);
          else this.remove();
        },
      });
  };
  register(GAUGES, () => findWaiting(db));
  register(LOG_GAUGES, () => findLag(db));
  register(CLOCK_GAUGES, () => findClockLead(db));
}
