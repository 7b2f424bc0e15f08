import { afterAll, beforeAll, expect, test } from 'vitest';
import { ingestUpload } from '../../src/ingest/uploads/ingest.ts';
import type { ObjectStore } from '../../src/storage/objects.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

/** Begins work on an upload so often, each time in a process that is gone while it reads the first file. Nothing of it is heard again until it is let go. */
async function beginInVain(uploadId: string, times: number): Promise<() => Promise<unknown>> {
  let end = (): void => undefined;
  const gone = new Promise<never>((_resolve, reject) => {
    end = () => reject(new Error('over'));
  });
  let begun = 0;
  const get = () => {
    begun += 1;
    return gone;
  };
  const store = Object.create(lake.deps.store, { get: { value: get } }) as ObjectStore;
  const runs: Promise<unknown>[] = [];
  for (let time = 1; time <= times; time += 1) {
    runs.push(ingestUpload({ ...lake.deps, store }, uploadId));
    await expect.poll(() => begun).toBe(time);
  }
  return () => {
    end();
    return Promise.allSettled(runs);
  };
}

const FILES = [
  { path: 'a.csv', bytes: 'n\n1\n' },
  { path: 'b.csv', bytes: 'n\n2\n' },
];

test('a file is read although the process ended a few times while it was', async () => {
  const table = await lake.makeTable();
  const uploadId = await lake.receive(table, 'csv', FILES);
  const letGo = await beginInVain(uploadId, 5);
  expect(await ingestUpload(lake.deps, uploadId)).toMatchObject({ status: 'completed', files: [{ stored: 1 }, { stored: 1 }] });
  await letGo();
});

test('a file whose reading ends the process each time is given up and kept, and those behind it are read', async () => {
  const table = await lake.makeTable();
  const uploadId = await lake.receive(table, 'csv', FILES);
  const letGo = await beginInVain(uploadId, 20);
  expect(await ingestUpload(lake.deps, uploadId)).toMatchObject({
    status: 'partial',
    files: [
      {
        path: 'a.csv',
        status: 'failed',
        reason: 'processing_failed',
        message: expect.stringMatching(/ended 20 times while it read this file.* kept: send/),
      },
      { path: 'b.csv', stored: 1 },
    ],
  });
  await letGo();
});

test('a try that ends with its process alive, as by a stop, is not counted', async () => {
  const table = await lake.makeTable();
  const uploadId = await lake.receive(table, 'csv', FILES);
  for (let time = 0; time < 25; time += 1)
    await expect(ingestUpload(lake.deps, uploadId, { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow('stopped');
  expect(await ingestUpload(lake.deps, uploadId)).toMatchObject({ status: 'completed' });
});
