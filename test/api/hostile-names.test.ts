import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

const HOSTILE = JSON.parse(readFileSync(new URL('../../fixtures/hostile-strings.json', import.meta.url), 'utf8')) as string[];

let site: TestServer;
let experiment: string;
beforeAll(async () => {
  site = await startTestServer();
  const made = await site.as(site.cast.owner)('POST', '/api/v1/experiments', { body: { name: 'Names' } });
  experiment = `/api/v1/experiments/${(made.body as { id: string }).id}`;
});
afterAll(() => site.stop());

const owner: Call = (...asked) => site.as(site.cast.owner)(...asked);

const send = (table: string, file: string) => {
  const form = new FormData();
  form.append('sourceKind', 'csv');
  form.append('targetKind', 'new');
  form.append('targetName', table);
  form.append('files', new Blob(['plot,height\n1,10\n2,20\n']), file);
  return owner('POST', `${experiment}/data/uploads`, { body: form });
};

/** A new table of two rows, out of a file of this name. */
async function uploaded(table: string, file: string): Promise<{ uploadTableId: string; files: { name: string }[] }> {
  const made = await send(table, file);
  expect([file, made.status, made.text]).toEqual([file, 201, expect.anything()]);
  for (;;) {
    const { body } = await owner('GET', `${experiment}/data/uploads/${(made.body as { uploadId: string }).uploadId}`);
    if (!['pending', 'running'].includes((body as { status: string }).status)) {
      expect(body, JSON.stringify(file)).toMatchObject({ status: 'completed', rowCount: 2 });
      return body as Awaited<ReturnType<typeof uploaded>>;
    }
    await sleep(25);
  }
}

const filters = JSON.stringify([{ column: 'height', operator: 'greater_than', value: 5 }]);
const read = (tableName: string, headers: Record<string, string> = {}) =>
  owner('GET', `${experiment}/data`, { query: { tableName, filters }, headers });

async function statementOf(table: string): Promise<string> {
  expect((await read(table)).body, table).toMatchObject([{ data: { totalRows: 2 } }]);
  const plan = await read(table, { accept: 'application/vnd.fieldlake.plan+json' });
  return (plan.body as { statement: string }).statement;
}

test('rows out of a file of any name are read by the same statement', async () => {
  const expected = await statementOf((await uploaded('heights', 'heights.csv')).uploadTableId);
  // a header holds no control characters, and a name of a file at most 256
  const names = HOSTILE.filter((text, at) => at % 8 === 0 && text.length < 200 && !/\p{Cc}/u.test(text));
  for (const [index, name] of names.entries()) {
    const upload = await uploaded(`heights_${index}`, `${name}.csv`);
    expect(await statementOf(upload.uploadTableId), JSON.stringify(name)).toBe(expected);
  }
});

test('a table has a plain name, and is asked for by no other', async () => {
  expect((await send('ordinary', 'a.csv')).status).toBe(201);
  for (const name of HOSTILE.filter((text) => !/^[a-z][a-z0-9_]*$/i.test(text))) {
    const made = await send(name, 'a.csv');
    expect([name, made.status, (made.body as { code: string }).code]).toEqual([name, 400, 'INVALID_INPUT']);
    expect([400, 404], name).toContain((await read(name)).status);
  }
});
