import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compactTable } from '../../src/lakehouse/tables/maintenance.ts';
import { sql } from '../../src/database/sql.ts';
import { grant, makePerson } from '../support/cast.ts';
import { compareLogs } from '../support/lake-log.ts';
import { sharedSite, spawnServer } from '../support/process.ts';
import { callsTo, startTestServer, type Answer, type Call, type TestServer } from '../support/server.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
beforeAll(async () => {
  site = await startTestServer();
  owner = site.as(site.cast.owner);
});
afterAll(() => site.stop());

const experiment = async (body: object = {}) =>
  String((await owner('POST', '/api/v1/experiments', { body: { name: 'Taken back', ...body } })).body.id);
const uploadsAt = (id: string) => `/api/v1/experiments/${id}/data/uploads`;
const refusal = ({ status, body }: Answer) => ({ status, code: String(body?.code) });
const newest = async (id: string): Promise<any> => (await owner('GET', uploadsAt(id))).body.uploads[0];

async function ended(id: string, uploadId: string, call = owner): Promise<any> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    const { body } = await call('GET', `${uploadsAt(id)}/${uploadId}`);
    if (body.status !== 'pending' && body.status !== 'running') return body;
    await sleep(50);
  }
  throw new Error('the upload did not end');
}

/** Sends a file, whatever becomes of it. Answers the upload as it ended. */
async function send(id: string, tableId: string, [name, text]: [string, string], fields: Record<string, string> = {}, call = owner) {
  const form = new FormData();
  const all = { sourceKind: 'csv', targetKind: 'existing', uploadTableId: tableId, ...fields };
  for (const [field, value] of Object.entries(all)) form.append(field, value);
  form.append('files', new Blob([text]), name);
  const made = await call('POST', uploadsAt(id), { body: form });
  expect(made.status, made.text).toBe(201);
  return ended(id, String(made.body.uploadId), call);
}

async function withdraw(id: string, uploadId: string, call = owner) {
  const asked = await call('POST', `${uploadsAt(id)}/${uploadId}/withdraw`);
  expect(asked.status, asked.text).toBe(200);
  expect(asked.body).toMatchObject({ uploadId, withdrawRequestedAt: expect.any(String) });
  return ended(id, uploadId, call);
}

const compact = async (tableId: string) => {
  const { db, staging } = await site.context();
  return compactTable({ db, staging }, tableId, { sortColumn: 'uploaded_at' });
};

/** What a reader sees of a table: its columns, and its rows without the moment at which they came. */
async function look(id: string, tableId: string, query: Record<string, string | number> = {}) {
  const tables = (await owner('GET', `/api/v1/experiments/${id}/tables`)).body as {
    identifier: string;
    columns: any[];
    totalRows: number;
  }[];
  const table = tables.find(({ identifier }) => identifier === tableId);
  const { body, status, text } = await owner('GET', `/api/v1/experiments/${id}/data`, {
    query: { tableName: tableId, orderBy: 'id', pageSize: 100, ...query },
  });
  expect(status, text).toBe(200);
  return { columns: table?.columns.map(({ name, type }) => ({ name, type })), count: table?.totalRows, rows: body[0].data.rows };
}
const versionOf = async (tableId: string) =>
  (await site.db.one<{ version: number }>(sql('t')`select version from lake_tables where id = ${tableId}`))?.version ?? -1;

test('what came by an upload leaves the table, older versions keep it, and the same file can be sent again', async () => {
  const id = await experiment();
  const tableId = await uploadTable(owner, id, 'leaves', 'plot,spad\n1,31.5\n2,29.9\n');
  const before = await look(id, tableId);
  const wrong = 'plot,spad,note\n3,n.a.,wet\n4,30,dry\n5,1,x,y\n';
  const sent = await send(id, tableId, ['wrong.csv', wrong]);
  expect(sent).toMatchObject({ status: 'partial', rowCount: 2, quarantined: 1, withdrawRequestedAt: null, withdrawnAt: null });
  const withWrong = await look(id, tableId);
  expect(withWrong.count).toBe(4);
  const version = await versionOf(tableId);
  const row = withWrong.rows.find(({ note }: { note: string | null }) => note === 'wet');
  const comment = { type: 'comment', content: { type: 'comment', text: 'not ours' } };
  const noted = await owner('POST', `/api/v1/experiments/${id}/data/annotations`, {
    body: { tableName: tableId, rowId: row.id, annotation: comment },
  });
  expect(noted.status, noted.text).toBe(201);

  const done = await withdraw(id, sent.uploadId);
  expect(done).toMatchObject({ rowCount: 2, quarantined: 1, withdrawnAt: expect.any(String), status: 'partial' });
  expect(await look(id, tableId)).toEqual(before);
  expect((await look(id, tableId, { asOf: version })).rows).toHaveLength(4);
  const setAside = await site.db.one(
    sql('t')`select row_count as "rowCount" from lake_tables where experiment_id = ${id} and kind = 'quarantine'`,
  );
  expect(setAside).toEqual({ rowCount: 0 });
  expect(await site.db.rows(sql('t')`select object_key as key from upload_files where upload_id = ${sent.uploadId}`)).toEqual([
    { key: null },
  ]);
  // again changes nothing, nor is there anything to be read again
  expect(await withdraw(id, sent.uploadId)).toEqual(done);
  expect((await owner('POST', `${uploadsAt(id)}/${sent.uploadId}/replay`)).body).toEqual(done);
  expect(await newest(id)).toMatchObject({ uploadId: sent.uploadId, withdrawnAt: done.withdrawnAt });

  // the file is new: here it is read in another way, which the rows of before would have forbidden
  const again = await send(id, tableId, ['wrong.csv', wrong], { missing: 'n.a.' });
  expect(again).toMatchObject({ status: 'partial', rowCount: 2, quarantined: 1, alreadyThere: 0 });
  const back = await look(id, tableId);
  expect(back.rows.find(({ note }: { note: string | null }) => note === 'wet')).toMatchObject({
    ...{ id: row.id, spad: null, annotations: [{ content: { text: 'not ours' } }] },
  });
  await compareLogs(site);
});

