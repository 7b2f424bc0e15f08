import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { runCommand } from '../support/command.ts';
import { eventually } from '../support/crashes.ts';
import { dataFilesOf } from '../support/lake-files.ts';
import { startTestServer, type Answer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
let base: string;
let tableId: string;
let otherId: string;
let chart: string;
let rowId: string;
beforeAll(async () => {
  site = await startTestServer({ RESULT_CACHE_MB: '0' });
  owner = site.as(site.cast.owner);
  const { id } = (await owner('POST', '/api/v1/experiments', { body: { name: 'Damaged', organizationId: site.cast.leafLab } })).body;
  base = `/api/v1/experiments/${id}`;
  const rows = Array.from({ length: 6_000 }, (_, at) => `${at},${Math.sin(at)},leaf ${at % 700}`);
  tableId = await uploadTable(owner, id, 'waves', `at,sine,leaf\n${rows.join('\n')}\n`);
  otherId = await uploadTable(owner, id, 'calm', 'at\n1\n2\n');
  const source = (role: string, columnName: string) => ({ tableName: tableId, columnName, role });
  const dataConfig = { tableName: tableId, dataSources: [source('x', 'at'), source('y', 'sine')] };
  const made = await owner('POST', `${base}/visualizations`, {
    body: { name: 'Line', chartFamily: 'basic', chartType: 'line', dataConfig },
  });
  expect(made.status, made.text).toBe(201);
  chart = `${base}/visualizations/${made.body.id as string}`;
  rowId = (await page(tableId)).body[0].data.rows[0].id;
  await expectReads();
});
afterAll(() => site.stop());

const page = (tableName: string, query: Record<string, string | number> = {}) =>
  owner('GET', `${base}/data`, { query: { tableName, ...query } });
const stream = (accept: string) => owner('GET', `${base}/data`, { query: { tableName: tableId }, headers: { accept } });

const READS: Record<string, () => Promise<Answer>> = {
  'a page': () => page(tableId, { orderBy: 'sine' }),
  'many rows': () => page(tableId, { limit: 6_000 }),
  'an aggregate': () =>
    page(tableId, { aggregation: JSON.stringify({ groupBy: [], functions: [{ column: 'sine', function: 'avg', alias: 'mean' }] }) }),
  csv: () => stream('text/csv'),
  ndjson: () => stream('application/x-ndjson'),
  arrow: () => stream('application/vnd.apache.arrow.stream'),
  parquet: () => stream('application/vnd.apache.parquet'),
  'distinct values': () => owner('GET', `${base}/data/distinct`, { query: { tableName: tableId, column: 'leaf' } }),
  'a chart': () => owner('GET', `${chart}/data`),
  'a picture': () => owner('GET', `${chart}/image`),
  'an annotation': () =>
    owner('POST', `${base}/data/annotations`, {
      body: { tableName: tableId, rowId, annotation: { type: 'comment', content: { type: 'comment', text: 'seen' } } },
    }),
};

/** Reads in every way what is whole, as each damage does behind itself: so what is kept of a file is kept before the next one. */
async function expectReads(): Promise<void> {
  for (const [name, read] of Object.entries(READS))
    expect([name, (await read()).status]).toEqual([name, name === 'an annotation' ? 201 : 200]);
}

const footerOf = (bytes: Buffer) => bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
/** What becomes of a file; undefined: it is gone. */
const DAMAGES: Record<string, (bytes: Buffer) => Buffer | undefined> = {
  missing: () => undefined,
  cut: (bytes) => bytes.subarray(0, bytes.length / 2),
  'flipped in its footer': (bytes) => Buffer.from(bytes).fill(0xff, footerOf(bytes), footerOf(bytes) + 64),
  'flipped in a page': (bytes) => Buffer.from(bytes).fill(0xff, 4, footerOf(bytes)),
};

const filesOf = (id: string) => dataFilesOf(site.lakeFolder, id);

/** Damages a file while `during` runs; afterwards it is what it was. */
async function damaged(path: string, how: (bytes: Buffer) => Buffer | undefined, during: () => Promise<void>): Promise<void> {
  const bytes = readFileSync(path);
  const made = how(bytes);
  const changed = statSync(path).mtimeMs / 1_000;
  // the engine knows a footer that it has kept by the second in which the file was changed: each change has one of its own
  const write = (text: Buffer, second: number) => {
    writeFileSync(path, text);
    utimesSync(path, second, second);
  };
  if (made) write(made, changed - 2);
  else rmSync(path);
  try {
    await during();
  } finally {
    write(bytes, changed - 4);
  }
}

const linesOf = (requestId: string) =>
  site.server
    .output()
    .split('\n')
    .filter((line) => line.includes(requestId) && line.includes('LAKE_FILE_UNREADABLE'));

describe('a lake file that is damaged', () => {
  test.each(Object.keys(DAMAGES))('%s: every read of its table says so, and no other', async (kind) => {
    const [path] = filesOf(tableId);
    await damaged(path!, DAMAGES[kind]!, async () => {
      const requestIds: string[] = [];
      for (const [name, read] of Object.entries(READS)) {
        const answer = await read();
        expect([name, answer.status, answer.body?.code]).toEqual([name, 500, 'LAKE_FILE_UNREADABLE']);
        expect(answer.body.detail).toContain(`'${tableId}'`);
        expect(answer.text).not.toContain('.parquet');
        expect(answer.text).not.toContain(site.dataDir);
        requestIds.push(String(answer.body.instance).replace('urn:request:', ''));
      }
      // lines are written in turns, so that the last one says that all of them are there
      await eventually(
        async () => linesOf(requestIds.at(-1)!),
        (lines) => lines.length > 0,
        5_000,
      );
      for (const [line, ...more] of requestIds.map(linesOf)) {
        expect(more).toEqual([]);
        expect(JSON.parse(line!)).toMatchObject({ file: path, problem: expect.any(String) });
        expect(line).not.toContain('stack');
      }
      expect((await page(otherId)).body[0].data.rows).toHaveLength(2);
      expect((await owner('GET', `${base}/tables`)).status).toBe(200);
      const verified = await runCommand({ url: site.database.url, dataDir: site.dataDir }, 'lake', 'verify');
      expect(verified.code).toBe(1);
      expect(verified.json.problems).toEqual(expect.arrayContaining([expect.objectContaining({ table: tableId })]));
    });
    await expectReads();
  });

  test('an export of it fails with the sentence', async () => {
    const exported = async () => {
      const { body } = await owner('POST', `${base}/data/exports`, { body: { tableName: tableId, format: 'csv' } });
      const status = async () => (await owner('GET', `${base}/data/exports/${String(body.exportId)}/status`)).body;
      return eventually(status, ({ status: is }) => is === 'completed' || is === 'failed', 60_000);
    };
    expect(await exported()).toMatchObject({ status: 'completed' });
    await damaged(filesOf(tableId)[0]!, DAMAGES['cut']!, async () => {
      expect(await exported()).toMatchObject({ status: 'failed', errorMessage: expect.stringMatching(/^Table .* cannot be read/) });
    });
    expect(await exported()).toMatchObject({ status: 'completed' });
  });

  test('a download that has begun is torn down, never ended as if it were whole', async () => {
    const ROWS = 600_000;
    const rows = Array.from({ length: ROWS }, (_, at) => `${at},${Math.sin(at)}`);
    // without annotations beside them, rows stream in the order of their files
    const { id } = (await owner('POST', '/api/v1/experiments', { body: { name: 'Large', organizationId: site.cast.leafLab } })).body;
    const large = await uploadTable(owner, id, 'large', `at,sine\n${rows.join('\n')}\n`);
    /** Downloads the table: how many lines came, and whether its end did. */
    const download = async () => {
      const answer = await fetch(
        `${site.server.baseUrl}/api/v1/experiments/${id}/data?tableName=${large}&orderBy=uploaded_at&orderDirection=ASC`,
        {
          headers: { 'x-api-key': site.cast.owner.apiKey, accept: 'text/csv' },
        },
      );
      expect(answer.status).toBe(200);
      let lines = 0;
      try {
        for await (const chunk of answer.body as AsyncIterable<Uint8Array>)
          for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) lines += 1;
      } catch (error) {
        return { lines, end: (error as Error).message };
      }
      return { lines, end: 'whole' };
    };
    const [lastFile] = await site.db.rows<{ id: string; files: number }>(
      sql(
        'test',
      )`select id, count(*) over () as files from lake_files where table_id = ${large} and to_version is null order by min_id desc limit 1`,
    );
    expect(lastFile!.files).toBeGreaterThan(5);
    const last = filesOf(large).find((path) => path.includes(lastFile!.id))!;
    await damaged(last, DAMAGES['flipped in a page']!, async () => {
      const { lines, end } = await download();
      expect(end).toBe('terminated');
      expect(lines).toBeGreaterThan(0);
      expect(lines).toBeLessThan(ROWS);
    });
    expect(await download()).toEqual({ lines: ROWS + 1, end: 'whole' });
  });
});
