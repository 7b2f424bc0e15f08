import { readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sweepUploadObjects } from '../../src/api/uploads/uploads.service.ts';
import { sql } from '../../src/database/sql.ts';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';

let site: TestServer;
let owner: Call;
let uploads: string;
let tables = 0;
/** The most that a file may hold here; whatever the setting says is kept to. */
const MOST_MIB = 8;
beforeAll(async () => {
  site = await startTestServer({ UPLOAD_FILE_MIB: String(MOST_MIB) });
  owner = site.as(site.cast.owner);
  const made = await owner('POST', '/api/v1/experiments', { body: { name: 'Odd files' } });
  uploads = `/api/v1/experiments/${(made.body as { id: string }).id}/data/uploads`;
});
afterAll(() => site.stop());

type Bytes = string | Uint8Array<ArrayBuffer>;
interface Report {
  status: string;
  uploadTableId: string | null;
  uploadTableName: string | null;
  rowCount: number;
  errorMessage: string | null;
  files: { status: string; reason: string | null }[];
}

const send = (kind: string, files: readonly (readonly [string, Bytes])[], name = `odd_${(tables += 1)}`) => {
  const form = new FormData();
  form.append('sourceKind', kind);
  form.append('targetKind', 'new');
  form.append('targetName', name);
  for (const [name, bytes] of files) form.append('files', new Blob([bytes]), name);
  return owner('POST', uploads, { body: form });
};

async function ended(path: string): Promise<Report> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    const { body } = await owner('GET', path);
    if (!['pending', 'running'].includes((body as Report).status)) return body as Report;
    await sleep(25);
  }
  throw new Error('the upload did not end');
}

async function uploaded(kind: string, files: readonly (readonly [string, Bytes])[], name?: string): Promise<Report> {
  const made = await send(kind, files, name);
  expect([made.status, made.text]).toEqual([201, expect.anything()]);
  return ended(`${uploads}/${(made.body as { uploadId: string }).uploadId}`);
}

/** Bytes of the object folder and of what work leaves beside it. */
const kept = () =>
  ['objects', 'work', 'tmp']
    .map((name) => join(site.dataDir, name))
    .flatMap((folder) => {
      try {
        return readdirSync(folder, { recursive: true, withFileTypes: true });
      } catch {
        return [];
      }
    })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.json'))
    .map((entry) => ({ name: entry.name, bytes: statSync(join(entry.parentPath, entry.name)).size }));

/** What is kept once nothing is at work: a report comes before the copies of its work go. */
const keptAtRest = async () => {
  await expect.poll(() => kept().some(({ name }) => name === 'original')).toBe(false);
  return kept();
};

const refused = async (what: () => Promise<{ status: number; body: unknown }>, status: number, says: RegExp) => {
  const before = kept();
  const { status: answered, body } = await what();
  expect(body).toMatchObject({ status, detail: expect.stringMatching(says) });
  expect(answered).toBe(status);
  await expect.poll(kept).toEqual(before);
};

async function parquet(select: string): Promise<Uint8Array<ArrayBuffer>> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const path = join(site.dataDir, 'made.parquet');
  await connection.run(`copy (${select}) to '${path}' (format parquet, compression zstd, row_group_size 50000000)`);
  connection.closeSync();
  instance.closeSync();
  return new Uint8Array(await readFile(path));
}

test('fields that are not as they should be are told in the words of every other body', async () => {
  const refused = async (fields: Record<string, string>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('files', new Blob(['a\n1\n']), 'a.csv');
    const { body } = await owner('POST', uploads, { body: form });
    return (body as { errors?: unknown }).errors;
  };
  const whole = { sourceKind: 'csv', targetKind: 'new', targetName: `odd_${(tables += 1)}` };
  expect(await refused(whole)).toBeUndefined();
  const KINDS = 'must be one of ambyte, csv, tsv, xlsx, parquet, json, ndjson';
  for (const [fields, path, message] of [
    [{ sourceKind: 'csv' }, '/targetKind', 'must be one of new, existing'],
    [{ sourceKind: 'csv', targetKind: 'new' }, '/targetName', 'is required'],
    [{ ...whole, sourceKind: 'cvs' }, '/sourceKind', KINDS],
    [{ ...whole, decimal: ';' }, '/decimal', 'must be one of ., ,'],
    [{ ...whole, sheet: 'x'.repeat(101) }, '/sheet', 'must have at most 100 characters'],
    [{ sourceKind: 'csv', targetKind: 'existing', uploadTableId: 'x' }, '/uploadTableId', 'must be a UUID'],
  ] as const)
    expect(await refused(fields)).toEqual([{ path, message }]);
});

