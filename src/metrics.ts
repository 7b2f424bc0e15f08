import { setTimeout as sleep } from 'node:timers/promises';
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

export function createMetrics() {
  const registry = new Registry();
  // to see how late the loop is takes a third of the processor time of an idle process (docs/performance.md), and nobody may ever ask
  let measured: Promise<unknown> | undefined;
  const measureProcess = async () => {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
    // the first answer has something to tell
    await sleep(100);
  };
  return {
    registry,
    /** Prints everything for Prometheus. The process itself is measured from the first time on. */
    print: async () => {
      await (measured ??= measureProcess());
      return registry.metrics();
    },
    requests: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the first byte of a request to the end of its answer.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [registry],
    }),
    queries: new Histogram({
      name: 'postgres_statement_duration_seconds',
      help: 'Time of a Postgres statement by its label.',
      labelNames: ['label'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 5],
      registers: [registry],
    }),
    jobErrors: new Counter({
      name: 'job_queue_errors_total',
      help: 'Errors of the job queue, and tries of jobs that failed.',
      registers: [registry],
    }),
    measurements: new Counter({
      name: 'pipeline_measurements_total',
      help: 'Measurements of messages that this process handled, by what became of them.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    macroRows: new Counter({
      name: 'pipeline_macro_rows_total',
      help: 'Rows that macros made in this process.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
