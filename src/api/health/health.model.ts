/** The service's clock. */
export interface ServerTime {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  utcTimestampMs: number;
  /** Whole seconds since 1970-01-01T00:00:00Z. */
  utcTimestampSec: number;
  /** The same instant, ISO 8601 in UTC. */
  iso: string;
}

export interface Liveness {
  status: 'ok';
}

export interface Readiness {
  status: 'ready';
}
