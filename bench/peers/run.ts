/**
 * The same questions to fieldlake and to other people's programs over the same rows, in turns. Each is started on loopback and stays up; answers are compared before they are
 * timed. Whoever cannot be installed or started is named, and the others go on.
 */
import { usageOf, forgetPeaks, peakOf } from '../usage.ts';
import { quantile } from '../pairs.ts';
import { closeCalls } from './calls.ts';
import { startDatasette } from './datasette.ts';
import { startDuckDb } from './duckdb.ts';
import { startExpress } from './express.ts';
import { startFieldlake } from './fieldlake.ts';
import { startInfluxDb } from './influxdb.ts';
import { startMosquitto } from './mosquitto.ts';
import type { Asked, Data, Peer, PeerName } from './peer.ts';
import { QUESTIONS, sum, type Facts, type Question } from './questions.ts';
import { startRoapi } from './roapi.ts';
import type { Line, Outcome } from './table.ts';

const STARTS: Readonly<Record<Exclude<PeerName, 'fieldlake'>, (data: Data) => Promise<Peer>>> = {
  ROAPI: startRoapi,
  Datasette: startDatasette,
  DuckDB: startDuckDb,
  'express and pg': startExpress,
  InfluxDB: startInfluxDb,
  mosquitto: startMosquitto,
};

/** Before anything is measured each is asked so often, or for so long: a new server's first requests take longer. */
const WARM_UPS = 12;
const WARM_MS = 2_000;
/** Who has taken so long for a question is not asked it again. */
const LONGEST_MS = 45_000;

interface Asking {
  name: PeerName;
  peer: Peer;
  asked: Asked;
}

const why = (error: unknown) => (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';

const isSame = (a: Facts, b: Facts) => a.rows === b.rows && Math.abs(a.sum - b.sum) <= 1e-6 * Math.abs(a.sum);

/** Those whose answer is ours, and what the others answered. */
async function compare(all: readonly Asking[], onMissing: (name: PeerName, why: string) => void): Promise<Asking[]> {
  const same: Asking[] = [];
  let ours: Facts | undefined;
  for (const asking of all) {
    try {
      const facts = await asking.asked.facts();
      ours ??= facts;
      if (isSame(ours, facts)) same.push(asking);
      else onMissing(asking.name, `which answered ${facts.rows} rows and a sum of ${facts.sum}, and not ${ours.rows} and ${ours.sum}`);
    } catch (error) {
      onMissing(asking.name, why(error));
    }
  }
  return same;
}

async function warm(asked: Asked): Promise<void> {
  const until = performance.now() + WARM_MS;
  for (let round = 1; round <= WARM_UPS && performance.now() < until; round += 1) await asked.time(round);
}

/** One question to all who answer it, each round beginning with another of them. */
async function measure(question: Question, all: readonly Asking[]): Promise<Line[]> {
  const rounds = Math.min(QUESTIONS[question].rounds, Number(process.env['PAIRS'] ?? Infinity));
  const taken = all.map(() => ({ milliseconds: [] as number[], seconds: 0 }));
  for (const { asked } of all) await warm(asked);
  for (const { peer } of all) forgetPeaks(peer.roots);
  for (let round = 0; round < rounds; round += 1)
    for (let turn = 0; turn < all.length; turn += 1) {
      const at = (round + turn) % all.length;
      const [asking, into] = [all[at], taken[at]];
      if (!asking || !into || sum(into.milliseconds) > LONGEST_MS) continue;
      const before = usageOf(asking.peer.roots);
      into.milliseconds.push(await asking.asked.time(WARM_UPS + 1 + round));
      into.seconds += usageOf(asking.peer.roots) - before;
    }
  return all.map(({ name, peer }, at) => ({
    question,
    peer: name,
    milliseconds: quantile(taken[at]?.milliseconds ?? [], 0.5),
    processor: ((taken[at]?.seconds ?? NaN) * 1_000) / (taken[at]?.milliseconds.length ?? NaN),
    peakMib: peakOf(peer.roots),
  }));
}

/** Measures everybody, by all questions or by one. `ROWS` makes the table smaller than 2 million, `PAIRS` the rounds fewer. */
export async function benchPeers(url: string, dataDir: string, only?: string): Promise<Outcome> {
  const rows = Number(process.env['ROWS'] ?? 2_000_000);
  const note = (text: string) => process.stderr.write(`${text}\n`);
  const peers = new Map<PeerName, Peer>();
  const missing: { peer: PeerName; why: string }[] = [];
  const onMissing = (peer: PeerName, reason: string) => {
    missing.push({ peer, why: reason });
    note(`not measured: ${peer}, ${reason}`);
  };
  try {
    const { peer: ours, data } = await startFieldlake(url, dataDir, rows);
    peers.set('fieldlake', ours);
    for (const [name, start] of Object.entries(STARTS) as [Exclude<PeerName, 'fieldlake'>, (data: Data) => Promise<Peer>][])
      try {
        peers.set(name, await start(data));
        note(`${name} is up`);
      } catch (error) {
        onMissing(name, `which could not be started: ${why(error)}`);
      }
    const lines: Line[] = [];
    for (const question of Object.keys(QUESTIONS) as Question[]) {
      if (only !== undefined && only !== question) continue;
      const all = [...peers].flatMap(([name, peer]) => {
        const asked = peer.asked[question];
        return asked ? [{ name, peer, asked }] : [];
      });
      const same = await compare(all, (name, reason) => onMissing(name, `${question}: ${reason}`));
      for (const line of await measure(question, same)) {
        lines.push(line);
        note(
          `${question}, ${line.peer}: ${line.milliseconds.toFixed(1)} ms, processor ${line.processor.toFixed(0)} ms, peak ${line.peakMib.toFixed(0)} MiB`,
        );
      }
    }
    const versions = [...peers].map(([peer, { version }]) => ({ peer, version }));
    return { rows, versions, lines, missing };
  } finally {
    closeCalls();
    for (const peer of [...peers.values()].reverse()) await peer.stop();
  }
}
