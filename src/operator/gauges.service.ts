import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../database/database.ts';
import { findLag, type Lag } from '../lakehouse/tables/delta/publisher.ts';
import { findWaiting, type Waiting } from './lake.queries.ts';

const FRESH_MS = 1_000;

const GAUGES: readonly { name: string; help: string; of: keyof Waiting }[] = [
  { name: 'pipeline_pending_messages', help: 'Messages that are acknowledged and not handled yet.', of: 'pendingMessages' },
  { name: 'pipeline_message_lag_seconds', help: 'How long the oldest of them waits.', of: 'messageLag' },
  { name: 'pipeline_pending_macro_rows', help: 'Measurements that a macro is still to run on.', of: 'pendingMacroRows' },
  { name: 'pipeline_macro_lag_seconds', help: 'How long the oldest of them waits.', of: 'macroLag' },
];

const LOG_GAUGES: readonly { name: string; help: string; of: keyof Lag }[] = [
  { name: 'lake_log_waiting_versions', help: 'Versions of lake tables that are committed and not published yet.', of: 'entries' },
  { name: 'lake_log_lag_seconds', help: 'How long the oldest of them waits.', of: 'seconds' },
];

/** Registers gauges of how far the pipeline is behind. Postgres is asked when somebody reads them, once for all of them. */
export function registerPipelineGauges(registry: Registry, db: Database): void {
  let asked: { at: number; answer: Promise<Waiting | undefined> } | undefined;
  const waiting = () => {
    const now = performance.now();
    if (!asked || now - asked.at > FRESH_MS) asked = { at: now, answer: findWaiting(db).catch(() => undefined) };
    return asked.answer;
  };
  let lag: Promise<Lag | undefined> | undefined;
  for (const { name, help, of } of LOG_GAUGES)
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        // both gauges are collected at the same time, with one query
        lag ??= findLag(db)
          .catch(() => undefined)
          .finally(() => (lag = undefined));
        const found = await lag;
        if (found) this.set(found[of]);
        else this.remove();
      },
    });
  for (const { name, help, of } of GAUGES)
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const found = await waiting();
        // a gauge without a known value is left out
        if (found) this.set(found[of]);
        else this.remove();
      },
    });
}
