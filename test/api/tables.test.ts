import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import type { Person } from '../support/cast.ts';
import { makePerson } from '../support/cast.ts';
import { sharedSite, spawnServer } from '../support/process.ts';
import { callsTo, startTestServer, type Call, type TestServer } from '../support/server.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';
import { countWaiting } from '../support/waiting.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  // long records are refused, so that there is something to replay
  site = await startTestServer({ UPLOAD_RECORD_KIB: '1' });
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

const experiment = async (body: object = {}, call = owner) =>
  String((await call('POST', '/api/v1/experiments', { body: { name: 'Tables', ...body } })).body.id);
const tableAt = (experimentId: string, tableId: string) => `/api/v1/experiments/${experimentId}/data/tables/${tableId}`;
const refusal = ({ status, body }: { status: number; body: any }) => ({ status, code: String(body?.code) });
const rowsOf = (experimentId: string, tableName: string, call = owner) =>
  call('GET', `/api/v1/experiments/${experimentId}/data`, { query: { tableName, orderBy: 'n' } });

/** Sends a CSV and waits until the upload has ended, however it does. */
async function send(experimentId: string, fields: Record<string, string>, csv: string) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ sourceKind: 'csv', ...fields })) form.append(name, value);
  form.append('files', new Blob([csv]), 'rows.csv');
  const made = await owner('POST', `/api/v1/experiments/${experimentId}/data/uploads`, { body: form });
  return made.status === 201 ? ended(experimentId, String(made.body.uploadId)) : made.body;
}

async function ended(experimentId: string, uploadId: string) {
  for (let tries = 0; tries < 400; tries += 1) {
    const { body } = await owner('GET', `/api/v1/experiments/${experimentId}/data/uploads/${uploadId}`);
    if (!['pending', 'running'].includes(body.status)) return body;
    await sleep(50);
  }
  throw new Error('the upload did not end');
}

/** Lets the removal of a table's files, which waits for the last reads, begin now. */
const hasten = (db: TestServer['db'], tableId: string) =>
  db.run(sql('t')`
    update pgboss.job set start_after = now()
    where name = 'tables.erase' and state in ('created', 'retry') and data ->> 'tableId' = ${tableId}`);

const folderOf = (lake: string, experimentId: string, tableId: string) => join(lake, 'tables', experimentId, tableId);
const parquetIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.parquet')) : []);
const logIn = (folder: string) => {
  const log = join(folder, '_delta_log');
  return existsSync(log) ? readdirSync(log) : [];
};

