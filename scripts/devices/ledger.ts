/** What was sent, what was acknowledged, and what has been seen in the table: the books of a simulation, by row id. */
import { hashMessage, hashRowId } from '../../src/ingest/messages/ids.ts';

export interface Reconciliation {
  /** Messages. */
  published: number;
  acknowledged: number;
  /** Rows that the acknowledged messages are. */
  expected: number;
  /** Of those, the rows that are in the table once. */
  inTable: number;
  missing: string[];
  repeated: string[];
  /** Milliseconds from publishing to the first read that had all rows of the message; null when none was seen. */
  latency: { p50: number; p95: number; worst: number } | null;
}

const at = (sorted: readonly number[], share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

export class Ledger {
  readonly #experimentId: string;
  readonly #entries = new Map<string, { publishedAt: number; rows: readonly string[]; isAcknowledged: boolean }>();
  /** Acknowledged, and not seen yet: row id → message. */
  readonly #unseen = new Map<string, string>();
  readonly #latencies: number[] = [];

  constructor(experimentId: string) {
    this.#experimentId = experimentId;
  }

  publish(id: string, sender: { clientId: string } | { userId: string }, rows: number, measuredAt = new Date()): void {
    const source = hashMessage(this.#experimentId, { clientId: null, userId: null, ...sender }, { ownId: id, sha256: '' });
    const ids = Array.from({ length: rows }, (_, index) => hashRowId(source, index));
    this.#entries.set(id, { publishedAt: measuredAt.getTime(), rows: ids, isAcknowledged: false });
    this.#unseen.set(ids.at(-1) ?? '', id);
  }

  acknowledge(id: string): void {
    const entry = this.#entries.get(id);
    if (entry) entry.isAcknowledged = true;
  }

  counts(): { published: number; acknowledged: number; unseen: number } {
    const acknowledged = [...this.#entries.values()].filter((entry) => entry.isAcknowledged).length;
    return { published: this.#entries.size, acknowledged, unseen: this.#unseen.size };
  }

  /** When the oldest message was published whose rows were not seen; undefined when all were. */
  oldestUnseen(): Date | undefined {
    let oldest: number | undefined;
    for (const id of this.#unseen.values()) {
      const publishedAt = this.#entries.get(id)?.publishedAt ?? Infinity;
      if (publishedAt < (oldest ?? Infinity)) oldest = publishedAt;
    }
    return oldest === undefined ? undefined : new Date(oldest);
  }

  /** Notes rows that a read at this moment had. */
  see(rowIds: readonly string[]): void {
    for (const row of rowIds) {
      const entry = this.#entries.get(this.#unseen.get(row) ?? '');
      if (!entry) continue;
      this.#unseen.delete(row);
      this.#latencies.push(Date.now() - entry.publishedAt);
    }
  }

  /** Holds the books against everything that the table has of the time of the simulation. */
  reconcile(rowIds: readonly string[]): Reconciliation {
    const times = new Map<string, number>();
    for (const row of rowIds) times.set(row, (times.get(row) ?? 0) + 1);
    const entries = [...this.#entries.values()];
    const acknowledged = entries.filter((entry) => entry.isAcknowledged);
    const expected = acknowledged.flatMap(({ rows }) => rows);
    const sorted = [...this.#latencies].sort((a, b) => a - b);
    return {
      published: entries.length,
      acknowledged: acknowledged.length,
      expected: expected.length,
      inTable: expected.filter((row) => times.get(row) === 1).length,
      missing: expected.filter((row) => !times.has(row)),
      // also of what was stored and whose acknowledgement was lost
      repeated: entries.flatMap(({ rows }) => rows).filter((row) => (times.get(row) ?? 0) > 1),
      latency: sorted.length === 0 ? null : { p50: at(sorted, 0.5), p95: at(sorted, 0.95), worst: sorted.at(-1) ?? 0 },
    };
  }
}