test('a file of another kind than its name says is refused with a reason, and its bytes are gone', async () => {
  expect(await uploaded('csv', [['a.csv', 'a\n1\n']])).toMatchObject({ status: 'completed', rowCount: 1 });
  const before = await keptAtRest();
  const zip = new Uint8Array([0x50, 0x4b, 3, 4, ...Array.from({ length: 4_000 }, (_, at) => (at * 131) % 256)]);
  for (const [kind, name, bytes] of [
    ['csv', 'a.csv', zip],
    ['csv', 'a.csv', await parquet('select 1 as a')],
    ['parquet', 'a.parquet', 'a\n1\n'],
    ['json', 'a.json', zip],
    ['csv', 'a.csv', new Uint8Array(gzipSync(`a\n${'1\n'.repeat(1_000_000)}`))],
    ['ndjson', 'a.ndjson', new Uint8Array(gzipSync('{"a":1}\n'.repeat(1_000_000)))],
  ] as const) {
    const report = await uploaded(kind, [[name, bytes]]);
    expect(report, name).toMatchObject({ status: 'failed', rowCount: 0, files: [{ status: 'failed', reason: expect.any(String) }] });
    expect(report.errorMessage).toMatch(/\w+.*\.$/);
  }
  await refused(() => send('csv', [['a.exe', 'a\n1\n']]), 400, /\.csv/);
  // the report comes first, so that a crash in between keeps the reason
  await expect.poll(kept).toEqual(before);
});

