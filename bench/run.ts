// npm run bench -- [--json FILE] [--only access|ingest]: every line is a ratio to a bound or to a yardstick that was written by hand.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../src/database/embedded.ts';
import { migrate } from '../src/database/migrate.ts';
import { benchAccess } from './access.ts';
import { benchIngest } from './ingest.ts';
import { benchMetadata } from './metadata.ts';
import type { Measured } from './pairs.ts';

const { values } = parseArgs({ options: { json: { type: 'string' }, only: { type: 'string' } } });

const BENCHES: Record<string, (url: string, dataDir: string) => Promise<Measured[]>> = {
  access: benchAccess,
  ingest: benchIngest,
  metadata: benchMetadata,
};

const results: Measured[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (values.only !== undefined && values.only !== name) continue;
  const dataDir = mkdtempSync(join(tmpdir(), 'fieldlake-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    await migrate({ url: postgres.url, folder: join(import.meta.dirname, '..', 'sql') });
    for (const line of await bench(postgres.url, dataDir)) {
      results.push(line);
      process.stdout.write(
        `${line.name}: ours ${line.ours.toFixed(2)}, yardstick ${line.yardstick.toFixed(2)}, ratio ${line.ratio.toFixed(3)}\n`,
      );
    }
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
