import { afterAll, beforeAll, expect, test } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/config.ts';
import { sql } from '../../src/database/sql.ts';
import { MAX_COLUMNS } from '../../src/ingest/limits.ts';
import { startServer, type RunningServer } from '../../src/server.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { recordExchange } from '../support/operations-seen.ts';
import { sharedSite } from '../support/process.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: RunningServer;
let owner: Person;
let stranger: Person;

/** The service with room for records of so many KiB; the database and the folder stay. */
async function start(recordKib: number): Promise<void> {
  server = await startServer(
    readConfig({
      ...site.environment,
      PORT: '0',
      BROKER_PORT: '0',
      LOG_LEVEL: 'silent',
      SAMPLE_DATA: 'off',
      MACRO_LANGUAGES: 'none',
      UPLOAD_RECORD_KIB: String(recordKib),
    }),
  );
}
beforeAll(async () => {
  site = await sharedSite();
  await start(1);
  owner = await makePerson(server.context.db, 'owner');
  stranger = await makePerson(server.context.db, 'stranger');
});
afterAll(async () => {
  await server.stop();
  await site.remove();
});

async function call(method: string, path: string, body?: FormData | object, person: Person | null = owner) {
  const form = body instanceof FormData;
  const response = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { ...(person ? { 'x-api-key': person.apiKey } : {}), ...(body && !form ? { 'content-type': 'application/json' } : {}) },
    ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  await recordExchange({
    method,
    path,
    sent: body,
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    text,
  });
  return { status: response.status, body: JSON.parse(text) };
}

async function finished(path: string) {
  for (let tries = 0; tries < 400; tries += 1) {
    const { body } = await call('GET', path);
    if (!['pending', 'running'].includes(body.status)) return body;
    await sleep(50);
  }
  throw new Error('the upload did not end');
}

const send = async (uploads: string, fields: Record<string, string>, files: readonly [string, string][]) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, text] of files) form.append('files', new Blob([text]), name);
  const made = await call('POST', uploads, form);
  expect(made.status).toBe(201);
  return finished(`${uploads}/${made.body.uploadId}`);
};

const rowsOf = async (experimentId: string, table: string) =>
  (await call('GET', `/api/v1/experiments/${experimentId}/data?tableName=${table}&pageSize=100&orderBy=id`)).body[0].data.rows as Record<
    string,
    unknown
  >[];

const essay = (letter: string) => `${letter}${'\n lang'.repeat(400)}`;

