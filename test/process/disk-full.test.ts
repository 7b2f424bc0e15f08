import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { eventually } from '../support/crashes.ts';
import { startTestServer, type Answer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
let folder: string;
let experimentId: string;
let base: string;
let tableId: string;
let rowId: string;

/** A file system of its own, whose end is soon met; Postgres lies elsewhere. */
function mountSmall(megabytes: number): string {
  const mounted = mkdtempSync(join(tmpdir(), 'fieldlake-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', mounted]);
  return mounted;
}

function unmountSmall(mounted: string): void {
  execFileSync('umount', [mounted]);
  rmSync(mounted, { recursive: true });
}

const ballastIn = (mounted: string) => join(mounted, 'ballast');

/** Takes all the room there is. */
function fillUp(mounted: string): void {
  writeFileSync(ballastIn(mounted), '');
  for (const bytes of [1_048_576, 4_096])
    for (;;)
      try {
        appendFileSync(ballastIn(mounted), Buffer.alloc(bytes));
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
        break;
      }
}

// the two run beside each other: most of their time is waiting
describe.runIf(process.getuid?.() === 0)('on a file system of its own, which only root can mount', { concurrent: true }, () => {
  beforeAll(async () => {
    folder = mountSmall(24);
    site = await startTestServer({ DATA_DIR: join(folder, 'data'), MACRO_LANGUAGES: 'javascript' });
    owner = site.as(site.cast.owner);
    const { id } = (await owner('POST', '/api/v1/experiments', { body: { name: 'Full', organizationId: site.cast.leafLab } })).body;
    experimentId = id;
    base = `/api/v1/experiments/${id}`;
    const rows = Array.from({ length: 20_000 }, (_, at) => `${at},${Math.sin(at)}`);
    tableId = await uploadTable(owner, id, 'waves', `at,sine\n${rows.join('\n')}\n`);
    rowId = (await owner('GET', `${base}/data`, { query: { tableName: tableId } })).body[0].data.rows[0].id;
  });
  afterAll(async () => {
    await site.stop();
    unmountSmall(folder);
  });

  const ballast = () => ballastIn(folder);
  const fill = () => fillUp(folder);

  const filesIn = (name: string): string[] => {
    const path = join(folder, 'data', name);
    mkdirSync(path, { recursive: true });
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name: file }) => join(parentPath, file))
      .sort();
  };
  const kept = () => ['lake', 'objects', 'work/ingest'].flatMap(filesIn);
  /** The same, once it is as it was before: an attempt that is under way has begun a file. */
  const keptOnce = (before: readonly string[]) =>
    eventually(
      () => Promise.resolve(kept()),
      (files) => files.join() === before.join(),
      10_000,
    );

  const upload = (kind: string, text: string) => {
    const form = new FormData();
    for (const [field, value] of Object.entries({
      sourceKind: kind,
      targetKind: 'new',
      targetName: `t_${Math.random().toString(36).slice(2)}`,
    }))
      form.append(field, value);
    form.append('files', new Blob([text]), `rows.${kind}`);
    return owner('POST', `${base}/data/uploads`, { body: form });
  };

  const WRITES: Record<string, () => Promise<Answer>> = {
    'a CSV upload': () => upload('csv', `a,b\n${'1,2\n'.repeat(5_000)}`),
    'a JSON upload': () => upload('json', JSON.stringify(Array.from({ length: 2_000 }, (_, at) => ({ at })))),
    'an object by its URL': async () => {
      const { body } = await owner('POST', '/api/v1/iot/upload-url', { body: { experimentId } });
      const { pathname, search } = new URL(body.uploadUrl);
      const text = JSON.stringify({ timestamp: new Date().toISOString(), device_id: 'd', sample: { text: 'x'.repeat(200_000) } });
      return site.as(null)('PUT', `${pathname}${search}`, { body: text, headers: body.headers });
    },
    'an annotation': () =>
      owner('POST', `${base}/data/annotations`, {
        body: { tableName: tableId, rowId, annotation: { type: 'comment', content: { type: 'comment', text: 'seen' } } },
      }),
  };
  const work = async () =>
    (await site.db.one<{ messages: number; macros: number }>(sql('test')`
      select (select count(*) from pending_messages) as messages,
        (select count(*) from macro_work) + (select count(*) from macro_reprocesses where status <> 'completed') as macros`))!;
  const isIdle = ({ messages, macros }: { messages: number; macros: number }) => messages + macros === 0;
  const settled = async () => {
    const { body } = await owner('GET', `${base}/data/uploads`, {});
    // what is not published yet becomes a file at any time
    const unpublished = await site.db.one<{ count: number }>(sql('test')`select count(*)::int as count from lake_log`);
    return !JSON.stringify(body).match(/"status":"(pending|running)"/) && isIdle(await work()) && unpublished?.count === 0;
  };

  test('what is written without room is 503, leaves nothing, and succeeds with room again', { concurrent: false }, async () => {
    for (const [name, write] of Object.entries(WRITES)) {
      const first = await write();
      expect(first.status, `${name}: ${first.text}`).toBeLessThan(300);
    }
    await eventually(settled, (is) => is, 60_000);
    const before = kept();
    fill();
    try {
      for (const [name, write] of Object.entries(WRITES)) {
        const refused = await write();
        expect([name, refused.status, refused.body?.code]).toEqual([name, 503, 'STORAGE_FULL']);
        expect(Number(refused.headers.get('retry-after')), name).toBeGreaterThan(0);
        expect(await keptOnce(before), name).toEqual(before);
        expect((await owner('GET', '/health/live')).status, name).toBe(200);
      }
    } finally {
      rmSync(ballast());
    }
    for (const [name, write] of Object.entries(WRITES)) {
      const again = await write();
      expect(again.status, `${name}: ${again.text}`).toBeLessThan(300);
    }
    expect(await eventually(settled, (is) => is, 60_000)).toBe(true);
  });

  test('a Parquet download needs no room', { concurrent: false }, async () => {
    const download = () =>
      owner('GET', `${base}/data`, { query: { tableName: tableId }, headers: { accept: 'application/vnd.apache.parquet' } });
    const first = await download();
    expect(first.status, first.text).toBe(200);
    fill();
    try {
      const again = await download();
      expect([again.status, again.text]).toEqual([200, first.text]);
    } finally {
      rmSync(ballast());
    }
  });

  test('an export without room stays waiting, is tried again, and ends whole with room', { concurrent: false }, async () => {
    const start = async () =>
      String((await owner('POST', `${base}/data/exports`, { body: { tableName: tableId, format: 'csv' } })).body.exportId);
    const statusOf = async (id: string) => String((await owner('GET', `${base}/data/exports/${id}/status`)).body.status);
    const ended = (id: string) =>
      eventually(
        () => statusOf(id),
        (status) => status === 'completed' || status === 'failed',
        40_000,
      );
    const first = await start();
    expect(await ended(first)).toBe('completed');
    const whole = await owner('GET', `${base}/data/exports/${first}`);
    const before = kept();
    fill();
    let id: string;
    try {
      id = await start();
      const row = () => site.db.one<{ attempt: number; errors: number }>(sql('test')`select attempt, errors from exports where id = ${id}`);
      const tried = await eventually(row, (found) => (found?.attempt ?? 0) > 1, 60_000);
      expect(tried?.attempt).toBeGreaterThan(1);
      expect(tried?.errors).toBe(0);
      expect(await statusOf(id)).not.toBe('completed');
      expect(await keptOnce(before)).toEqual(before);
    } finally {
      rmSync(ballast());
    }
    expect(await ended(id)).toBe('completed');
    expect((await owner('GET', `${base}/data/exports/${id}`)).text).toBe(whole.text);
  });

  const rowsOf = async (tableName: string, column: string) =>
    (await owner('GET', `${base}/data`, { query: { tableName, pageSize: 100 } })).body[0].data.rows.map(
      (row: Record<string, unknown>) => row[column],
    ) as unknown[];
  const send = (name: string, macroId: string, count: number) =>
    storeMessages(
      site.db,
      Array.from({ length: count }, (_, n) => {
        const said = { timestamp: new Date().toISOString(), device_id: `${name}-${n}`, sample: { n }, macros: [macroId] };
        return { experimentId, userId: site.cast.owner.id, body: Buffer.from(JSON.stringify(said)) };
      }),
    );

  const makeMacro = async (name: string, code: string) =>
    String(
      (await owner('POST', '/api/v1/macros', { body: { name, language: 'javascript', code, organizationId: site.cast.leafLab } })).body.id,
    );
  const tableOf = async (name: string): Promise<string> =>
    (await owner('GET', `${base}/tables`)).body.find((table: { displayName: string }) => table.displayName.includes(name)).identifier;

  test(
    'without room messages, outputs of macros and a macro that is run again wait, and are rows once there is room',
    { concurrent: false },
    async () => {
      const [twiceId, againId] = [
        await makeMacro('twice', 'return { twice: json.n * 2 };'),
        await makeMacro('again', 'return { version: 1 };'),
      ];
      await send('room', twiceId, 3);
      await send('again', againId, 3);
      await eventually(settled, (is) => is, 60_000);
      const [twice, again] = [await tableOf('twice'), await tableOf('again')];
      const stored = async (name: string) => {
        const raw = (await rowsOf('raw_data', 'device_id')).filter((id) => String(id).startsWith(`${name}-`));
        const outputs = (await rowsOf(twice, 'device_id')).filter((id) => String(id).startsWith(`${name}-`));
        return [raw.sort(), outputs.sort()];
      };
      const three = (name: string) => [0, 1, 2].map((n) => `${name}-${n}`);
      const runAgain = async (version: number) => {
        const edited = await owner('PUT', `/api/v1/macros/${againId}`, { body: { code: `return { version: ${version} };` } });
        expect(edited.status, edited.text).toBe(200);
        const answer = await owner('POST', `${base}/data/macros/${againId}/reprocess`, { body: {} });
        expect(answer.status, answer.text).toBeLessThan(300);
      };
      expect(await stored('room')).toEqual([three('room'), three('room')]);
      expect(await rowsOf(again, 'version')).toEqual([1, 1, 1]);
      await runAgain(2);
      await eventually(settled, (is) => is, 60_000);
      expect(await rowsOf(again, 'version')).toEqual([2, 2, 2]);
      const before = kept();
      fill();
      try {
        await send('full', twiceId, 3);
        await runAgain(3);
        // a batch would be set aside after 7 tries, which 300 ms lie between
        await sleep(8_000);
        const { messages, macros } = await work();
        expect(messages).toBe(3);
        expect(macros).toBeGreaterThan(0);
        expect(await stored('full')).toEqual([[], []]);
        expect(await rowsOf(again, 'version')).toEqual([2, 2, 2]);
        expect(await keptOnce(before)).toEqual(before);
      } finally {
        rmSync(ballast());
      }
      expect(await eventually(work, isIdle, 60_000)).toEqual({ messages: 0, macros: 0 });
      expect(await stored('full')).toEqual([three('full'), three('full')]);
      expect(await rowsOf(again, 'version')).toEqual([3, 3, 3]);
      const { quarantined } = (await site.db.one<{ quarantined: number }>(
        sql('test')`select count(*) as quarantined from messages where experiment_id = ${experimentId} and status <> 'stored'`,
      ))!;
      expect(quarantined).toBe(0);
    },
  );

  test('a picture of a chart needs no room', { concurrent: false }, async () => {
    const visualization = {
      name: 'Waves',
      chartFamily: 'basic',
      chartType: 'line',
      dataConfig: {
        tableName: tableId,
        dataSources: [
          { role: 'x', tableName: tableId, columnName: 'at' },
          { role: 'y', tableName: tableId, columnName: 'sine' },
        ],
      },
    };
    const made = await owner('POST', `${base}/visualizations`, { body: visualization });
    expect(made.status, made.text).toBe(201);
    const drawn = (format: string) =>
      owner('GET', `${base}/visualizations/${made.body.id}/image`, { query: { format }, headers: { 'cache-control': 'no-cache' } });
    const before = { svg: await drawn('svg'), png: await drawn('png') };
    expect([before.svg.status, before.png.status]).toEqual([200, 200]);
    fill();
    try {
      const changed = await owner('PATCH', `${base}/visualizations/${made.body.id}`, { body: { name: 'Waves again' } });
      expect(changed.status, changed.text).toBe(200);
      const png = await drawn('png');
      expect([png.status, png.bytes.subarray(1, 4).toString()]).toEqual([200, 'PNG']);
      expect((await drawn('svg')).text).toContain('Waves again');
    } finally {
      rmSync(ballast());
    }
  });
});

