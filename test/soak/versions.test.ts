import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHECKPOINT_EVERY } from '../../src/lakehouse/tables/delta/schema.ts';
import { publishWaiting } from '../../src/lakehouse/tables/delta/publisher.ts';
import { printTableFolder } from '../../src/lakehouse/tables/delta/places.ts';
import { compactTable } from '../../src/lakehouse/tables/maintenance.ts';
import { commit, listFilesAt, findTableById } from '../../src/lakehouse/tables/manifest.ts';
import { openLake, type Lake } from '../ingest/setup.ts';
import { pythonWith } from '../support/python.ts';

/** What opening a table costs a reader of `deltalake` after many versions, beside what it cost after a hundred. */
const VERSIONS = Math.round(10_000 * Number(process.env['SOAK'] ?? 1));
const FEW = 100;
const COMPACTED_EVERY = 60;
const MOST_RATIO = 1.5;

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const OPEN = `
import sys, json, time
from deltalake import DeltaTable
def once(folder):
    began = time.perf_counter()
    table = DeltaTable(folder)
    files = len(table.file_uris())
    return time.perf_counter() - began, table.version(), files
folders = sys.argv[1:]
times = {folder: [] for folder in folders}
for turn in range(41):
    for folder in folders:
        seconds, version, files = once(folder)
        if turn > 0: times[folder].append(seconds)
print(json.dumps([sorted(times[folder])[20] * 1000 for folder in folders] + [version, files]))
`;

async function makeTable(versions: number): Promise<string> {
  const { id, experimentId } = await lake.makeTable();
  const version = async () => (await findTableById(lake.db, id))?.version ?? 0;
  // as far behind its last checkpoint as any other
  for (let at = 1; (await version()) < versions || (await version()) % CHECKPOINT_EVERY !== CHECKPOINT_EVERY / 2; at += 1) {
    const staged = await lake.staging.stage({
      tableId: id,
      experimentId,
      select: { sql: `select 'row ${at}' as id, timestamptz '2026-05-01' + interval ${at} second as uploaded_at, ${at} as n`, values: [] },
      sortColumn: 'uploaded_at',
    });
    await lake.db.transaction((tx) => commit(tx, { tableId: id, cause: 'ingest', files: staged.files }));
    if (at % COMPACTED_EVERY === 0) await compactTable(lake.deps, id, { sortColumn: 'uploaded_at' });
  }
  while ((await publishWaiting(lake.deps, { onProblem: (_table, error) => expect.unreachable(String(error)) })) > 0);
  const table = await findTableById(lake.db, id);
  const files = await listFilesAt(lake.db, id, table?.version ?? 0);
  expect(table?.version).toBeGreaterThanOrEqual(versions);
  expect(files.length).toBeLessThan(200);
  return join(lake.folder, 'lake', printTableFolder(experimentId, id));
}

test(
  `opening a table of ${VERSIONS} versions costs a reader at most ${MOST_RATIO} times what one of ${FEW} costs`,
  { timeout: 3_600_000 },
  async () => {
    const folders = [await makeTable(FEW), await makeTable(VERSIONS)];
    const program = join(lake.folder, 'open.py');
    writeFileSync(program, OPEN);
    const python = join(pythonWith('deltalake==1.6.3', 'pyarrow'), 'python');
    const [few = 0, many = 0, version, files] = JSON.parse(execFileSync(python, [program, ...folders], { encoding: 'utf8' })) as number[];
    console.log(
      `${few.toFixed(1)} ms at ${FEW} versions, ${many.toFixed(1)} ms at ${version} (${files} files): ${(many / few).toFixed(2)}`,
    );
    expect(many / few).toBeLessThanOrEqual(MOST_RATIO);
  },
);