test('of compacted files the rows of others stay, with their ids', async () => {
  const id = await experiment();
  const tableId = await uploadTable(owner, id, 'leaves', 'n,a\n1,x\n2,y\n');
  await appendTo(owner, id, tableId, 'n,a,b\n3,x,1\n4,y,2\n');
  const wrong = await newest(id);
  await appendTo(owner, id, tableId, 'n,a\n5,z\n');
  const before = await look(id, tableId);
  expect(await compact(tableId)).toEqual({ before: 3, after: 1 });
  await withdraw(id, wrong.uploadId);
  const left = before.rows.filter(({ n }: { n: number }) => n !== 3 && n !== 4).map(({ b: _, ...others }: { b: number | null }) => others);
  const now = await look(id, tableId);
  expect(now.rows).toEqual(left);
  expect(now.columns?.map(({ name }) => name)).not.toContain('b');
  // all that was sent can go, and the table takes files again
  for (const { uploadId, withdrawnAt } of (await owner('GET', uploadsAt(id))).body.uploads)
    if (withdrawnAt === null) await withdraw(id, uploadId);
  expect(await look(id, tableId)).toMatchObject({ count: 0, rows: [] });
  await appendTo(owner, id, tableId, 'n,c\n7,w\n');
  expect((await look(id, tableId)).rows).toMatchObject([{ n: 7, c: 'w' }]);
  await compareLogs(site);
});

test('a column that others have values of stays, and one that another upload brought', async () => {
  const id = await experiment();
  const tableId = await uploadTable(owner, id, 'leaves', 'n,empty\n1,\n');
  await appendTo(owner, id, tableId, 'n,empty,both,own\n2,5,1,1\n');
  const wrong = await newest(id);
  await appendTo(owner, id, tableId, 'n,both,own\n3,2,\n');
  await withdraw(id, wrong.uploadId);
  const { columns, rows } = await look(id, tableId, { orderBy: 'n' });
  expect(rows).toMatchObject([
    { n: 1, both: null },
    { n: 3, both: 2 },
  ]);
  const names = columns?.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['n', 'empty', 'both']));
  expect(names).not.toContain('own');
});

test('whatever is sent and taken back, the table is what it would be without', async () => {
  const value = fc.constantFrom('1', '2.5', 'x', '', 'NA', 'true', '2026-05-01', '99999999999');
  const columns = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 4 });
  const file = columns.chain((names) =>
    fc.record({
      names: fc.constant(names),
      rows: fc.array(fc.array(value, { minLength: names.length, maxLength: names.length }), { minLength: 1, maxLength: 5 }),
    }),
  );
  const print = ({ names, rows }: { names: string[]; rows: string[][] }, at: number) =>
    `file,${names.join(',')}\n${rows.map((row) => `f${at},${row.join(',')}`).join('\n')}\n`;
  const steps = fc.record({ files: fc.array(file, { minLength: 1, maxLength: 4 }), wrong: file, at: fc.nat(3), isCompacted: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(steps, async ({ files, wrong, at, isCompacted }) => {
      const id = await experiment();
      const all = files.map((each, index) => ({ name: `${index}.csv`, text: print(each, index) }));
      const [first, ...others] = all.toSpliced(Math.min(at, all.length) || 1, 0, { name: 'wrong.csv', text: print(wrong, 99) });
      const tableId = await uploadTable(owner, id, 'mixed', first!.text);
      let wrongId = '';
      for (const { name, text } of others) {
        const { uploadId } = await send(id, tableId, [name, text]);
        if (name === 'wrong.csv') wrongId = uploadId;
      }
      if (isCompacted) await compact(tableId);
      const before = await look(id, tableId);
      const done = await withdraw(id, wrongId);
      expect(done.withdrawnAt).not.toBeNull();
      const after = await look(id, tableId);
      const has = (name: string) => after.columns?.some((column) => column.name === name);
      const expected = before.rows
        .filter((row: { file: string }) => row.file !== 'f99')
        .map((row: object) => Object.fromEntries(Object.entries(row).filter(([name]) => has(name))));
      expect(after.rows).toEqual(expected);
      expect(after.count).toBe(expected.length);
      const gone = before.columns?.filter(({ name }) => !has(name)).map(({ name }) => name) ?? [];
      for (const name of gone) for (const row of before.rows) if (row.file !== 'f99') expect(row[name]).toBeNull();
    }),
    { numRuns: process.env['SOAK'] === undefined ? 2 : 6 },
  );
  await compareLogs(site);
});

