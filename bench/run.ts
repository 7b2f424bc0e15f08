// npm run bench -- [--json FILE] [--only access|bucket|cadence|exports|files|fleet|formats|growth|ingest|large|lists|macros|metadata|pipeline|reads|search|workers]: every line is a ratio to a bound or to a yardstick that was written by hand.
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
import { benchPipeline } from './pipeline.ts';
import { benchReads } from './reads.ts';
import { benchSearch } from './search.ts';
import { benchWorkers } from './workers.ts';

const { values } = parseArgs({ options: { json: { type: 'string' }, only: { type: 'string' } } });

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

const results: Measured[] = [];
const note = (line: Measured) => {
  results.push(line);
  process.stdout.write(
    `${line.name}: ours ${line.ours.toFixed(2)}, yardstick ${line.yardstick.toFixed(2)}, ratio ${line.ratio.toFixed(3)}\n`,
  );
};
for (const [name, bench] of Object.entries(BENCHES)) {
  if (values.only !== undefined && values.only !== name) continue;
  const dataDir = mkdtempSync(join(tmpdir(), 'fieldlake-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    await migrate({ url: postgres.url, folder: join(import.meta.dirname, '..', 'sql') });
    await bench(postgres.url, dataDir, note);
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
