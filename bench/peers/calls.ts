/** Asking by HTTP, and reading what came. */
import { Agent, request } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { RecordBatchReader } from 'apache-arrow';
import type { Asked } from './peer.ts';
import { AT_ONCE, RECORDS, type Facts } from './questions.ts';

export interface Call {
  port: number;
  path: string;
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
}

const agent = new Agent({ keepAlive: true, maxSockets: 50 });

/** Lets go of the connections of this process. */
export const closeCalls = (): void => agent.destroy();

/** Calls, and hands over what comes; rejects whatever is no success. */
export function send({ port, path, method = 'GET', headers = {}, body }: Call, onChunk: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, host: '127.0.0.1', port, path, method, headers }, (response) => {
      const status = response.statusCode ?? 0;
      let said = '';
      response.on('data', (chunk: Buffer) => {
        if (status < 300) onChunk(chunk);
        else if (said.length < 500) said += chunk.toString();
      });
      response.once('end', () => (status < 300 ? resolve() : reject(new Error(`${path} was answered ${status}: ${said}`))));
      response.once('error', reject);
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

export async function fetchBody(call: Call): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await send(call, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks);
}

export const fetchJson = async <T>(call: Call): Promise<T> => JSON.parse((await fetchBody(call)).toString()) as T;

const discard = () => undefined;

/** A question that one or more calls at once answer. */
export const askedBy = (calls: (round: number) => readonly Call[], read: (...bodies: Buffer[]) => Facts | Promise<Facts>): Asked => ({
  time: async (round) => {
    const start = performance.now();
    await Promise.all(calls(round).map((call) => send(call, discard)));
    return performance.now() - start;
  },
  facts: async () => read(...(await Promise.all(calls(0).map(fetchBody)))),
});

/** The same small request many times, some at once. */
export const askedOften = (call: Call): Asked => ({
  time: async () => {
    const start = performance.now();
    let left = RECORDS;
    const ask = async () => {
      while (left > 0) {
        left -= 1;
        await send(call, discard);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    return performance.now() - start;
  },
  facts: async () => ({ rows: 1, sum: JSON.stringify(await fetchJson(call)).length }),
});

export const json = <T>(body: Buffer | undefined): T => JSON.parse(String(body)) as T;

/** Rows of a CSV file, and what `par` comes to. */
export async function readCsvFile(path: string): Promise<Facts> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(
    `select count(*)::double, sum(par)::double from read_csv('${path}', header = true, max_line_size = 10000000)`,
  );
  const [rows, total] = reader.getRows()[0] ?? [];
  connection.closeSync();
  instance.closeSync();
  return { rows: Number(rows), sum: Number(total) };
}

/** Reads CSV that came, by way of a file. */
export const readCsv =
  (folder: string) =>
  async (body: Buffer): Promise<Facts> => {
    const path = join(folder, 'answer.csv');
    writeFileSync(path, body);
    return readCsvFile(path);
  };

export function readArrow(body: Buffer): Facts {
  const facts = { rows: 0, sum: 0 };
  for (const batch of RecordBatchReader.from(body)) {
    facts.rows += batch.numRows;
    for (const value of (batch.getChild('par')?.toArray() ?? []) as Iterable<number | bigint>) facts.sum += Number(value);
  }
  return facts;
}
