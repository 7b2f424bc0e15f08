import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Statements of an operation that succeeds: so many, from so many to so many, or so many and more for each time that a named one is sent. */
type Row = number | readonly [number, number] | { least: number; most: number; each: Readonly<Record<string, number>> };

export const statementRows = parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'fixtures', 'access', 'statements.yaml'), 'utf8'),
) as Readonly<Record<string, Row>>;

/** A key's time of last use, which its first request of an hour writes. */
const NOW_AND_THEN = 'http.touchKey';
const AGAIN = 'transaction.again';

/** Why statements do not fit an operation's row; undefined when they do. */
export function misfitOf(operation: string, labels: readonly string[]): string | undefined {
  const row = statementRows[operation];
  if (row === undefined) return `${operation} has no row in fixtures/access/statements.yaml`;
  const counted = labels.filter((label) => label !== NOW_AND_THEN);
  const [least, most] =
    typeof row === 'number'
      ? [row, row]
      : 'each' in row
        ? [
            row.least,
            Object.entries(row.each).reduce((sum, [label, each]) => sum + each * counted.filter((one) => one === label).length, row.most),
          ]
        : row;
  if (counted.length >= least && counted.length <= most) return undefined;
  return `${operation} sent ${counted.length} statements, its row says ${JSON.stringify(row)}: ${counted.join(', ')}`;
}

export interface Seen {
  operation: string;
  labels: readonly string[];
}

/** Hears of every answer of a service in this process that succeeded, with the statements that were sent for it until then. */
export function onAnswered(heard: (seen: Seen) => void): void {
  const asked = new AsyncLocalStorage<string[]>();
  const tallies = new WeakMap<object, string[]>();
  subscribe('fieldlake.statement', (label) => asked.getStore()?.push(String(label)));
  subscribe('http.server.request.start', (message) => {
    const tally: string[] = [];
    tallies.set((message as { request: IncomingMessage }).request, tally);
    asked.enterWith(tally);
  });
  subscribe('http.server.response.finish', (message) => {
    const { request, response } = message as { request: IncomingMessage & { route?: { path: string } }; response: ServerResponse };
    const labels = [...(tallies.get(request) ?? [])];
    const isSuccess = response.statusCode < 300 || response.statusCode === 302;
    // a kept answer costs what keeping it costs; a transaction that was tried again sends its statements twice
    if (!isSuccess || request.route === undefined || request.headers['idempotency-key'] !== undefined || labels.includes(AGAIN)) return;
    heard({ operation: `${request.method ?? ''} ${request.route.path.replace(/:(\w+)/g, '{$1}')}`, labels });
  });
}
