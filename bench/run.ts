// npm run bench -- [--json FILE] [--peers] [--only access|bucket|cadence|exports|files|fleet|formats|growth|ingest|large|lists|macros|metadata|pipeline|reads|search|workers]: every line is a ratio to a bound or to a yardstick that was written by hand.
// With --peers, instead: the same questions to other people's programs, in one table; --only names one of the questions of peers/questions.ts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../src/database/embedded.ts';
import { migrate } from '../src/database/migrate.ts';
import { benchAccess } from './access.ts';
import { benchBucket } from './bucket.ts';
import { benchCadence } from './cadence.ts';
import { benchExports } from './exports.ts';
import { benchFiles } from './files.ts';
import { benchFleet } from './fleet.ts';
import { benchFormats } from './formats.ts';
import { benchGrowth } from './growth.ts';
import { benchIngest } from './ingest.ts';
import { benchLarge } from './large.ts';
import { benchLists } from './lists.ts';
import { benchMacros } from './macros.ts';
import { benchMetadata } from './metadata.ts';
import type { Measured } from './pairs.ts';
import { benchPeers } from './peers/run.ts';
import { printTable, type Outcome } from './peers/table.ts';
import { benchPipeline } from './pipeline.ts';
import { benchReads } from './reads.ts';
import { benchSearch } from './search.ts';
import { benchWorkers } from './workers.ts';

const { values } = parseArgs({
  options: { json: { type: 'string' }, only: { type: 'string' }, peers: { type: 'boolean', default: false } },
});

type Bench = (url: string, dataDir: string, onMeasured: (line: Measured) => void) => Promise<unknown>;

const whole =
  (bench: (url: string, dataDir: string) => Promise<Measured[]>): Bench =>
  async (url, dataDir, onMeasured) => {
    for (const line of await bench(url, dataDir)) onMeasured(line);
  };

const BENCHES: Record<string, Bench> = {
  access: whole(benchAccess),
  bucket: benchBucket,
  cadence: benchCadence,
  exports: benchExports,
  files: benchFiles,
  fleet: whole(benchFleet),
  formats: benchFormats,
  growth: benchGrowth,
  ingest: whole(benchIngest),
  large: benchLarge,
  lists: benchLists,
  macros: benchMacros,
  metadata: whole(benchMetadata),
  pipeline: benchPipeline,
  reads: benchReads,
  search: whole(benchSearch),
  workers: benchWorkers,
};

/** Runs a bench with a folder and a Postgres of its own. */
async function run<T>(bench: (url: string, dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'fieldlake-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    const release = await migrate({ url: postgres.url, folder: join(import.meta.dirname, '..', 'sql') });
    await release();
    return await bench(postgres.url, dataDir);
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function runPairs(): Promise<Measured[]> {
  const results: Measured[] = [];
  const note = (line: Measured) => {
    results.push(line);
    process.stdout.write(
      `${line.name}: ours ${line.ours.toFixed(2)}, yardstick ${line.yardstick.toFixed(2)}, ratio ${line.ratio.toFixed(3)}\n`,
    );
  };
  for (const [name, bench] of Object.entries(BENCHES))
    if (values.only === undefined || values.only === name) await run((url, dataDir) => bench(url, dataDir, note));
  return results;
}

async function runPeers(): Promise<Outcome> {
  const outcome = await run((url, dataDir) => benchPeers(url, dataDir, values.only));
  process.stdout.write(printTable(outcome));
  return outcome;
}

const results = values.peers ? await runPeers() : await runPairs();
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
