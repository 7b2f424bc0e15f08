import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
beforeAll(async () => {
  site = await startTestServer();
});
afterAll(() => site.stop());

test('annotations of a message are annotations of its rows: once, by the sender, under ids of our own', async () => {
  const owner = site.as(site.cast.owner);
  const experimentId = (await owner('POST', '/api/v1/experiments', { body: { name: 'Notes', organizationId: site.cast.leafLab } })).body
    .id as string;
  const data = `/api/v1/experiments/${experimentId}/data`;
  const read = async () =>
    (await owner('GET', data, { query: { tableName: 'raw_data', orderBy: 'id' } })).body[0].data.rows as {
      id: string;
      annotations: any[];
    }[];
  const put = async (messages: object[]) => {
    const { body } = await owner('POST', '/api/v1/iot/upload-url', { body: { experimentId } });
    expect((await fetch(body.uploadUrl, { method: 'PUT', headers: body.headers, body: JSON.stringify(messages) })).status).toBe(200);
  };
  const message = {
    timestamp: '2026-05-01T10:00:00Z',
    id: 'one',
    sample: [{ a: 1 }, { a: 2 }],
    annotations: [
      {
        id: 'chosen-by-the-sender',
        type: 'comment',
        createdBy: site.cast.stranger.id,
        content: { text: 'wet leaf' },
        createdAt: '2026-05-01T10:01:00Z',
      },
      { type: 'flag', content: { flagType: 'outlier', text: 'x'.repeat(300) } },
      { type: 'flag', content: { flagType: 'unheard of' } },
      { type: 'comment', content: {} },
      'no object',
    ],
  };
  await put([message, { timestamp: '2026-05-01T11:00:00Z', id: 'two', sample: {}, annotations: [] }]);
  for (let tries = 0; tries < 1_200 && (await read()).length < 3; tries += 1) await sleep(50);
  await put([message, { timestamp: '2026-05-01T12:00:00Z', id: 'three', sample: {} }]);
  for (let tries = 0; tries < 1_200 && (await read()).length < 4; tries += 1) await sleep(50);

  const rows = await read();
  expect(rows.map(({ annotations }) => annotations.length).sort()).toEqual([0, 0, 2, 2]);
  const all = rows.flatMap(({ annotations }) => annotations);
  expect(new Set(all.map(({ id }) => id)).size).toBe(4);
  const [row] = rows.filter(({ annotations }) => annotations.length > 0);
  const comment = row!.annotations.find(({ type }: { type: string }) => type === 'comment');
  expect(comment).toMatchObject({
    rowId: row!.id,
    content: { text: 'wet leaf' },
    createdBy: site.cast.owner.id,
    createdAt: '2026-05-01T10:01:00.000Z',
  });
  expect(comment.createdByName).toEqual(expect.any(String));
  expect(row!.annotations.find(({ type }: { type: string }) => type === 'flag')).toMatchObject({
    content: { flagType: 'outlier', text: 'x'.repeat(255) },
    createdAt: '2026-05-01T10:00:00.000Z',
  });
  // from here on they are like any other
  expect((await owner('DELETE', `${data}/annotations/${comment.id}`)).status).toBe(200);
  expect((await read()).flatMap(({ annotations }) => annotations)).toHaveLength(3);
});