test('the sender and managers may take back, others may not; nothing is taken back while files come', async () => {
  const id = await experiment();
  const { member, stranger } = site.cast;
  for (const { id: user } of [member, site.cast.viewer]) await grant(site.db, { type: 'experiment', id }, { user }, 'viewer');
  const tableId = await uploadTable(owner, id, 'leaves', 'n\n1\n');
  const first = await newest(id);
  const [contributor, another, outsider] = [site.as(member), site.as(site.cast.viewer), site.as(stranger)];
  const theirs = await send(id, tableId, ['theirs.csv', 'n\n2\n'], {}, contributor);
  const path = `${uploadsAt(id)}/${theirs.uploadId}/withdraw`;
  expect(refusal(await another('POST', path))).toMatchObject({ status: 403 });
  expect(refusal(await outsider('POST', path))).toMatchObject({ status: 403 });
  expect(refusal(await contributor('POST', `${uploadsAt(id)}/${first.uploadId}/withdraw`))).toMatchObject({ status: 403 });
  expect(refusal(await owner('POST', `${uploadsAt(id)}/${tableId}/withdraw`))).toEqual({ status: 404, code: 'UPLOAD_NOT_FOUND' });

  const setWithdrawal = (moment: Date | null) =>
    site.db.run(sql('t')`update uploads set withdraw_requested_at = ${moment} where id = ${first.uploadId}`);
  const setRunning = (isRunning: boolean) =>
    site.db.run(sql('t')`update uploads set heartbeat_at = now(), status = case when ${isRunning} then 'running' else 'completed' end,
      completed_at = case when not ${isRunning} then now() end where id = ${first.uploadId}`);
  await setRunning(true);
  expect(refusal(await contributor('POST', path))).toEqual({ status: 409, code: 'TABLE_BUSY' });
  const more = async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: tableId }))
      form.append(name, value);
    form.append('files', new Blob(['n\n1\n']), 'more.csv');
    return contributor('POST', uploadsAt(id), { body: form });
  };
  const taken = await more();
  expect(taken.status, taken.text).toBe(201);
  await ended(id, String(taken.body.uploadId));
  await setWithdrawal(new Date());
  expect(refusal(await more())).toEqual({ status: 409, code: 'TABLE_BUSY' });
  await setWithdrawal(null);
  await setRunning(false);
  await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } });
  expect(refusal(await contributor('POST', path))).toEqual({ status: 409, code: 'EXPERIMENT_ARCHIVED' });
  await owner('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'active' } });

  await withdraw(id, theirs.uploadId, contributor);
  expect((await look(id, tableId)).rows).toMatchObject([{ n: 1 }, { n: 1 }]);
  await withdraw(id, first.uploadId);
  expect((await look(id, tableId)).rows).toHaveLength(1);
  await owner('DELETE', `/api/v1/experiments/${id}/data/tables/${tableId}`);
  expect(refusal(await owner('POST', `${uploadsAt(id)}/${first.uploadId}/replay`))).toMatchObject({ status: 410 });
});

test('a withdrawal survives kills', async () => {
  const shared = await sharedSite();
  try {
    const person = await makePerson(shared.database.db, 'owner');
    let server = await spawnServer(shared.environment);
    const { body } = await callsTo(server.baseUrl)(person)('POST', '/api/v1/experiments', { body: { name: 'Killed' } });
    const id = String(body.id);
    const tableId = await uploadTable(callsTo(server.baseUrl)(person), id, 'leaves', 'n\n1\n');
    for (const pause of [0, 30, 90]) {
      const lines = Array.from({ length: 20_000 }, (_, at) => `${at + 2},${pause}`);
      const call = callsTo(server.baseUrl)(person);
      const sent = await send(id, tableId, [`${pause}.csv`, `n,c${pause}\n${lines.join('\n')}\n`], {}, call);
      expect(sent).toMatchObject({ status: 'completed', rowCount: 20_000 });
      expect((await call('POST', `${uploadsAt(id)}/${sent.uploadId}/withdraw`)).status).toBe(200);
      await sleep(pause);
      await server.kill('SIGKILL');
      server = await spawnServer(shared.environment);
      const again = callsTo(server.baseUrl)(person);
      expect(await ended(id, sent.uploadId, again)).toMatchObject({ withdrawnAt: expect.any(String), rowCount: 20_000 });
      const read = await again('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: tableId } });
      expect(read.body[0]).toMatchObject({ totalRows: 1, data: { rows: [{ n: 1 }] } });
      expect(read.body[0].data.columns.map(({ name }: { name: string }) => name)).not.toContain(`c${pause}`);
    }
    await server.kill('SIGTERM');
  } finally {
    await shared.remove();
  }
});
