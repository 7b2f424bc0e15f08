/** A load that does not wait for answers, from a process of its own: `node load.ts '<JSON of Load>'` prints the JSON of a Tally. */
import { Agent, request } from 'node:http';

export interface Load {
  baseUrl: string;
  /** API keys, and paths that `{n}` makes different each time: taken in turns, or one by each sender. */
  keys: readonly string[];
  paths: readonly string[];
  seconds: number;
  /** Requests a second, sent whatever becomes of those before; or so many senders, each of which waits for its answer. */
  pace: { perSecond: number } | { senders: number };
}

export interface Tally {
  sent: number;
  /** Answers by status; 0: no answer came. */
  statuses: Record<string, number>;
  /** Of answers 200, until their last byte, in milliseconds. */
  accepted: { p50: number; p95: number; p99: number };
  refused: { p95: number };
  /** Refusals without a Retry-After of at least a second, or of another type than a problem document. */
  bare: number;
  seconds: number;
}

const quantile = (sorted: Float64Array, share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

/** Runs a load in this process. */
async function run({ baseUrl, keys, paths, seconds, pace }: Load): Promise<Tally> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });
  const { hostname, port } = new URL(baseUrl);
  const tally: Tally = { sent: 0, statuses: {}, accepted: { p50: 0, p95: 0, p99: 0 }, refused: { p95: 0 }, bare: 0, seconds };
  const [accepted, refused]: [number[], number[]] = [[], []];
  const began = performance.now();
  const ask = (turn?: number) =>
    new Promise<void>((resolve) => {
      const n = (tally.sent += 1);
      const whose = turn ?? n;
      const start = performance.now();
      const note = (status: number) => {
        tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
        if (status === 200) accepted.push(performance.now() - start);
        else refused.push(performance.now() - start);
        resolve();
      };
      const path = (paths[whose % paths.length] ?? '').replace('{n}', String(n));
      const outgoing = request({ hostname, port, path, agent, headers: { 'x-api-key': keys[whose % keys.length] } }, (answer) => {
        const { statusCode = 0, headers } = answer;
        const isProblem = headers['content-type']?.startsWith('application/problem+json') === true;
        if (statusCode !== 200 && !(Number(headers['retry-after']) >= 1 && isProblem)) tally.bare += 1;
        answer.resume();
        answer.once('end', () => note(statusCode));
        answer.once('error', () => note(0));
      });
      outgoing.once('error', () => note(0));
      outgoing.end();
    });
  const isOver = () => performance.now() - began > seconds * 1_000;
  if ('senders' in pace)
    await Promise.all(
      Array.from({ length: pace.senders }, async (_, sender) => {
        while (!isOver()) await ask(sender);
      }),
    );
  else {
    const open = new Set<Promise<void>>();
    while (!isOver()) {
      // as many as should have been sent by now
      const due = Math.floor(((performance.now() - began) / 1_000) * pace.perSecond);
      while (tally.sent < due) {
        const one = ask().finally(() => open.delete(one));
        open.add(one);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await Promise.all(open);
  }
  agent.destroy();
  const sorted = Float64Array.from(accepted).sort();
  tally.accepted = { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), p99: quantile(sorted, 0.99) };
  tally.refused = { p95: quantile(Float64Array.from(refused).sort(), 0.95) };
  tally.seconds = (performance.now() - began) / 1_000;
  return tally;
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}') as Load))}\n`);
