/** What every peer is asked, how often, and what is promised of our answer. A round's question differs from the one before, so that no kept answer is measured unless that is the question. */
import type { PeerName } from './peer.ts';

export type Question =
  'hourly' | 'distinct' | 'distinct again' | 'page of 100' | 'page of 20' | 'CSV' | 'Arrow' | 'record' | 'messages' | 'ingestion';

/** Ours takes at most so many times a peer's milliseconds, and so many more. */
interface Bar {
  peer: PeerName;
  times: number;
  plus: number;
}

interface Shape {
  says: string;
  rounds: number;
  bar?: Bar;
}

export const RECORDS = 1_000;
export const AT_ONCE = 10;
export const MESSAGES = 5_000;
export const INGESTED = 100_000;

export const QUESTIONS: Readonly<Record<Question, Shape>> = {
  hourly: { says: 'mean and number of each hour', rounds: 15 },
  distinct: { says: 'the first 1,000 distinct sensors', rounds: 15, bar: { peer: 'DuckDB', times: 1.3, plus: 5 } },
  'distinct again': { says: 'the same, asked before', rounds: 15, bar: { peer: 'DuckDB', times: 0, plus: 6 } },
  'page of 100': {
    says: 'the newest 100 rows of a filter, and how many there are',
    rounds: 15,
    bar: { peer: 'DuckDB', times: 2, plus: 10 },
  },
  'page of 20': { says: 'the newest 20 rows, then the next, and how many there are', rounds: 15 },
  CSV: { says: 'every row as CSV', rounds: 5 },
  Arrow: { says: 'every row as an Arrow stream', rounds: 5, bar: { peer: 'ROAPI', times: 1 / 0.8, plus: 0 } },
  record: { says: `${RECORDS} requests of one small document, ${AT_ONCE} at a time`, rounds: 9 },
  messages: { says: `${MESSAGES} messages of ${AT_ONCE} devices, each acknowledged (QoS 1, TLS)`, rounds: 5 },
  ingestion: { says: `${INGESTED} rows, until they are counted`, rounds: 5 },
};

/** What an answer holds, by which answers of different forms are compared. */
export interface Facts {
  rows: number;
  /** Of a column or two of the rows. */
  sum: number;
}

/** Values that distinct asks for at most; each round another number. */
export const distinctLimit = (round: number): number => 1_000 - round;
/** The least reading that the page of 100 asks for; each round another. */
export const leastSpad = (round: number): number => 45 + round / 1_000_000;

export const FIRST_HOUR = '2024-01-01T00:00:00Z';

export const sum = (values: readonly unknown[]): number => values.reduce<number>((total, value) => total + Number(value ?? 0), 0);

/** The facts of hours: their number, and what their means and numbers of rows come to. */
export const hourFacts = (means: readonly unknown[], counts: readonly unknown[]): Facts => ({
  rows: means.length,
  sum: sum(means) + sum(counts),
});

/** The facts of names such as `S-00042`. */
export const sensorFacts = (names: readonly string[]): Facts => ({ rows: names.length, sum: sum(names.map((name) => name.slice(2))) });

/** The facts of a page: how many rows there are, and the readings of those on the page. */
export const pageFacts = (total: unknown, readings: readonly unknown[]): Facts => ({ rows: Number(total), sum: sum(readings) });
