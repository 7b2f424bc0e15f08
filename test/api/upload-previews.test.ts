import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { previewUpload } from '../../src/api/uploads/preview.service.ts';
import type { UploadPreview } from '../../src/api/uploads/uploads.model.ts';
import type { UploadPart } from '../../src/api/uploads/uploads.service.ts';
import type { Caller } from '../../src/auth/caller.ts';
import { sql } from '../../src/database/sql.ts';
import type { Person } from '../support/cast.ts';
import { startTestServer, type Answer, type TestServer } from '../support/server.ts';

const MIB = 1_048_576;
const CSV = 'plot,spad,day\n1,41.2,01/02/2026\n2,NA,13/02/2026\n3,tall,14/02/2026\n';
const NEW = { sourceKind: 'csv', targetKind: 'new', targetName: 'scans' };

let site: TestServer;
let path: string;
let tableId: string;
beforeAll(async () => {
  site = await startTestServer();
  const made = await site.as(site.cast.owner)('POST', '/api/v1/experiments', {
    body: { name: 'Looked at', organizationId: site.cast.leafLab },
  });
  path = `/api/v1/experiments/${String(made.body.id)}/data`;
  const { body } = await send('/uploads', { ...NEW, targetName: 'there' }, [['files', 'there.csv', 'plot,spad\n1,40\n']]);
  tableId = body.uploadTableId;
  const status = async () => (await site.as(site.cast.owner)('GET', `${path}/uploads/${body.uploadId}`)).body.status;
  await vi.waitUntil(async () => (await status()) === 'completed', { timeout: 20_000 });
});
afterAll(() => site.stop());

type Files = readonly (readonly [field: string, name: string, text: string | Uint8Array<ArrayBuffer>])[];

function formOf(fields: Record<string, string>, files: Files): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [field, name, text] of files) form.append(field, new Blob([text]), name);
  return form;
}

const send = (to: string, fields: Record<string, string>, files: Files, caller: Person | null = site.cast.owner): Promise<Answer> =>
  site.as(caller)('POST', `${path}${to}`, { body: formOf(fields, files) });
const preview = (
  fields: Record<string, string> = NEW,
  files: Files = [['files', 'scans.csv', CSV]],
  caller: Person | null = site.cast.owner,
) => send('/uploads/preview', fields, files, caller);

