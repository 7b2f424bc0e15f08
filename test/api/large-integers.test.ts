import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

const MANY = 1_500;
const LARGE = '9007199254740993';
const SENT = `{"n":${LARGE},"list":[-${LARGE},9007199254740992,0.5],"text":"${LARGE}, \\"${LARGE}","serial":123456789012345678901234567890}`;
/** Digit by digit what was sent, where a reader of JSON would round it as text. */
const ANSWERED = `{"n":"${LARGE}","list":["-${LARGE}",9007199254740992,0.5],"text":"${LARGE}, \\"${LARGE}","serial":"123456789012345678901234567890"}`;

let site: TestServer;
let path: string;
const owner: Call = (...asked) => site.as(site.cast.owner)(...asked);
beforeAll(async () => {
  site = await startTestServer();
  const made = await owner('POST', '/api/v1/experiments', { body: { name: 'Serials', organizationId: site.cast.leafLab } });
  path = `/api/v1/experiments/${String(made.body.id)}/data`;
  const lines = Array.from({ length: MANY }, (_, index) => `{"plot":${index + 1},"data":${SENT}}\n`);
  await uploadTable(owner, String(made.body.id), 'docs', lines.join(''), 'ndjson');
});
afterAll(() => site.stop());

const ask = async (query: Record<string, string>) => {
  const answer = await owner('GET', path, { query: { tableName: 'docs', columns: 'plot,data', orderBy: 'plot', ...query } });
  expect(answer.status, answer.text).toBe(200);
  return answer.text;
};
const times = (text: string, part: string) => text.split(part).length - 1;

test('whole numbers beyond 2^53 inside documents are text in JSON: pages, whole answers, streams and exports', async () => {
  for (const [query, rows] of [
    [{ pageSize: '2' }, 2],
    [{ limit: '3' }, 3],
    [{ limit: '1200' }, 1_200],
    [{ format: 'ndjson' }, MANY],
  ] as const) {
    const text = await ask(query);
    expect([times(text, `"data":${ANSWERED}`), times(text, SENT)], JSON.stringify(query)).toEqual([rows, 0]);
  }
  for (const format of ['json', 'ndjson']) {
    const made = await owner('POST', `${path}/exports`, { body: { tableName: 'docs', format, columns: ['plot', 'data'] } });
    const file = `${path}/exports/${String(made.body.exportId)}`;
    await expect.poll(async () => (await owner('GET', `${file}/status`)).body.status as string).toBe('completed');
    expect(times((await owner('GET', file)).text, `"data":${ANSWERED}`), format).toBe(MANY);
  }
});

test('a cell of a CSV is the document itself', async () => {
  expect(times(await ask({ format: 'csv' }), SENT.replaceAll('"', '""'))).toBe(MANY);
});

test('its members are read digit by digit', async () => {
  const filters = JSON.stringify([{ column: 'data.n::bigint', operator: 'equals', value: LARGE }]);
  expect(await ask({ columns: 'data.n,data.serial,data.n::bigint', pageSize: '1', filters })).toContain(
    `[{"data.n":"${LARGE}","data.serial":"123456789012345678901234567890","data.n::bigint":"${LARGE}"}]`,
  );
});
