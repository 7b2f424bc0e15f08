import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataFilesOf } from '../support/lake-files.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

test('a file that fails again and again is failed and kept, holds back no other, and is read once it can be', async () => {
  const experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Failing' } })).body.id;
  const uploads = `/api/v1/experiments/${experimentId}/data/uploads`;
  const tableId = await uploadTable(owner, experimentId, 'leaves', 'n\n1\n2\n');
  const send = async (files: Record<string, string>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: tableId }))
      form.append(name, value);
    for (const [name, text] of Object.entries(files)) form.append('files', new Blob([text]), name);
    const made = await owner('POST', uploads, { body: form });
    expect(made.status).toBe(201);
    return `${uploads}/${made.body.uploadId}`;
  };
  const ended = async (path: string) => {
    const found = async () => (await owner('GET', path)).body as { status: string };
    await expect.poll(async () => (await found()).status, { timeout: 60_000, interval: 100 }).not.toMatch(/pending|running/);
    return found();
  };

  // numbers with decimals have the files of the table written anew, which these cannot be
  const files = dataFilesOf(site.lakeFolder, tableId).map((path) => ({ path, bytes: readFileSync(path) }));
  expect(files).toHaveLength(1);
  for (const { path, bytes } of files) writeFileSync(path, Buffer.from(bytes).fill(0xff, 4));
  const failing = await send({ 'decimals.csv': 'n\n1.5\n', 'more.csv': 'n\n3\n' });
  const next = await uploadTable(owner, experimentId, 'next', 'n\n1\n');
  expect(next).toEqual(expect.any(String));
  expect(await ended(failing)).toMatchObject({
    status: 'partial',
    rowCount: 1,
    files: [
      { fileName: 'decimals.csv', status: 'failed', reason: 'processing_failed', message: expect.stringContaining('kept') },
      { fileName: 'more.csv', status: 'completed', stored: 1 },
    ],
  });
  expect(site.server.output().match(/"message":"A job of uploads.ingest failed/g)).toHaveLength(4);

  for (const { path, bytes } of files) writeFileSync(path, bytes);
  expect((await owner('POST', `${failing}/replay`)).status).toBe(200);
  await sleep(100);
  expect(await ended(failing)).toMatchObject({ status: 'completed', rowCount: 2, errorMessage: null });
  const read = await owner('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName: tableId, orderBy: 'n' } });
  expect(read.body[0].data.rows.map(({ n }: { n: number }) => n)).toEqual([1, 1.5, 2, 3]);
});