const workFolder = () => join(site.dataDir, 'work', 'ingest');
const left = async () => ({
  rows: await site.db.one(sql(
    'test',
  )`select (select count(*)::integer from uploads) as uploads, (select count(*)::integer from upload_files) as files,
    (select count(*)::integer from lake_tables) as tables, (select count(*)::integer from lake_files) as lake,
    (select count(*)::integer from audit_events) as audits`),
  // logs of tables are written later
  lake: readdirSync(site.lakeFolder, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.parquet') && !file.includes('_delta_log')),
  objects: readdirSync(join(site.dataDir, 'objects'), { recursive: true }).length,
  work: existsSync(workFolder()) ? readdirSync(workFolder()) : [],
});

/** Does something that must leave nothing behind. */
async function leavingNothing<T>(act: () => Promise<T>): Promise<T> {
  const before = await left();
  expect(before.work).toEqual([]);
  const done = await act();
  await expect.poll(left).toEqual(before);
  return done;
}

test('a preview says of every column what its upload then reports', async () => {
  const { status, body } = await leavingNothing(() => preview());
  expect(status).toBe(200);
  expect(body).toMatchObject({ sourceKind: 'csv', uploadTableId: null, uploadTableName: 'scans' });
  const [file] = body.files;
  expect(file).toMatchObject({
    path: 'scans.csv',
    isPart: false,
    byteCount: CSV.length,
    status: 'completed',
    rowsIn: 3,
    stored: 3,
    quarantined: 0,
  });
  expect(file).toMatchObject({ reading: { delimiter: ',', decimal: '.', headerLine: 1 }, otherColumns: [] });
  expect(file.columns[1]).toEqual({
    ...{ name: 'spad', originalKey: 'spad', type: 'STRING', oddValues: 0, missingValues: 1, fit: 'new', form: 'text' },
    missingMarks: [{ mark: 'NA', count: 1 }],
    examples: [
      { row: 1, value: '41.2' },
      { row: 3, value: 'tall' },
    ],
  });
  expect(file.columns[2]).toMatchObject({
    type: 'DATE',
    form: 'dmy',
    examples: [{ row: 1, value: '2026-02-01', sent: '01/02/2026' }, {}, {}],
  });

  const sent = await send('/uploads', NEW, [['files', 'scans.csv', CSV]]);
  const read = async () => (await site.as(site.cast.owner)('GET', `${path}/uploads/${sent.body.uploadId}`)).body;
  await expect.poll(async () => (await read()).status).toBe('completed');
  const columns = (file.columns as Record<string, unknown>[]).map(
    ({ fit: _, form: _form, missingMarks: _marks, examples: _first, ...line }) => line,
  );
  expect((await read()).files[0].columns).toEqual(columns);

  // now it is there
  const again = await leavingNothing(() => preview({ ...NEW, targetKind: 'existing', uploadTableId: sent.body.uploadTableId }));
  expect(again.body).toMatchObject({
    uploadTableId: sent.body.uploadTableId,
    uploadTableName: 'scans',
    files: [{ alreadyThere: 3, columns: [] }],
  });
});

test('options change what is decided, and the columns are held against a table that is there', async () => {
  const fields = { sourceKind: 'csv', targetKind: 'existing', uploadTableId: tableId, missing: 'NA,tall', dateOrder: 'mdy' };
  const { body } = await leavingNothing(() => preview(fields));
  expect(body.uploadTableName).toBe('there');
  expect(body.files[0].columns.map(({ name, type, fit, widenedFrom }: Record<string, string>) => [name, type, fit, widenedFrom])).toEqual([
    ['plot', 'INT', 'same', undefined],
    ['spad', 'DOUBLE', 'widened', 'INT'],
    ['day', 'STRING', 'new', undefined],
  ]);
});

test('of larger files the beginnings are looked at, one after the other', async () => {
  const begun = `${CSV}4,5`;
  const { status, body } = await leavingNothing(() =>
    preview({ ...NEW, targetName: 'parts' }, [
      ['parts', 'one.csv', begun],
      ['parts', 'two.csv', 'plot,spad\n0.5,3\n7'],
      ['files', 'three.csv', 'a"b\n'],
    ]),
  );
  expect(status).toBe(200);
  expect(body.files.map(({ isPart, stored, columns }: any) => [isPart, stored, columns.map(({ fit }: any) => fit)])).toEqual([
    [true, 3, ['new', 'new', 'new']],
    [true, 1, ['widened', 'same']],
    [false, 0, ['new']],
  ]);
  const workbook = await preview({ ...NEW, sourceKind: 'xlsx', targetName: 'parts' }, [['parts', 'a.xlsx', 'PK']]);
  expect(workbook).toMatchObject({
    status: 200,
    body: { files: [{ status: 'failed', reason: 'whole_file_needed', columns: [], reading: null }] },
  });
  const unreadable = await preview({ ...NEW, sourceKind: 'parquet', targetName: 'parts' }, [['files', 'a.parquet', 'nothing of the kind']]);
  expect(unreadable).toMatchObject({ status: 200, body: { files: [{ status: 'failed', reason: 'wrong_type' }] } });
});

test('each file has its time, and all have one together: what takes longer is failed, with the reason', async () => {
  const context = await site.context();
  const caller: Caller = {
    userId: site.cast.owner.id,
    via: { kind: 'key', keyId: 'test' },
    requestId: 'test',
    organizationId: null,
    created: async (_tx, answer) => answer,
  };
  const look = (count: number, limits: { mostMs?: number; mostTogetherMs?: number } = {}) => {
    const parts = async function* (): AsyncGenerator<UploadPart> {
      for (const [name, value] of Object.entries({ ...NEW, targetName: 'timed' })) yield { kind: 'field', name, value };
      for (let index = 0; index < count; index += 1)
        yield { kind: 'file', name: 'parts', filename: `${index}.csv`, body: Readable.from([Buffer.from(CSV)]) };
    };
    const options = { signal: new AbortController().signal, ...limits };
    return leavingNothing(() => previewUpload(context, caller, path.split('/')[4]!, parts(), options));
  };
  const tell = ({ files }: UploadPreview) => files.map(({ status, reason }) => [status, reason]);
  expect(tell(await look(2))).toEqual(Array(2).fill(['completed', null]));
  expect(tell(await look(2, { mostMs: 1 }))).toEqual(Array(2).fill(['failed', 'took_too_long']));

  const begun = performance.now();
  expect(tell(await look(10))).toEqual(Array(10).fill(['completed', null]));
  // each takes about a tenth of that
  const told = tell(await look(10, { mostTogetherMs: (performance.now() - begun) / 3 }));
  expect([told[0], told[9]]).toEqual([
    ['completed', null],
    ['failed', 'took_too_long'],
  ]);
});

test('a table need not have a name yet, but one that is given must be free', async () => {
  const { targetName: _, ...nameless } = NEW;
  expect(await preview(nameless)).toMatchObject({ status: 200, body: { uploadTableId: null, uploadTableName: null } });
  expect(await preview({ ...NEW, targetName: 'free' })).toMatchObject({ status: 200, body: { uploadTableName: 'free' } });
  expect(await preview({ ...NEW, targetName: 'there' })).toMatchObject({
    status: 409,
    body: { code: 'TABLE_NAME_TAKEN', uploadTableId: tableId },
  });
  expect(await preview({ ...NEW, targetName: '1' })).toMatchObject({ status: 400, body: { errors: [{ path: '/targetName' }] } });
});

describe('what is refused leaves nothing', () => {
  const existing = () => ({ sourceKind: 'csv', targetKind: 'existing', uploadTableId: tableId });
  const file: Files[number] = ['files', 'a.csv', CSV];

  test('whoever may not contribute, or may not make tables', async () => {
    const { owner, member, stranger } = site.cast;
    for (const [caller, fields, status] of [
      [owner, { ...NEW, targetName: 'mine' }, 200],
      // what each refusal below has one thing less or more than
      [owner, existing(), 200],
      [member, existing(), 200],
      [member, { ...NEW, targetName: 'mine' }, 403],
      [stranger, existing(), 403],
      [null, existing(), 401],
    ] as const)
      expect((await leavingNothing(() => preview(fields, [file], caller))).status).toBe(status);
  });

  test.each<[string, () => [Record<string, string>, Files], number, Record<string, unknown>]>([
    [
      'a kind that there is not',
      () => [{ ...existing(), sourceKind: 'pdf' }, [file]],
      400,
      { code: 'INVALID_INPUT', errors: [{ path: '/sourceKind' }] },
    ],
    ['an option that means nothing', () => [{ ...existing(), decimal: ';' }, [file]], 400, { errors: [{ path: '/decimal' }] }],
    ['an option of another kind', () => [{ ...existing(), sheet: 'One' }, [file]], 400, { errors: [{ path: '/sheet' }] }],
    [
      'a table that there is not',
      () => [{ ...existing(), uploadTableId: '00000000-0000-4000-8000-000000000000' }, [file]],
      404,
      { code: 'TABLE_NOT_FOUND' },
    ],
    ['a name of another kind', () => [existing(), [['files', 'a.tsv', CSV]]], 400, { code: 'UPLOAD_REFUSED' }],
    ['two files of a name', () => [existing(), [file, ['parts', 'a.csv', CSV]]], 400, { code: 'UPLOAD_REFUSED' }],
    ['a part of another name', () => [existing(), [['file', 'a.csv', CSV]]], 400, { code: 'UPLOAD_REFUSED' }],
    ['no file', () => [existing(), []], 400, { code: 'UPLOAD_REFUSED' }],
    [
      'more than ten files',
      () => [existing(), Array.from({ length: 11 }, (_, at) => ['files', `${at}.csv`, 'a\n1\n'] as const)],
      400,
      { code: 'UPLOAD_REFUSED' },
    ],
    ['more than 4 MiB', () => [existing(), [['parts', 'a.csv', `plot\n${'1\n'.repeat(2 * MIB)}`]]], 413, { code: 'FILE_TOO_LARGE' }],
  ])('%s', async (_, asked, status, body) => {
    const [fields, files] = asked();
    expect(await leavingNothing(() => preview(fields, files))).toMatchObject({ status, body });
  });

  test('a body of another type', async () => {
    const answer = await site.as(site.cast.owner)('POST', `${path}/uploads/preview`, { body: { ...existing() } });
    expect(answer).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
  });

  test('4 MiB are looked at', async () => {
    const line = process.env['SOAK'] === '1' ? '1\n' : '1234567\n';
    const head = 'plot\n';
    const lines = Math.floor((4 * MIB - head.length) / line.length);
    const text = `${head}${line.repeat(lines)}${'1234567\n'.slice(head.length + lines * line.length - 4 * MIB)}`;
    expect(text).toHaveLength(4 * MIB);
    const begun = performance.now();
    const { status, body } = await preview(existing(), [['parts', 'a.csv', text]]);
    process.stdout.write(`4 MiB of ${lines + 1} records are looked at in ${((performance.now() - begun) / 1_000).toFixed(1)} s\n`);
    expect(status).toBe(200);
    expect(body.files[0]).toMatchObject({ isPart: true, byteCount: 4 * MIB, stored: lines + 1 });
  });

  test('a request that is cut off', async () => {
    await leavingNothing(async () => {
      const { hostname, port } = new URL(site.server.baseUrl);
      const socket = connect(Number(port), hostname);
      const fields = Object.entries(existing()).map(
        ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      socket.write(
        [
          `POST ${path}/uploads/preview HTTP/1.1`,
          `host: ${hostname}:${port}`,
          `x-api-key: ${site.cast.owner.apiKey}`,
          'content-length: 9000',
        ].join('\r\n'),
      );
      socket.write(`\r\ncontent-type: multipart/form-data; boundary=b\r\n\r\n${fields.join('')}`);
      socket.write(`--b\r\ncontent-disposition: form-data; name="files"; filename="a.csv"\r\n\r\n${CSV}`);
      await expect.poll(() => (existsSync(workFolder()) ? readdirSync(workFolder()).length : 0)).toBe(1);
      socket.destroy();
    });
  });

  test('an archived experiment', async () => {
    const call = site.as(site.cast.owner);
    const id = path.split('/')[4]!;
    expect((await call('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'archived' } })).status).toBe(200);
    expect(await leavingNothing(() => preview(existing(), [file]))).toMatchObject({ status: 409, body: { code: 'EXPERIMENT_ARCHIVED' } });
    expect((await call('PATCH', `/api/v1/experiments/${id}`, { body: { status: 'active' } })).status).toBe(200);
    expect((await preview(existing(), [file])).status).toBe(200);
  });
});
