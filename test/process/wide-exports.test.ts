import { randomBytes } from 'node:crypto';
import { parquetMetadata } from 'hyparquet';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
let id: string;
beforeAll(async () => {
  // exports have 128 MB of it
  site = await startTestServer({ DUCKDB_MEMORY_MB: '512' });
  owner = site.as(site.cast.owner);
  const body = { name: 'Traces', organizationId: site.cast.leafLab };
  id = (await owner('POST', '/api/v1/experiments', { body })).body.id as string;
});
afterAll(() => site.stop());

const upload = (name: string, rows: number, makeText: (row: number) => string) => {
  const lines = Array.from({ length: rows }, (_, row) => `{"row":${row},"wide":${makeText(row)}}\n`);
  return uploadTable(owner, id, name, lines.join(''), 'ndjson');
};

test('what does not fit the memory of exports is exported with the memory of reads', async () => {
  // the engine takes some 300 MB to print these as JSON
  const trace = JSON.stringify(Array.from({ length: 10_000 }, (_, at) => (at * 104_729) % 99_991));
  const tableName = await upload('traces', 500, () => trace);
  const exportsOf = `/api/v1/experiments/${id}/data/exports`;
  for (const format of ['csv', 'parquet']) {
    const { exportId } = (await owner('POST', exportsOf, { body: { tableName, format } })).body as { exportId: string };
    const shown = async () => (await owner('GET', `${exportsOf}/${exportId}/status`)).body as { status: string };
    await expect.poll(async () => (await shown()).status, { timeout: 60_000, interval: 200 }).toMatch(/completed|failed/);
    expect(await shown()).toMatchObject({ status: 'completed', rowCount: 500 });
  }
});

test('wide rows lie in small row groups of Parquet, and narrow ones in large ones', async () => {
  const groupsOf = async (tableName: string) => {
    const parquet = { headers: { accept: 'application/vnd.apache.parquet' }, query: { tableName } };
    const { buffer, byteOffset, byteLength } = (await owner('GET', `/api/v1/experiments/${id}/data`, parquet)).bytes;
    return parquetMetadata(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer).row_groups.map((group) =>
      Number(group.num_rows),
    );
  };
  const random = (bytes: number) => () => JSON.stringify(randomBytes(bytes).toString('hex'));
  expect(await groupsOf(await upload('wide', 5_000, random(3_000)))).toEqual([2_048, 2_048, 904]);
  expect(await groupsOf(await upload('narrow', 5_000, random(3)))).toEqual([5_000]);
});
