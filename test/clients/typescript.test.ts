import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bodyOf, connect, type Fieldlake } from '../../clients/typescript/src/client.ts';
import { eachOf } from '../../clients/typescript/src/paging.ts';
import { changesOf, type Change } from '../../clients/typescript/src/changes.ts';
import { ProblemError, retryAfter, UnreachableError } from '../../clients/typescript/src/problem.ts';
import { batchesOf, readPage, readPages, rowsOf } from '../../clients/typescript/src/rows.ts';
import { previewFiles, uploadFiles } from '../../clients/typescript/src/uploads.ts';
import { sql } from '../../src/database/sql.ts';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { collectGarbage } from '../support/garbage.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { appendTo, uploadTable } from '../support/uploads.ts';

const ROWS = 250;
const asked = { tableName: 'leaves' };

let site: TestServer;
let proxy: FaultProxy;
let client: Fieldlake;
let id: string;
beforeAll(async () => {
  site = await startTestServer();
  proxy = await startFaultProxy({ port: Number(new URL(site.server.baseUrl).port), host: '127.0.0.1' });
  client = connect({ baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey: site.cast.owner.apiKey });
  ({ id } = await bodyOf(client.POST('/api/v1/experiments', { body: { name: 'By client', organizationId: site.cast.leafLab } })));
  const lines = Array.from({ length: ROWS }, (_, row) => `${row},${row % 2 === 0 ? 'control' : 'drought'}`);
  await uploadTable(site.as(site.cast.owner), id, 'leaves', ['plot,treatment', ...lines].join('\n'));
});
afterAll(async () => {
  await proxy.close();
  await site.stop();
});

const busy = (seconds: string) =>
  `HTTP/1.1 503 Service Unavailable\r\nretry-after: ${seconds}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`;

/** Lets a fault stand until it was met `times` times. */
async function during<T>(fault: Parameters<FaultProxy['set']>[0], times: number, work: () => Promise<T>): Promise<T> {
  const before = proxy.met.get(fault.kind) ?? 0;
  await proxy.set(fault);
  const working = work();
  const settled = working.then(
    () => true,
    () => true,
  );
  while ((proxy.met.get(fault.kind) ?? 0) < before + times && !(await Promise.race([settled, sleep(5, false)])));
  await proxy.set({ kind: 'none' });
  return working;
}