describe.runIf(process.getuid?.() === 0)('with little memory, so that a sort needs the disk', { concurrent: true }, () => {
  let small: string;
  let place: TestServer;
  beforeAll(() => {
    small = mountSmall(400);
  });
  afterAll(async () => {
    await place.stop();
    unmountSmall(small);
  });

  test('a sort without room is 503, gives its scratch back, and succeeds with room again', async () => {
    place = await startTestServer({ DATA_DIR: join(small, 'data'), DUCKDB_MEMORY_MB: '128' });
    const say = place.as(place.cast.owner);
    const { id } = (await say('POST', '/api/v1/experiments', { body: { name: 'Sorted', organizationId: place.cast.leafLab } })).body;
    const line = (at: number) => `${(at * 7_919) % 600_000},${createHash('sha256').update(String(at)).digest('hex')}`;
    const table = await uploadTable(say, id, 'long', `at,text\n${Array.from({ length: 600_000 }, (_, at) => line(at)).join('\n')}\n`);
    const sorted = () =>
      say('GET', `/api/v1/experiments/${id}/data`, {
        query: { tableName: table, orderBy: 'text', orderDirection: 'ASC' },
        headers: { accept: 'text/csv' },
      });
    /** Bytes that the engine's spill takes of the disk. */
    const spill = () => {
      const path = join(small, 'data', 'tmp');
      // the engine makes its folder when it is first needed
      if (!existsSync(path)) return 0;
      const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile() && entry.parentPath.includes('spill'),
      );
      return files.reduce(
        (sum, { parentPath, name }) => sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.blocks ?? 0) * 512,
        0,
      );
    };
    let spilled = 0;
    const watching = setInterval(() => (spilled = Math.max(spilled, spill())), 20);
    const first = await sorted();
    clearInterval(watching);
    expect([first.status, first.text.split('\n').length]).toEqual([200, 600_002]);
    expect(spilled).toBeGreaterThan(10_000_000);
    expect(spill()).toBe(0);
    fillUp(small);
    try {
      const refused = await sorted();
      expect([refused.status, refused.body?.code]).toEqual([503, 'STORAGE_FULL']);
      // DuckDB 1.5 keeps the blocks of the write that failed until it is closed
      expect(spill()).toBeLessThan(1_000_000);
      const page = await say('GET', `/api/v1/experiments/${id}/data`, { query: { tableName: table } });
      expect(page.status).toBe(200);
    } finally {
      rmSync(ballastIn(small));
    }
    const again = await sorted();
    expect(again.status).toBe(200);
    expect(again.text === first.text).toBe(true);
    expect(spill()).toBeLessThan(1_000_000);
  });
});
