import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../database/database.ts';
import { findLag, type Lag } from '../lakehouse/tables/delta/publisher.ts';
import { findWaiting, type Waiting } from './lake.queries.ts';

const FRESH_MS = 1_000;

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

/** Registers gauges of how far the pipeline is behind. Postgres is asked when somebody reads them, once for all of them. */
export function registerPipelineGauges(registry: Registry, db: Database): void {
  const register = <T extends Record<keyof T, number>>(gauges: readonly GaugeOf<T>[], find: () => Promise<T | undefined>) => {
    for (const { name, help, of } of gauges)
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          const found = await find();
          // a gauge without a known value is left out
          if (found) this.set(found[of]);
          else this.remove();
        },
      });
  };
  let asked: { at: number; answer: Promise<Waiting | undefined> } | undefined;
  register(GAUGES, () => {
    const now = performance.now();
    if (!asked || now - asked.at > FRESH_MS) asked = { at: now, answer: findWaiting(db).catch(() => undefined) };
    return asked.answer;
  });
  let lag: Promise<Lag | undefined> | undefined;
  // both gauges are collected at the same time, with one query
  register(LOG_GAUGES, () => {
    lag ??= findLag(db)
      .catch(() => undefined)
      .finally(() => (lag = undefined));
    return lag;
  });
}
