/** The service's clock. */
export interface ServerTime {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  utcTimestampMs: number;
  /** Whole seconds since 1970-01-01T00:00:00Z. */
  utcTimestampSec: number;
  /** The same instant, ISO 8601 in UTC. */
  iso: string;
}

/** That the process answers. */
export interface Liveness {
  /** Always `ok`. */
  status: 'ok';
}

/** That requests can be served. */
export interface Readiness {
  /** Always `ready`. */
  status: 'ready';
}
