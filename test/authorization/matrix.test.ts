import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { makeMatrix, probeOperation, type Cell, type Matrix } from '../support/matrix.ts';
import { guardsOf, servedRows } from '../support/operations.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let site: TestServer;
let matrix: Matrix;
beforeAll(async () => {
  site = await startTestServer({ SIGN_INS_PER_MINUTE: '100000' });
  matrix = await makeMatrix(site);
});
afterAll(() => site.stop());

const served = () => servedRows(site.openapi);
const print = () =>
  site.db.rows<{ print: string }>(sql('t')`
    select md5(string_agg(t::text, '' order by t::text)) as print from (
      select r.*, null::uuid as grantee from resources r union all select r.*, g.grantee_id from resources r join grants g on g.resource_id = r.id) t`);

test('every operation answers all twelve callers as its row says, and the probes change nothing', async () => {
  const before = await print();
  const wrong: Cell[] = [];
  let cells = 0;
  for (const row of served()) {
    const outcome = await probeOperation(matrix, row);
    cells += outcome.cells;
    wrong.push(...outcome.wrong);
  }
  expect(wrong).toEqual([]);
  expect(cells).toBeGreaterThan(1_000);
  expect(await print()).toEqual(before);
});

test('what is missing is 404 and what is malformed 400 on every guarded operation, whoever asks', async () => {
  for (const row of served().filter((each) => guardsOf(each).length > 0)) {
    const at = (id: string) => row.path.replace('{resourceType}', 'macro').replace(/\{\w+\}/g, id);
    for (const person of [site.cast.stranger, site.cast.owner]) {
      const body = row.method === 'GET' ? {} : { body: '{', headers: { 'content-type': 'application/json' } };
      expect([row, (await site.as(person)(row.method, at(crypto.randomUUID()), body)).status]).toEqual([row, 404]);
      expect([row, (await site.as(person)(row.method, at('nonsense'), body)).body.code]).toEqual([row, 'INVALID_ID']);
    }
  }
});
