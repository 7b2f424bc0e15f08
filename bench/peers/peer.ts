/** What a peer is to the bench: started on loopback with the same data, asked, stopped. */
import type { Facts, Question } from './questions.ts';

export type PeerName = 'fieldlake' | 'ROAPI' | 'Datasette' | 'DuckDB' | 'express and pg' | 'InfluxDB' | 'mosquitto';

export interface Asked {
  /** Asks once, without keeping the answer; milliseconds. */
  time: (round: number) => Promise<number>;
  /** Asks the first round's question, and reads the answer. */
  facts: () => Promise<Facts>;
}

export interface Peer {
  version: string;
  /** Process ids; what is below them counts too. */
  roots: readonly number[];
  asked: Partial<Readonly<Record<Question, Asked>>>;
  stop: () => Promise<void>;
}

/** The rows of our table, as files that the others load. */
export interface Data {
  /** Of this run; whoever wants files of their own makes a folder in it. */
  folder: string;
  parquet: string;
  csv: string;
  /** What is brought in anew by each round of ingestion. */
  ingested: { csv: string; parquet: string };
  /** Our answer to a small request. */
  document: { id: string };
}