test('a request body that unpacks to more than a body may hold is refused, though few bytes came', async () => {
  const post = async (body: string) => {
    const response = await fetch(`${site.server.baseUrl}/api/v1/experiments`, {
      method: 'POST',
      headers: { 'x-api-key': site.cast.owner.apiKey, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: new Uint8Array(gzipSync(body)),
    });
    return { status: response.status, body: (await response.json()) as { code?: string } };
  };
  const named = (spaces: number) => `{"name":"Packed"${' '.repeat(spaces)}}`;
  expect((await post(named(1_000_000))).status).toBe(201);
  const { status, body } = await post(named(100_000_000));
  expect([status, body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
});

test('too large a file and too many files are refused while they arrive', async () => {
  const most = MOST_MIB * 1_048_576;
  const line = `"${'x'.repeat(1_000_000)}"\n`;
  const text = `a\n${line.repeat(Math.floor((most - 2) / line.length))}`;
  const whole = await uploaded('csv', [['large.csv', text]]);
  expect(whole).toMatchObject({ status: 'completed', rowCount: Math.floor((most - 2) / line.length) });
  await refused(() => send('csv', [['large.csv', text + line]]), 413, /'large\.csv' is larger than 8 MiB/);
  const files = (count: number) => Array.from({ length: count }, (_, at) => [`${at}.csv`, `a\n${at}\n`] as const);
  expect(await uploaded('csv', files(20))).toMatchObject({ status: 'completed', rowCount: 20 });
  await refused(() => send('csv', files(101)), 400, /100/);
});

test('a body that announces more than all files of its kind may hold is refused before any of it is read', async () => {
  const part = (name: string, value: string) => `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const announce = (bytes: number, targetName: string) =>
    new Promise<{ status: number; body: unknown }>((resolve, reject) => {
      const head = `${part('sourceKind', 'csv')}${part('targetKind', 'new')}${part('targetName', targetName)}--xx\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\nn\n1\n`;
      const tail = '\r\n--xx--\r\n';
      const outgoing = request(
        `${site.server.baseUrl}${uploads}`,
        {
          method: 'POST',
          headers: {
            'x-api-key': site.cast.owner.apiKey,
            'content-type': 'multipart/form-data; boundary=xx',
            'content-length': bytes === 0 ? head.length + tail.length : bytes,
          },
        },
        (response) => {
          void text(response).then((said) => {
            outgoing.destroy();
            resolve({ status: response.statusCode ?? 0, body: JSON.parse(said) });
          }, reject);
        },
      );
      outgoing.once('error', reject);
      outgoing.write(head);
      if (bytes === 0) outgoing.end(tail);
    });
  const honest = (await announce(0, 'as_announced')).body as { uploadId: string };
  expect(await ended(`${uploads}/${honest.uploadId}`)).toMatchObject({ status: 'completed', rowCount: 1 });
  await refused(() => announce(5 * 1_024 ** 3, 'announced'), 413, /100 files of 8 MiB/);
  const { body } = await owner('GET', uploads);
  const names = (body as { uploads: { uploadTableName: string }[] }).uploads.map(({ uploadTableName }) => uploadTableName);
  expect(names).toContain('as_announced');
  expect(names).not.toContain('announced');
});

test('a packed file is refused in words that say so', async () => {
  const bytes = 'a\n1\n';
  expect(await uploaded('csv', [['rows.csv', bytes]])).toMatchObject({ status: 'completed', rowCount: 1 });
  const detailOf = async (name: string) => ((await send('csv', [[name, gzipSync(bytes)]])).body as { detail: string }).detail;
  for (const name of ['rows.csv.gz', 'rows.ZIP'])
    expect(await detailOf(name)).toBe(`The file '${name}' is refused: it is packed; unpack it, and send what is in it.`);
  expect(await detailOf('rows.txt')).toBe("The file 'rows.txt' is refused: a file of the kind csv ends in .csv.");
});

test('a name that climbs out of its folder is a name, and nothing is written where it points', async () => {
  const tryName = async (name: string) => {
    const made = await send('csv', [[name, 'a\n1\n']]);
    if (made.status === 201) {
      const report = await ended(`${uploads}/${(made.body as { uploadId: string }).uploadId}`);
      expect(report, name).toMatchObject({ status: 'completed', rowCount: 1 });
    } else expect([name, made.status, (made.body as { code: string }).code]).toEqual([name, 400, 'UPLOAD_REFUSED']);
  };
  await Promise.all(['../../x.csv', '/etc/x.csv', '..\\..\\x.csv', 'a/../../../x.csv', '....//x.csv'].map(tryName));
  const root = site.dataDir;
  const strays = readdirSync(join(root, '..')).filter((name) => name === 'x.csv' || name === 'etc');
  expect(strays).toEqual([]);
  expect(readdirSync(root, { recursive: true }).filter((name) => String(name).endsWith('x.csv'))).toEqual([]);
});

test('an upload that stops in the middle leaves no bytes and no rows', async () => {
  const before = await keptAtRest();
  const { hostname, port } = new URL(site.server.baseUrl);
  const head = (length: number) =>
    `POST ${uploads} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${site.cast.owner.apiKey}\r\nContent-Type: multipart/form-data; boundary=xx\r\nContent-Length: ${length}\r\n\r\n`;
  const field = (name: string, value: string) => `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const body = `${field('sourceKind', 'csv')}${field('targetKind', 'new')}${field('targetName', 'stopped')}--xx\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\na\n${'1\n'.repeat(200_000)}`;
  const end = '\r\n--xx--\r\n';
  const exchange = (text: string, length: number, cut: boolean) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let answer = '';
      socket.on('data', (chunk: Buffer) => {
        answer += chunk.toString();
        if (answer.includes('\r\n\r\n')) socket.end();
      });
      socket.once('error', reject);
      socket.once('close', () => resolve(answer));
      socket.write(head(length) + text, () => {
        if (cut) setTimeout(() => socket.destroy(), 300);
      });
    });
  await exchange(body, body.length + end.length, true);
  const left = async () => ({ kept: kept(), pending: JSON.stringify((await owner('GET', uploads)).body).includes('"pending"') });
  await expect.poll(left).toEqual({ kept: before, pending: false });
  // so does a body that ends inside a file and says that it is whole
  expect(await exchange(body, body.length, false)).toMatch(/ 400 [^]*UPLOAD_REFUSED/);
  expect(await left()).toEqual({ kept: before, pending: false });
  // the same, whole, is taken under the same name
  expect(await exchange(body + end, body.length + end.length, false)).toContain('201 Created');
});

test('an upload that failed leaves the name of its table free, unless records of it are set aside', async () => {
  const empty = await uploaded('csv', [['a.csv', '']], 'wanted');
  expect(empty).toMatchObject({ status: 'failed', uploadTableId: null, uploadTableName: null });
  const read = await uploaded('csv', [['a.csv', 'a,b\n1,2\n']], 'wanted');
  expect(read).toMatchObject({ status: 'completed', uploadTableName: 'wanted' });
  expect((await send('csv', [['a.csv', 'a,b\n1,2\n']], 'WANTED')).body).toMatchObject({ status: 409, code: 'TABLE_NAME_TAKEN' });
  const aside = await uploaded('csv', [['a.csv', 'a,b\n1\n']], 'aside');
  expect(aside).toMatchObject({ status: 'failed', rowCount: 0, uploadTableName: 'aside' });
});

test('rows stand in the order of their files', async () => {
  const letters = ['d', 'a', 'c', 'b', 'e'];
  const files = letters.map((letter) => [`${letter}.csv`, `v\n${letter}1\n${letter}2\n`] as const);
  const { uploadTableId } = await uploaded('csv', files, 'ordered');
  const experiment = uploads.replace('/data/uploads', '');
  const { body } = await owner('GET', `${experiment}/data`, { query: { tableName: String(uploadTableId) } });
  const rows = (body as { data: { rows: { v: string }[] } }[])[0]!.data.rows;
  expect(rows.map(({ v }) => v)).toEqual(letters.flatMap((letter) => [`${letter}1`, `${letter}2`]));
});

test('the sweep removes bytes of no upload and of one that failed while it arrived, once they are a day old, and no others', async () => {
  const context = await site.context();
  const { signal } = new AbortController();
  const uploadOf = async (bytes: string) => {
    const { body } = await send('csv', [['a.csv', bytes]]);
    const { uploadId } = body as { uploadId: string };
    expect(await ended(`${uploads}/${uploadId}`)).toMatchObject({ status: 'completed' });
    return uploadId;
  };
  const [done, arriving, failed] = [await uploadOf('a\n1\n'), await uploadOf('a\n2\n'), await uploadOf('a\n3\n')];
  const setState = (id: string, status: 'pending' | 'failed') =>
    site.db.run(
      sql(
        'test',
      )`update uploads set status = ${status}, received_at = null, completed_at = case when ${status} = 'failed' then now() end, heartbeat_at = now() + interval '1 hour' where id = ${id}`,
    );
  await setState(arriving, 'pending');
  await setState(failed, 'failed');
  const lost = 'uploads/00000000-0000-7000-8000-000000000000/0';
  await context.objects.put(
    lost,
    (async function* () {
      yield new Uint8Array(3);
    })(),
  );
  const objects = async () => {
    const keys: string[] = [];
    for await (const { key } of context.objects.list('uploads/')) keys.push(key);
    return keys.filter((key) => [lost, ...[done, arriving, failed].map((id) => `uploads/${id}/0`)].includes(key)).sort();
  };
  const all = await objects();
  expect(all).toHaveLength(4);
  expect(await sweepUploadObjects(context, { graceMs: 86_400_000, signal })).toBe(0);
  expect(await objects()).toEqual(all);
  await sweepUploadObjects(context, { graceMs: -1_000, signal });
  expect(await objects()).toEqual([`uploads/${done}/0`, `uploads/${arriving}/0`].sort());
  await setState(arriving, 'failed');
});
