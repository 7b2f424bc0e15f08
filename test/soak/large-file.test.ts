import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { ingestUpload } from '../../src/ingest/uploads/ingest.ts';
import { openLake, type Lake } from '../ingest/setup.ts';

/** Size of each file; 5 for the full run. */
const GIGABYTES = Number(process.env['GIGABYTES'] ?? 0.1);
const LIMIT = 1_073_741_824;

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

/** Resident memory of this process, in bytes. */
const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1_024;

async function write(path: string, lineOf: (row: number) => string, head: string): Promise<{ rows: number; sha256: string }> {
  const file = createWriteStream(path);
  const hash = createHash('sha256');
  const put = async (text: string) => {
    hash.update(text);
    if (!file.write(text)) await once(file, 'drain');
  };
  await put(head);
  let rows = 0;
  for (let bytes = 0; bytes < GIGABYTES * LIMIT;) {
    const lines = Array.from({ length: 2_000 }, (_, at) => lineOf(rows + at)).join('');
    await put(lines);
    bytes += lines.length;
    rows += 2_000;
  }
  file.end();
  await once(file, 'close');
  return { rows, sha256: hash.digest('hex') };
}

const cells = (row: number) => [
  row,
  `MSPQ-${row % 40}`,
  new Date(1.7e12 + row * 1_000).toISOString(),
  (row * 7_919) % 100_003,
  row / 8,
  `note ${row % 97}`,
  'x'.repeat(80),
];
const KEYS = ['row', 'sensor', 'at', 'par', 'value', 'note', 'text'];

test.each([
  ['csv', `${KEYS.join(',')}\n`, (row: number) => `${cells(row).join(',')}\n`],
  ['ndjson', '', (row: number) => `${JSON.stringify(Object.fromEntries(cells(row).map((cell, at) => [KEYS[at], cell])))}\n`],
])(
  `a ${GIGABYTES} GB %s file is stored whole in at most 1 GB of memory`,
  async (kind, head, lineOf) => {
    const path = join(lake.folder, `large.${kind}`);
    const { rows, sha256 } = await write(path, lineOf, head);
    const key = `uploads/large/${kind}`;
    await lake.store.put(key, createReadStream(path));
    const table = await lake.makeTable();
    const id = randomUUID();
    await lake.db.run(sql('soak.upload')`insert into uploads (id, experiment_id, table_id, source_kind, file_count)
      values (${id}, ${table.experimentId}, ${table.id}, ${kind}, 1)`);
    await lake.db.run(sql('soak.file')`insert into upload_files (upload_id, path, ordinal, object_key, sha256)
      values (${id}, ${`large.${kind}`}, 0, ${key}, decode(${sha256}, 'hex'))`);
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, resident());
    }, 50);
    const start = performance.now();
    const report = await ingestUpload(lake.deps, id).finally(() => clearInterval(watch));
    const seconds = (performance.now() - start) / 1_000;
    process.stdout.write(`${kind}: ${rows} rows in ${seconds.toFixed(1)} s, peak resident memory ${Math.round(peak / 1_048_576)} MiB\n`);
    expect(report?.files).toMatchObject([{ status: 'completed', stored: rows, quarantined: 0 }]);
    expect(peak).toBeLessThan(LIMIT);
    const relation = await lake.relation(table.id);
    const [found] = (
      await lake.reader.runAndReadAll(`select count(distinct "row")::integer as n, max("row")::integer as high from ${relation}`)
    ).getRowObjectsJson();
    expect(found).toEqual({ n: rows, high: rows - 1 });
  },
  3_600_000,
);