// most of each is waiting, and each has an experiment of its own
test.concurrent(
  'DELETE /api/v1/experiments/{id}/data/tables/{tableId} removes an upload table, its log at once and its files when no read needs them',
  async ({ expect }) => {
    const id = await experiment();
    const [doomed, other] = [await uploadTable(owner, id, 'leaves', 'n\n1\n2\n'), await uploadTable(owner, id, 'roots', 'n\n7\n')];
    await appendTo(owner, id, doomed, 'n\n3\n');
    const [folder, kept] = [folderOf(site.lakeFolder, id, doomed), folderOf(site.lakeFolder, id, other)];
    await expect.poll(() => [logIn(folder).length, logIn(kept).length]).toEqual([3, 2]);
    const version = await site.db.one<{ version: number }>(sql('t')`select version from lake_tables where id = ${doomed}`);
    const sent = await site.db.rows<{ key: string }>(
      sql('t')`select f.object_key as key from uploads u join upload_files f on f.upload_id = u.id where u.table_id = ${doomed}`,
    );
    expect(sent.map(({ key }) => existsSync(join(site.dataDir, 'objects', key)))).toEqual([true, true]);
    expect((await rowsOf(id, doomed)).body[0].data.rows.map(({ n }: { n: number }) => n)).toEqual([1, 2, 3]);
    const exported = await owner('POST', `/api/v1/experiments/${id}/data/exports`, { body: { tableName: 'leaves', format: 'csv' } });

    expect(await owner('DELETE', tableAt(id, doomed.toUpperCase()))).toMatchObject({ status: 200, body: null });

    expect(refusal(await rowsOf(id, doomed))).toEqual({ status: 404, code: 'TABLE_NOT_FOUND' });
    expect(refusal(await rowsOf(id, 'leaves'))).toEqual({ status: 404, code: 'TABLE_NOT_FOUND' });
    const asOf = await owner('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: doomed, asOf: version!.version } });
    expect(refusal(asOf)).toEqual({ status: 404, code: 'TABLE_NOT_FOUND' });
    expect((await owner('GET', `/api/v1/experiments/${id}/data/exports/${String(exported.body.exportId)}/status`)).status).toBe(404);
    const listed = (await owner('GET', `/api/v1/experiments/${id}/tables`)).body as { identifier: string }[];
    expect(listed.map(({ identifier }) => identifier)).toEqual(['raw_data', 'device', other]);
    const uploads = (await owner('GET', `/api/v1/experiments/${id}/data/uploads`)).body.uploads as { uploadTableId: string | null }[];
    expect(uploads.map(({ uploadTableId }) => uploadTableId)).toEqual([null, other, null]);
    const told = await site.db.rows(
      sql('t')`select actor_id as who, details from audit_events where action = 'table.deleted' and resource_id = ${id}`,
    );
    expect(told).toEqual([{ who: site.cast.owner.id, details: { tableId: doomed, name: 'leaves', rows: 3, version: version!.version } }]);

    // who found the table before may read on
    await expect.poll(() => logIn(folder)).toEqual([]);
    expect(parquetIn(folder).length).toBeGreaterThanOrEqual(2);
    await hasten(site.db, doomed);
    await expect.poll(() => existsSync(folder) && readdirSync(folder)).toBe(false);
    const keysLeft = async () =>
      (await site.db.rows(sql('t')`select from upload_files where object_key = any (${sent.map(({ key }) => key)}::text[])`)).length;
    await expect.poll(keysLeft).toBe(0);
    for (const { key } of sent) expect(existsSync(join(site.dataDir, 'objects', key))).toBe(false);

    // another table is what it was, and the name makes another table
    expect([logIn(kept).length, parquetIn(kept).length]).toEqual([2, 1]);
    expect((await rowsOf(id, other)).body[0].data.rows).toMatchObject([{ n: 7 }]);
    const again = await uploadTable(owner, id, 'leaves', 'n\n1\n2\n');
    expect(again).not.toBe(doomed);
    expect((await rowsOf(id, 'leaves')).body[0].data.rows.map(({ n }: { n: number }) => n)).toEqual([1, 2]);
    expect(refusal(await owner('DELETE', tableAt(id, doomed)))).toEqual({ status: 404, code: 'TABLE_NOT_FOUND' });
  },
);

test.concurrent('only who manages the experiment removes its tables, and only those that were uploaded', async () => {
  const id = await experiment({ organizationId: site.cast.leafLab });
  const grant = (granteeId: string, role: string) =>
    owner('POST', `/api/v1/experiment/${id}/collaborators`, { body: { granteeType: 'user', granteeId, role } });
  const [member, admin] = [await makePerson(site.db, 'tables-member'), await makePerson(site.db, 'tables-admin')] as [Person, Person];
  expect([(await grant(member.id, 'viewer')).status, (await grant(admin.id, 'admin')).status]).toEqual([201, 201]);
  const [first, second] = [await uploadTable(owner, id, 'one', 'n\n1\n'), await uploadTable(owner, id, 'two', 'n\n2\n')];
  expect((await site.as(admin)('DELETE', tableAt(id, first))).status).toBe(200);

  expect((await rowsOf(id, second, site.as(member))).status).toBe(200);
  expect(refusal(await site.as(member)('DELETE', tableAt(id, second)))).toEqual({ status: 403, code: 'ACTION_DENIED' });
  expect((await site.as(null)('DELETE', tableAt(id, second))).status).toBe(401);
  // whoever may not see the experiment is not told whether it has the table
  const hidden = await site.as(site.cast.stranger)('DELETE', tableAt(id, second));
  const unknown = await site.as(site.cast.stranger)('DELETE', tableAt(id, crypto.randomUUID()));
  expect(refusal(hidden)).toEqual(refusal(unknown));
  expect(hidden.status).toBeGreaterThanOrEqual(403);
  expect(refusal(await owner('DELETE', tableAt(id, crypto.randomUUID())))).toEqual({ status: 404, code: 'TABLE_NOT_FOUND' });
  expect(refusal(await owner('DELETE', tableAt(crypto.randomUUID(), second)))).toEqual({ status: 404, code: 'RESOURCE_NOT_FOUND' });
  expect(refusal(await owner('DELETE', tableAt(id, 'raw_data')))).toEqual({ status: 400, code: 'INVALID_ID' });
  expect(refusal(await owner('DELETE', tableAt(await experiment(), second)))).toEqual({ status: 404, code: 'TABLE_NOT_FOUND' });

  // a macro's table goes by the macro's id
  const macroId = crypto.randomUUID();
  await site.db.run(
    sql('t')`insert into lake_tables (id, experiment_id, kind, identifier) values (gen_random_uuid(), ${id}, 'macro', ${macroId})`,
  );
  const ofMacro = await owner('DELETE', tableAt(id, macroId));
  expect(refusal(ofMacro)).toEqual({ status: 400, code: 'TABLE_NOT_UPLOADED' });
  expect(ofMacro.body.detail).toContain(macroId);

  expect((await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } })).status).toBe(200);
  expect(refusal(await owner('DELETE', tableAt(id, second)))).toEqual({ status: 409, code: 'EXPERIMENT_ARCHIVED' });
  expect((await rowsOf(id, second)).body[0].data.rows).toMatchObject([{ n: 2 }]);
});

const GONE = 'The table that this was meant for is gone.';