test('the example of its page runs as it is printed', async () => {
  const own = join(import.meta.dirname, '..', '..', 'clients', 'typescript');
  const example = /```ts\n([^]*?)```/.exec(readFileSync(join(own, 'README.md'), 'utf8'))![1]!;
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-client-'));
  try {
    symlinkSync(join(own, 'src'), join(folder, 'src'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const told = { 'http://127.0.0.1:3000': site.server.baseUrl, 'flk_…': site.cast.owner.apiKey, leaf_measurements: 'leaves' };
    const code = Object.entries(told).reduce((text, [printed, here]) => text.replace(printed, here), example);
    writeFileSync(join(folder, 'example.ts'), code);
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'example.ts')]);
    // the rows by page, whose listing is cut at a hundred, and then each
    expect(stdout.match(/treatment: '(control|drought)'/g)!.length).toBeGreaterThanOrEqual(ROWS + 100);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe('pages', () => {
  test('every row comes once and in order, by cursor and whatever the page size', async () => {
    const plots: unknown[] = [];
    let pages = 0;
    const versions = new Set<number>();
    const query = { ...asked, columns: 'plot', orderBy: 'plot', orderDirection: 'ASC' as const, pageSize: 100 };
    for await (const { page, version, next } of readPages(client, id, query)) {
      pages += 1;
      versions.add(version);
      plots.push(...page.data.rows.map((row) => row['plot']));
      expect(next === null || next.cursor !== undefined).toBe(true);
    }
    expect(pages).toBe(3);
    expect([...versions]).toEqual([1]);
    expect(plots).toEqual(Array.from({ length: ROWS }, (_, row) => row));
  });

  test('lists that are paged by number are followed too', async () => {
    for (let made = 0; made < 3; made += 1)
      await client.POST('/api/v1/experiments', { body: { name: `Listed ${made}`, organizationId: site.cast.leafLab } });
    const names: string[] = [];
    for await (const { name } of eachOf((place) =>
      client.GET('/api/v1/experiments', { params: { query: { search: 'Listed', pageSize: 2, ...place } } }),
    ))
      names.push(name);
    expect(names.sort()).toEqual(['Listed 0', 'Listed 1', 'Listed 2']);
  });
});

describe('streams', () => {
  test('NDJSON and Arrow give the rows that a page gives', async () => {
    const query = { ...asked, columns: 'plot,treatment', orderBy: 'plot', orderDirection: 'ASC' as const };
    const { page } = await readPage(client, id, { ...query, limit: 1_000 });
    expect(page.data.rows).toHaveLength(ROWS);
    const lines: unknown[] = [];
    for await (const row of rowsOf(client, id, query)) lines.push(row);
    expect(lines).toEqual(page.data.rows);
    const columns: unknown[] = [];
    for await (const batch of batchesOf(client, id, query))
      for (const row of batch) columns.push({ plot: Number(row['plot']), treatment: row['treatment'] });
    expect(columns).toEqual(page.data.rows);
  });

  test('a stream that is cut is an error, not a shorter answer', async () => {
    const read = async () => {
      let rows = 0;
      for await (const _row of rowsOf(client, id, asked)) rows += 1;
      return rows;
    };
    expect(await read()).toBe(ROWS);
    await expect(during({ kind: 'cut', bytes: 4_000 }, 1, read)).rejects.toThrow();
  });
});

describe('refusals', () => {
  test('are thrown with the sentence, the code, the places and the id of the request', async () => {
    const asking = (query: { pageSize?: number }) => client.GET('/api/v1/experiments', { params: { query } });
    expect((await asking({ pageSize: 1 })).response.status).toBe(200);
    const error = await asking({ pageSize: 0 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ status: 400, code: 'INVALID_INPUT', complaints: [{ path: '?pageSize' }] });
    expect((error as ProblemError).requestId).toMatch(/\S/);
    expect((error as ProblemError).message).toMatch(/\.$/);
  });

  test('a pause that is asked for is read as seconds or as a date', () => {
    const at = Date.UTC(2026, 5, 1, 12);
    expect(retryAfter(new Headers({ 'retry-after': '7' }))).toBe(7);
    expect(retryAfter(new Headers({ 'retry-after': new Date(at + 9_000).toUTCString() }), at)).toBe(9);
    expect(retryAfter(new Headers({ 'retry-after': 'soon' }))).toBeNull();
    expect(retryAfter(new Headers())).toBeNull();
  });
});

describe('repeats', () => {
  const read = () => client.GET('/api/v1/experiments/{id}', { params: { path: { id } } });

  test('a read waits as long as it is told and is asked again', async () => {
    const start = performance.now();
    const { data } = await during({ kind: 'answers', text: busy('1') }, 1, read);
    expect(data?.name).toBe('By client');
    expect(performance.now() - start).toBeGreaterThan(950);
  });

  test('a read survives connections that are reset', async () => {
    expect((await during({ kind: 'reset' }, 1, read)).data?.id).toBe(id);
  });

  test('a creation whose answer was lost makes one thing', async () => {
    const create = () => client.POST('/api/v1/experiments', { body: { name: 'Only once', organizationId: site.cast.leafLab } });
    const { data } = await during({ kind: 'cut', bytes: 1 }, 1, create);
    const found = await bodyOf(client.GET('/api/v1/experiments', { params: { query: { search: 'Only once' } } }));
    expect(found.map((each) => each.id)).toEqual([data?.id]);
  });

  test('files whose answer was lost are taken once, and a name that is taken is refused', async () => {
    const files = (text: string) => [new File([text], 'sent.csv')];
    const fields = { sourceKind: 'csv', missing: '-9' } as const;
    const toNew = () => uploadFiles(client, id, { ...fields, targetKind: 'new', targetName: 'sent' }, files('a,b\n1,-9\n'));
    const { uploadTableId, files: sent } = await toNew();
    expect(sent.map(({ fileName }) => fileName)).toEqual(['sent.csv']);
    const asked = { ...fields, targetKind: 'existing', uploadTableId: uploadTableId! } as const;
    const again = await during({ kind: 'cut', bytes: 1 }, 1, () => uploadFiles(client, id, asked, files('a,b\n2,3\n')));
    const query = { uploadTableId: uploadTableId! };
    const { uploads } = await bodyOf(client.GET('/api/v1/experiments/{id}/data/uploads', { params: { path: { id }, query } }));
    expect(uploads.map(({ uploadId }) => uploadId)).toContain(again.uploadId);
    expect(uploads).toHaveLength(2);
    await expect(toNew()).rejects.toMatchObject({ status: 409, code: 'TABLE_NAME_TAKEN' });
  });

  test('files whose first try still runs are taken when it has ended', async () => {
    const key = randomUUID();
    const first = request(`${site.server.baseUrl}/api/v1/experiments/${id}/data/uploads`, {
      method: 'POST',
      headers: { 'x-api-key': site.cast.owner.apiKey, 'idempotency-key': key, 'content-type': 'multipart/form-data; boundary=x' },
    });
    const fields = { sourceKind: 'csv', targetKind: 'new', targetName: 'kept' } as const;
    const parts = Object.entries(fields).map(
      ([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    first
      .on('error', () => undefined)
      .write(`${parts.join('')}--x\r\ncontent-disposition: form-data; name="files"; filename="kept.csv"\r\n\r\na\n`);
    const files = [new File(['a\n1\n'], 'kept.csv')];
    const send = (tries: number, whenRefused: () => void = () => undefined) => {
      const counted = connect({
        baseUrl: site.server.baseUrl,
        apiKey: site.cast.owner.apiKey,
        retries: { tries },
        fetch: async (asked) => {
          const answer = await fetch(asked);
          if (answer.status === 409) whenRefused();
          return answer;
        },
      });
      return uploadFiles(counted, id, fields, files, { key });
    };
    const isHeld = () => site.db.one(sql('test')`select 1 from idempotency_keys where key = ${key}`);
    await vi.waitUntil(isHeld, { timeout: 10_000 });
    await expect(send(1)).rejects.toMatchObject({ status: 409, code: 'IDEMPOTENCY_IN_PROGRESS', retryAfter: 1 });
    const { uploadTableName } = await send(4, () => first.destroy());
    expect(uploadTableName).toBe('kept');
  });

  test('files are looked at before they are sent, large ones by their beginnings', async () => {
    const look = (sourceKind: 'csv' | 'xlsx', file: File) => previewFiles(client, id, { sourceKind, targetKind: 'new' }, [file]);
    const { files } = await look('csv', new File(['a,b\n1,NA\n'], 'small.csv'));
    expect(files).toMatchObject([{ isPart: false, stored: 1, columns: [{ type: 'INT' }, { missingMarks: [{ mark: 'NA', count: 1 }] }] }]);
    const large = await during({ kind: 'cut', bytes: 1 }, 1, () => look('csv', new File([`a\n${'1\n'.repeat(1_048_576)}`], 'large.csv')));
    expect(large.files).toMatchObject([{ isPart: true, byteCount: 1_048_576, stored: 524_287 }]);
    const workbook = await look('xlsx', new File([new Uint8Array(4_194_305)], 'large.xlsx'));
    expect(workbook.files).toMatchObject([{ isPart: true, byteCount: 0, reason: 'whole_file_needed' }]);
  });

  test('a pause that is too long is handed on, and so is a service that stays away', async () => {
    const hasty = connect({
      baseUrl: `http://127.0.0.1:${proxy.port}`,
      apiKey: site.cast.owner.apiKey,
      retries: { tries: 2, longestPauseSeconds: 2 },
    });
    const hurried = () => hasty.GET('/api/v1/experiments/{id}', { params: { path: { id } } });
    expect((await hurried()).data?.id).toBe(id);
    await expect(during({ kind: 'answers', text: busy('3600') }, 1, hurried)).rejects.toMatchObject({ status: 503, retryAfter: 3_600 });
    await expect(during({ kind: 'reset' }, 2, hurried)).rejects.toBeInstanceOf(UnreachableError);
  });

  test('a sender that knows that nobody is reached is asked once', async () => {
    let sent = 0;
    const asking = (thrown: Error) =>
      connect({
        baseUrl: 'http://127.0.0.1',
        retries: { tries: 2 },
        fetch: () => {
          sent += 1;
          return Promise.reject(thrown);
        },
      }).GET('/api/v1/experiments');
    await expect(asking(new TypeError('Failed to fetch'))).rejects.toBeInstanceOf(UnreachableError);
    expect(sent).toBe(2);
    await expect(asking(new UnreachableError('no network'))).rejects.toBeInstanceOf(UnreachableError);
    expect(sent).toBe(3);
  });

  test('what the caller takes back ends at once', async () => {
    const controller = new AbortController();
    const asking = () => client.GET('/api/v1/experiments/{id}', { params: { path: { id } }, signal: controller.signal });
    expect((await asking()).response.status).toBe(200);
    await proxy.set({ kind: 'answers', text: busy('20') });
    const waiting = asking();
    setTimeout(() => controller.abort(), 200);
    const start = performance.now();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(performance.now() - start).toBeLessThan(3_000);
    await proxy.set({ kind: 'none' });
  });
});

describe('changes', () => {
  /** Listens until something heard fits; answers all that was heard. */
  async function hear(experimentId: string, fits: (change: Change) => boolean, after?: string): Promise<Change[]> {
    const heard: Change[] = [];
    for await (const change of changesOf(client, experimentId, { signal: AbortSignal.timeout(60_000), after })) {
      heard.push(change);
      if (fits(change)) break;
    }
    return heard;
  }
  const isTable = ({ kind }: Change) => kind === 'table';

  test('what happens is heard once, over a cut and a pause that was asked for, and none of it is missed', async () => {
    const owner = site.as(site.cast.owner);
    const table = await uploadTable(owner, id, 'heard', 'a\n1\n');
    const heard: Change[] = [];
    const controller = new AbortController();
    const listening = (async () => {
      for await (const change of changesOf(client, id, { signal: controller.signal })) heard.push(change);
    })();
    // a look that began before the upload had ended may tell its row too
    const versions = () =>
      heard.flatMap(({ kind, data }) => (kind === 'table' && data.identifier === table && data.totalRows !== 1 ? [data.version] : []));
    await expect.poll(() => heard.map(({ kind }) => kind)).toContain('reset');
    await appendTo(owner, id, table, 'a\n2\n');
    await expect.poll(() => versions().length, { timeout: 60_000 }).toBe(1);
    // the stream breaks with the next event, and there is no place for a while
    const cuts = proxy.met.get('cut') ?? 0;
    await proxy.set({ kind: 'cut', bytes: 1 });
    await appendTo(owner, id, table, 'a\n3\n');
    await expect.poll(() => proxy.met.get('cut') ?? 0, { timeout: 60_000 }).toBeGreaterThan(cuts);
    await proxy.set({ kind: 'answers', text: busy('1') });
    await appendTo(owner, id, table, 'a\n4\n');
    await proxy.set({ kind: 'none' });
    await expect.poll(() => versions().length, { timeout: 60_000 }).toBe(3);
    expect(new Set(versions()).size).toBe(3);
    expect(heard.filter(({ kind }) => kind === 'reset')).toHaveLength(1);
    controller.abort();
    await expect(listening).rejects.toMatchObject({ name: 'AbortError' });

    // whoever names the event that they know hears what came after it
    const first = heard.find(isTable)!;
    expect((await hear(id, isTable, first.id)).some(({ kind }) => kind === 'reset')).toBe(false);
    expect((await hear(id, () => true)).map(({ kind }) => kind)).toEqual(['reset']);
  });

  test('the signal ends a stream whose request is garbage already', async () => {
    const controller = new AbortController();
    const heard: Change[] = [];
    const listening = (async () => {
      for await (const change of changesOf(client, id, { signal: controller.signal })) heard.push(change);
    })();
    const ended = expect(listening).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => heard.length).toBe(1);
    for (let times = 0; times < 5; times += 1) {
      collectGarbage();
      await sleep(50);
    }
    controller.abort();
    await ended;
  });

  test('a refusal for good ends it', async () => {
    expect((await hear(id, () => true)).map(({ kind }) => kind)).toEqual(['reset']);
    await expect(hear(crypto.randomUUID(), () => true)).rejects.toMatchObject({ status: 404 });
  });
});
