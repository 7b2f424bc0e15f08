// DuckDB in a process of its own, so that its processor time and memory are its own: opens the file that is named, runs the statements that come, one JSON list of them a
// line, and prints how long they took and the rows of each.
import { createInterface } from 'node:readline';
import { DuckDBInstance } from '@duckdb/node-api';

const [path = ':memory:', threads = '2'] = process.argv.slice(2);
const instance = await DuckDBInstance.create(path, { threads });
const connection = await instance.connect();
await connection.run(`set timezone = 'UTC'`);
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const statements = JSON.parse(line) as string[];
  const start = performance.now();
  const answers = [];
  for (const statement of statements) answers.push((await connection.runAndReadAll(statement)).getRowsJson());
  process.stdout.write(`${JSON.stringify({ milliseconds: performance.now() - start, answers })}\n`);
}
