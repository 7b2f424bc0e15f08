import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDuckdbWriter } from '../../src/lakehouse/engines/duckdb/write.ts';

test('files that were written and read again do not stay in memory', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-memory-'));
  const staging = await openDuckdbWriter({ lakeFolder: join(folder, 'lake'), workFolder: join(folder, 'work'), threads: 2 });
  try {
    for (let turn = 0; turn < 20; turn += 1) {
      const select = { sql: `select uuid()::varchar as id, now() + to_seconds(i) as at from range(5000) t(i)`, values: [] };
      const { files } = await staging.stage({ tableId: 'table', experimentId: 'experiment', select, sortColumn: 'at' });
      expect(files).toHaveLength(1);
    }
    const session = await staging.session();
    const held = await session.rows({
      sql: `select tag, memory_usage_bytes from duckdb_memory() where memory_usage_bytes > 0`,
      values: [],
    });
    session.close();
    // what the statement that asks takes itself
    expect(held.filter(({ tag }) => tag !== 'IN_MEMORY_TABLE' && tag !== 'ALLOCATOR')).toEqual([]);
  } finally {
    await staging.close();
    rmSync(folder, { recursive: true });
  }
});
