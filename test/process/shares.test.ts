import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { startBuiltSite, type BuiltSite } from '../support/built-site.ts';
import { eventually } from '../support/crashes.ts';
import { rawSocket } from '../support/raw-http.ts';
import { callsTo } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: BuiltSite;
beforeAll(async () => {
  site = await startBuiltSite({ CALLER_STATEMENTS: '1', ORGANIZATION_STATEMENTS: '2' });
});
afterAll(() => site.stop());

/** More than a connection holds on its way to who does not read. */
const ROWS = `n,text\n${Array.from({ length: 100_000 }, (_, n) => `${n},${'x'.repeat(200)}${n}`).join('\n')}\n`;

test('who reads what is public, and slowly, leaves places to the organization', async () => {
  const { cast, db, owner } = site;
  const call = callsTo(site.server.baseUrl);
  const made = await owner('POST', '/api/v1/experiments', { body: { name: 'Open', organizationId: cast.leafLab, visibility: 'public' } });
  const path = `/api/v1/experiments/${String(made.body.id)}/data`;
  const table = await uploadTable(owner, String(made.body.id), 'wide', ROWS);
  // to any reader an uploaded table is closed, and that of a macro open
  await db.run(sql('t')`update lake_tables set kind = 'macro', name = null where identifier = ${table}`);

  const read = (caller: typeof cast.owner, page: number) => call(caller)('GET', path, { query: { tableName: table, page, pageSize: 1 } });
  expect((await read(cast.stranger, 1)).status).toBe(200);
  const slow = async (caller: typeof cast.owner) => {
    const socket = await rawSocket(site.server.baseUrl);
    socket.write(`GET ${path}?tableName=${table}&format=csv HTTP/1.1\r\nhost: fieldlake.test\r\nx-api-key: ${caller.apiKey}\r\n\r\n`);
    return socket;
  };
  const first = await slow(cast.stranger);
  await once(first, 'readable');
  const second = await slow(cast.teammate);
  const refused = once(second, 'readable').then(() => String(second.read()));
  expect((await read(cast.owner, 2)).status).toBe(200);
  expect(await refused).toMatch(/^HTTP\/1\.1 503 [^]*"WAREHOUSE_BUSY"/);
  expect((await read(cast.owner, 3)).status).toBe(200);

  first.destroy();
  second.destroy();
  const after = await eventually(
    () => read(cast.teammate, 4),
    ({ status }) => status === 200,
    20_000,
  );
  expect(after.status).toBe(200);
});