test('POST /api/v1/experiments/{id}/data/uploads/{uploadId}/replay brings exactly the missing rows, once', async () => {
  const experimentId = (await call('POST', '/api/v1/experiments', { name: 'Replay' })).body.id as string;
  const uploads = `/api/v1/experiments/${experimentId}/data/uploads`;
  const csv = `n,note\n1,short\n2,"${essay('a')}"\n3\n4,short\n5,"${essay('b')}"\n6,last\n`;
  const first = await send(uploads, { sourceKind: 'csv', targetKind: 'new', targetName: 'notes' }, [['notes.csv', csv]]);
  expect(first.status).toBe('partial');
  expect(first.quarantined).toBeGreaterThanOrEqual(3);
  const lines = [{ n: 1 }, { n: 2, note: essay('c') }, { n: 3, mark: true }].map((row) => JSON.stringify(row)).join('\n');
  const second = await send(uploads, { sourceKind: 'ndjson', targetKind: 'new', targetName: 'lines' }, [
    ['lines.ndjson', `${lines}\n{"n": 4\n`],
  ]);
  expect(second).toMatchObject({ status: 'partial', rowsIn: 4, rowCount: 2, quarantined: 2 });
  const clean = await send(uploads, { sourceKind: 'csv', targetKind: 'new', targetName: 'clean' }, [['clean.csv', 'a\n1\n']]);
  const before = await rowsOf(experimentId, 'notes');

  // nothing was mended: nothing changes
  const replay = (upload: { uploadId: string }) => `${uploads}/${upload.uploadId}/replay`;
  expect((await call('POST', replay(second))).status).toBe(200);
  expect(await finished(`${uploads}/${second.uploadId}`)).toMatchObject({ status: 'partial', rowsIn: 4, rowCount: 2, quarantined: 2 });
  expect(await call('POST', replay(clean))).toMatchObject({ status: 200, body: { status: 'completed', rowCount: 1 } });

  await server.stop();
  await start(8_192);
  expect((await call('POST', replay(first), undefined, null)).status).toBe(401);
  expect((await call('POST', replay(first), undefined, stranger)).status).toBe(403);
  expect(await call('POST', `${uploads}/${experimentId}/replay`)).toMatchObject({ status: 404, body: { code: 'UPLOAD_NOT_FOUND' } });
  const answers = await Promise.all(Array.from({ length: 5 }, () => call('POST', replay(first))));
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
  for (const { status, body } of answers)
    if (status !== 200) expect({ status, code: body.code }).toEqual({ status: 409, code: 'UPLOAD_RUNNING' });
  const done = await finished(`${uploads}/${first.uploadId}`);
  expect(done).toMatchObject({ status: 'partial', rowsIn: 6, rowCount: 5, quarantined: 1 });
  expect(done.files[0]).toMatchObject({ status: 'partial', stored: 5, quarantined: 1, reason: 'too_few_fields' });
  const rows = await rowsOf(experimentId, 'notes');
  expect(rows.map(({ n }) => n)).toEqual([1, 2, 4, 5, 6]);
  expect(rows.map(({ note }) => note)).toEqual(['short', essay('a'), 'short', essay('b'), 'last']);
  // what was there is what it was
  for (const row of before) expect(rows).toContainEqual(row);

  expect((await call('POST', replay(second))).body.status).toBe('running');
  expect(await finished(`${uploads}/${second.uploadId}`)).toMatchObject({ status: 'partial', rowsIn: 4, rowCount: 3, quarantined: 1 });
  expect((await rowsOf(experimentId, 'lines')).map(({ n, note }) => [n, note ?? null])).toEqual([
    [1, null],
    [2, essay('c')],
    [3, null],
  ]);

  // the same bytes once more are there already, and an archived experiment takes no replay
  const again = await send(uploads, { sourceKind: 'csv', targetKind: 'existing', uploadTableId: first.uploadTableId }, [
    ['notes.csv', csv],
  ]);
  expect(again).toMatchObject({ rowsIn: 6, alreadyThere: 6, rowCount: 0 });
  expect((await call('PATCH', `/api/v1/experiments/${experimentId}`, { status: 'archived' })).status).toBe(200);
  expect((await call('POST', replay(first))).status).toBe(409);
});

test('a replay that is refused leaves rows, report and bytes as they are, and says why', async () => {
  const experimentId = (await call('POST', '/api/v1/experiments', { name: 'Refused replay' })).body.id as string;
  const uploads = `/api/v1/experiments/${experimentId}/data/uploads`;
  await server.stop();
  await start(1);
  // too long for a record of 1 KiB, and too many columns for a table
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: MAX_COLUMNS + 1 }, (_, at) => [`c${at}`, 1])));
  const upload = await send(uploads, { sourceKind: 'ndjson', targetKind: 'new', targetName: 'wide' }, [
    ['wide.ndjson', `{"n":1}\n${wide}\n`],
  ]);
  expect(upload).toMatchObject({ status: 'partial', rowCount: 1, quarantined: 1 });
  await server.stop();
  await start(8_192);
  const at = `${uploads}/${upload.uploadId}`;
  const { objectKey } = (await server.context.db.one<{ objectKey: string }>(
    sql('test')`select object_key as "objectKey" from upload_files where upload_id = ${upload.uploadId}`,
  ))!;
  for (let times = 0; times < 2; times += 1) {
    expect((await call('POST', `${at}/replay`)).body.status).toBe('running');
    const left = await finished(at);
    expect(left).toMatchObject({ status: 'partial', rowCount: 1, quarantined: 1 });
    expect(left.files[0]).toMatchObject({ status: 'partial', stored: 1, quarantined: 1, message: expect.stringContaining('columns') });
    expect(await server.context.objects.head(objectKey)).toBeDefined();
  }
  expect(await rowsOf(experimentId, 'wide')).toMatchObject([{ n: 1 }]);
});