test.concurrent('a replay into a table that was removed is refused in words', async () => {
  const id = await experiment();
  const csv = `n,note\n1,short\n2,"${'long '.repeat(400)}"\n`;
  const upload = await send(id, { targetKind: 'new', targetName: 'notes' }, csv);
  expect(upload).toMatchObject({ status: 'partial', rowCount: 1, quarantined: 1 });
  const replay = `/api/v1/experiments/${id}/data/uploads/${String(upload.uploadId)}/replay`;
  expect((await owner('POST', replay)).status).toBe(200);
  expect(await ended(id, upload.uploadId)).toMatchObject({ status: 'partial', rowCount: 1, quarantined: 1 });
  expect((await owner('DELETE', tableAt(id, upload.uploadTableId))).status).toBe(200);
  const refused = await owner('POST', replay);
  expect(refusal(refused)).toEqual({ status: 410, code: 'TABLE_DELETED' });
  expect(refused.body.detail).toBe(GONE);
  // what became of its records is still told
  expect(await ended(id, upload.uploadId)).toMatchObject({
    status: 'partial',
    rowsIn: 2,
    rowCount: 1,
    quarantined: 1,
    uploadTableId: null,
  });
});

test.concurrent('a removal that a kill cut short is ended by the next process', async ({ expect }) => {
  const shared = await sharedSite();
  try {
    const person = await makePerson(shared.database.db, 'owner');
    const first = await spawnServer(shared.environment);
    const call = callsTo(first.baseUrl)(person);
    const id = await experiment({}, call);
    const [doomed, other] = [await uploadTable(call, id, 'leaves', 'n\n1\n'), await uploadTable(call, id, 'roots', 'n\n2\n')];
    const lake = join(shared.folder, 'lake');
    await expect.poll(() => logIn(folderOf(lake, id, doomed)).length).toBe(2);
    expect((await call('DELETE', tableAt(id, doomed))).status).toBe(200);
    await first.kill('SIGKILL');
    const second = await spawnServer(shared.environment);
    await expect.poll(() => logIn(folderOf(lake, id, doomed))).toEqual([]);
    await hasten(shared.database.db, doomed);
    await expect.poll(() => existsSync(folderOf(lake, id, doomed))).toBe(false);
    expect((await rowsOf(id, other, callsTo(second.baseUrl)(person))).body[0].data.rows).toMatchObject([{ n: 2 }]);
    await second.kill('SIGTERM');
  } finally {
    await shared.remove();
  }
});

// counts whoever waits in the database, so that nobody else may be at work
test('an upload whose rows are written already when its table is removed ends as table_deleted', async () => {
  const id = await experiment();
  const tableId = await uploadTable(owner, id, 'leaves', 'n\n1\n');
  // whoever publishes the first rows would stand in the line too
  const unpublished = () =>
    site.db.rows(sql('t')`select from lake_tables where id = ${tableId} and published_version is distinct from version`);
  await expect.poll(async () => (await unpublished()).length).toBe(0);
  // the removal is first in the line for the table, and the commit of the rows behind it
  const { removal, uploadId } = await site.db.transaction(async (tx) => {
    await tx.run(sql('t')`select from lake_tables where id = ${tableId} for no key update`);
    const removing = owner('DELETE', tableAt(id, tableId));
    await expect.poll(() => countWaiting(site.db)).toBe(1);
    const form = new FormData();
    for (const [name, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: tableId }))
      form.append(name, value);
    form.append('files', new Blob(['n\n2\n']), 'second.csv');
    const made = await owner('POST', `/api/v1/experiments/${id}/data/uploads`, { body: form });
    expect(made.status).toBe(201);
    await expect.poll(() => countWaiting(site.db)).toBe(2);
    return { removal: removing, uploadId: String(made.body.uploadId) };
  });
  expect((await removal).status).toBe(200);
  expect(await ended(id, uploadId)).toMatchObject({
    ...{ status: 'failed', uploadTableId: null, rowCount: 0 },
    files: [{ status: 'failed', reason: 'table_deleted', message: GONE, stored: 0 }],
  });
  await hasten(site.db, tableId);
  await expect.poll(() => existsSync(folderOf(site.lakeFolder, id, tableId))).toBe(false);
});

test.concurrent('a table that does not exist is told with near names of those that the caller may read', async ({ expect }) => {
  const id = await experiment({ visibility: 'public' });
  await uploadTable(owner, id, 'leaves', 'n\n1\n');
  const told = async (call: Call, name: string) => (await rowsOf(id, name, call)).body.detail as string;

  expect(await told(owner, 'laeves')).toBe("There is no table 'laeves' in this experiment. Did you mean 'leaves'?");
  expect(await told(owner, 'rawdata')).toBe("There is no table 'rawdata' in this experiment. Did you mean 'raw_data'?");
  expect(await told(owner, 'canopy')).toBe("There is no table 'canopy' in this experiment.");
  // whoever may only read the experiment is told no name of an upload
  const stranger = site.as(site.cast.stranger);
  expect((await stranger('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: 'device' } })).status).toBe(200);
  expect(await told(stranger, 'laeves')).toBe("There is no table 'laeves' in this experiment.");
});
