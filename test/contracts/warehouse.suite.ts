/** What every warehouse promises, whatever engine is behind it. */
import { Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC } from 'apache-arrow';
import { ParquetReader } from 'parquetjs-lite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BIGINT, DOUBLE, STRING, makeDecimal } from '../../src/lakehouse/terms/catalog.ts';
import type { Column } from '../../src/lakehouse/terms/catalog.ts';
import type { TableRows } from '../../src/lakehouse/terms/plan.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import { readDistinct, readPage, readStream } from '../../src/lakehouse/read/read.ts';
import type { Statement, Warehouse } from '../../src/lakehouse/terms/warehouse.ts';
import { thereAndBack } from '../lakehouse/paging.ts';
import { EXPERIMENT, OTHER_EXPERIMENT, TYPED_COLUMNS, download, page, uploaded } from '../lakehouse/support.ts';

export interface WarehouseSite {
  warehouse: Warehouse;
  /** Puts the rows of a SELECT, in DuckDB's words, in an uploaded table of its own. */
  put(select: string, expanded: readonly Column[], more?: Partial<TableSource> & { anonymised?: boolean }): Promise<TableSource>;
  /** Puts the rows of a SELECT in a dimension. */
  dimension(select: string): Promise<TableRows>;
  /** In the engine's own words: never ends, never runs dry. */
  statements: { endless: Statement; flood: Statement };
  /** A statement whose rows break off after some have come. */
  failing(): Statement;
  /** Statements that the engine has not let go of. */
  left(): number;
  close(): Promise<void>;
}

const ROWS = 6_001;
const COLUMNS = [uploaded('n', BIGINT), uploaded('tied', BIGINT), uploaded('txt', STRING)];
const upTo = (value: number) => [{ column: 'n', operator: 'less_than' as const, value }];

export function warehouseContract(name: string, open: () => Promise<WarehouseSite>): void {
  describe(name, () => {
    let site: WarehouseSite;
    let rows: TableSource;
    beforeAll(async () => {
      site = await open();
      rows = await site.put(
        `select md5(i::varchar) as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' + interval (i % 5) day as uploaded_at,
          i::bigint as n, case when i % 3 = 0 then null else i % 4 end as tied, 'row ' || i as txt from range(${ROWS}) t(i)`,
        COLUMNS,
      );
    });
    afterAll(() => site.close());

    const settled = async () => {
      const from = performance.now();
      while ((site.warehouse.running > 0 || site.left() > 0) && performance.now() - from < 5_000) await sleep(5);
      return [site.warehouse.running, site.left()];
    };

    test('pages over tied keys give each row once, in both directions', async () => {
      for (const orderDirection of ['ASC', 'DESC'] as const) {
        const seen: unknown[] = [];
        for (let number = 1; number <= 4; number += 1) {
          const asked = { columns: ['n', 'tied'], orderBy: 'tied', orderDirection, filters: upTo(400), page: number, pageSize: 100 };
          const { data, totalPages, totalRows } = await page(site.warehouse, rows, asked);
          expect([totalPages, totalRows, data.truncated]).toEqual([4, 400, false]);
          seen.push(...data.rows.map((row) => row.n));
          if (number === 4) expect(data.rows.at(-1)?.tied).toBeNull();
        }
        expect(new Set(seen).size).toBe(400);
      }
    });

    test('pages by cursor over tied keys and nulls give each row once, there and back', async () => {
      for (const orderDirection of ['ASC', 'DESC'] as const) {
        const asked = { columns: ['n', 'tied'], orderBy: 'tied', orderDirection, filters: upTo(400), pageSize: 60 };
        const { there, back } = await thereAndBack(site.warehouse, rows, asked);
        const seen = there.flatMap((each) => each.rows);
        expect([there.length, seen.length, new Set(seen.map(({ n }) => n)).size]).toEqual([7, 400, 400]);
        const numbered = await page(site.warehouse, rows, { ...asked, page: 3 });
        expect(there[2]?.rows).toEqual(numbered.data.rows);
        expect(back.map((each) => each.rows)).toEqual(there.slice(0, -1).map((each) => each.rows));
        expect(seen.at(-1)?.tied).toBeNull();
      }
    });

    test('pages by cursor keep their place among numbers that are none, and among times to the microsecond', async () => {
      const source = await site.put(
        `select md5(i::varchar) as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' + interval (i // 10) microsecond as uploaded_at,
          case i % 6 when 0 then null when 1 then 'nan'::double when 2 then 'inf'::double when 3 then '-inf'::double when 4 then 0.1 else i end as dbl,
          i::bigint as n from range(48) t(i)`,
        [uploaded('dbl', DOUBLE), uploaded('n', BIGINT)],
      );
      for (const orderBy of ['dbl', 'uploaded_at'])
        for (const orderDirection of ['ASC', 'DESC'] as const) {
          const asked = { columns: ['n'], orderBy, orderDirection, pageSize: 7 };
          const { there, back } = await thereAndBack(site.warehouse, source, asked);
          const all = await page(site.warehouse, source, { ...asked, pageSize: 100 });
          expect(there.flatMap((each) => each.rows)).toEqual(all.data.rows);
          expect(back.map((each) => each.rows)).toEqual(there.slice(0, -1).map((each) => each.rows));
        }
    });

    test('truncated is exact around a limit', async () => {
      for (const limit of [0, 1, 1000, 1001]) {
        for (const [matching, cut] of [
          [limit - 1, false],
          [limit, false],
          [limit + 1, true],
        ] as const) {
          if (matching < 0) continue;
          const { data, totalRows } = await page(site.warehouse, rows, { columns: ['n'], filters: upTo(matching), limit });
          expect([limit, matching, data.rows.length, data.truncated, totalRows]).toEqual([
            limit,
            matching,
            Math.min(limit, matching),
            cut,
            matching,
          ]);
        }
      }
    });

    test('streams hold every row, in order', async () => {
      const csv = await download(site.warehouse, rows, { columns: ['n'], orderBy: 'n' }, { format: 'csv' });
      expect(csv.split('\n')).toEqual(['n', ...Array.from({ length: ROWS }, (_, index) => String(index)), '']);
      const lines = await download(site.warehouse, rows, { columns: ['n'], orderBy: 'n', orderDirection: 'DESC' }, { format: 'ndjson' });
      expect(lines.split('\n')).toEqual([...Array.from({ length: ROWS }, (_, index) => `{"n":${ROWS - 1 - index}}`), '']);
      const array = await download(site.warehouse, rows, { columns: ['n'], limit: 2_000 }, { format: 'json' });
      expect(new Set((JSON.parse(array) as { n: number }[]).map(({ n }) => n)).size).toBe(2_000);
      const cut = await readStream(site.warehouse, rows, { columns: ['n'], limit: ROWS - 1 }, { format: 'ndjson' });
      expect((await text(cut.body)).split('\n')).toHaveLength(ROWS);
      expect(await cut.truncated).toBe(true);
    });

    test('typed streams hold every row, in order, and say how many', async () => {
      const asked = { columns: ['n', 'txt', 'tied'], orderBy: 'n' };
      const seen = { rows: 0, cut: false };
      const stream = await readStream(site.warehouse, rows, asked, { format: 'arrow', seen });
      const table = tableFromIPC(await buffer(stream.body));
      expect(table.schema.fields.map(({ name, type, metadata }) => [name, String(type), metadata.get('type_text')])).toEqual([
        ['n', 'Int64', 'BIGINT'],
        ['txt', 'Utf8', 'STRING'],
        ['tied', 'Int64', 'BIGINT'],
      ]);
      expect(Array.from(table.getChild('n') ?? [], Number)).toEqual(Array.from({ length: ROWS }, (_, index) => index));
      expect(Array.from(table.getChild('txt') ?? [])).toEqual(Array.from({ length: ROWS }, (_, index) => `row ${index}`));
      expect(table.getChild('tied')?.nullCount).toBe(Math.ceil(ROWS / 3));
      expect(seen.rows).toBe(ROWS);
      const file = await readStream(site.warehouse, rows, { ...asked, limit: 5_000 }, { format: 'parquet' });
      const reader = await ParquetReader.openBuffer(await buffer(file.body));
      const cursor = reader.getCursor();
      for (let index = 0; index < 5_000; index += 1) expect(await cursor.next()).toMatchObject({ n: BigInt(index), txt: `row ${index}` });
      expect(await cursor.next()).toBeNull();
      expect(await file.truncated).toBe(true);
    });

    test('an empty answer is a valid stream and a valid file', async () => {
      const none = { columns: ['n', 'txt'], filters: upTo(-1) };
      const table = tableFromIPC(await buffer((await readStream(site.warehouse, rows, none, { format: 'arrow' })).body));
      expect([table.numRows, table.schema.names]).toEqual([0, ['n', 'txt']]);
      const file = await buffer((await readStream(site.warehouse, rows, none, { format: 'parquet' })).body);
      const reader = await ParquetReader.openBuffer(file);
      expect([Number(reader.getRowCount()), Object.keys(reader.getSchema().fields)]).toEqual([0, ['n', 'txt']]);
    });

    test('a typed stream that is left frees the engine', async () => {
      for (const format of ['arrow', 'parquet'] as const) {
        const { body } = await readStream(site.warehouse, rows, { columns: ['n', 'txt'] }, { format });
        if (format === 'arrow') await new Promise((resolve) => body.once('readable', resolve));
        body.destroy();
        expect(await settled()).toEqual([0, 0]);
        const flooded = await site.warehouse.typed(site.statements.flood, format, [{ as: 'line', name: 'line', type: STRING }]);
        await sleep(50);
        flooded.destroy();
        expect(await settled()).toEqual([0, 0]);
      }
      const late = await site.warehouse.typed(site.statements.flood, 'arrow', [{ as: 'line', name: 'line', type: STRING }], {
        timeoutMs: 200,
      });
      await expect(pipeline(late, new Writable({ write: (_chunk, _encoding, done) => done() }))).rejects.toMatchObject({
        code: 'WAREHOUSE_TIMEOUT',
      });
      // nobody reads, and the deadline comes all the same
      const unread = await site.warehouse.typed(site.statements.flood, 'arrow', [{ as: 'line', name: 'line', type: STRING }], {
        timeoutMs: 200,
      });
      const failed = new Promise<unknown>((resolve) => unread.once('error', resolve));
      unread.once('readable', () => undefined);
      expect(await failed).toMatchObject({ code: 'WAREHOUSE_TIMEOUT' });
      expect(await settled()).toEqual([0, 0]);
    });

    test('a typed stream that fails midway is destroyed, not ended', async () => {
      await expect(
        buffer(await site.warehouse.typed(site.failing(), 'arrow', [{ as: 'line', name: 'line', type: STRING }])),
      ).rejects.toThrow();
      expect(await settled()).toEqual([0, 0]);
    });

    test('numbers keep every digit, whatever they are', async () => {
      const wide = makeDecimal(38, 10);
      const source = await site.put(
        `select * from (values
          ('a', '${EXPERIMENT}', 9007199254740993::bigint, '1234567890123456789012345678.0123456789'::decimal(38, 10)),
          ('b', '${EXPERIMENT}', (-9223372036854775807 - 1)::bigint, '-0.0000000001'::decimal(38, 10)),
          ('c', '${EXPERIMENT}', 9007199254740992::bigint, null)) t(id, experiment_id, big, wide)
        cross join (select timestamptz '2024-01-01 00:00:00+00' as uploaded_at)`,
        [uploaded('big', BIGINT), uploaded('wide', wide)],
      );
      const asked = { columns: ['big', 'wide'], orderBy: 'id' };
      expect((await page(site.warehouse, source, asked)).data.rows).toEqual([
        { big: '9007199254740993', wide: '1234567890123456789012345678.0123456789' },
        { big: '-9223372036854775808', wide: '-0.0000000001' },
        { big: 9007199254740992, wide: null },
      ]);
      expect(await download(site.warehouse, source, asked, { format: 'csv' })).toBe(
        'big,wide\n9007199254740993,1234567890123456789012345678.0123456789\n-9223372036854775808,-0.0000000001\n9007199254740992,\n',
      );
      const one = { kind: 'value' as const, value: '9007199254740993', type: BIGINT };
      const [row] = await site.warehouse.rows({
        sql: `select ${site.warehouse.dialect.value(one.value, BIGINT).text} as big, ${site.warehouse.dialect.value('0.1', wide).text} as wide`,
        values: [
          { value: '9007199254740993', type: BIGINT },
          { value: '0.1', type: wide },
        ],
      });
      expect(row).toEqual({ big: '9007199254740993', wide: '0.1000000000' });
    });

    test('awkward cells come out as they went in', async () => {
      const awkward = [
        '',
        ' ',
        ' lead',
        'trail ',
        'a,b',
        'say "x"',
        'line\nbreak',
        'cr\rhere',
        '\ttab',
        '=1+1',
        "it's",
        '`',
        '\\',
        '\\n',
        '🌱',
        '{"a":1}',
        'null',
      ];
      const values = awkward.map((each, at) => `('${String(at).padStart(2, '0')}', '${each.replaceAll("'", "''")}')`).join(', ');
      const source = await site.put(
        `select id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at, txt from (values ${values}) t(id, txt)`,
        [uploaded('txt', STRING)],
      );
      const asked = { columns: ['txt'], orderBy: 'id' };
      expect((await page(site.warehouse, source, asked)).data.rows.map(({ txt }) => txt)).toEqual(awkward);
      const csv = await download(site.warehouse, source, asked, { format: 'csv', raw: true });
      expect(csv).toBe(
        `txt\n""\n \n lead\ntrail \n"a,b"\n"say ""x"""\n"line\nbreak"\n"cr\rhere"\n\ttab\n=1+1\nit's\n\`\n\\\n\\n\n🌱\n"{""a"":1}"\nnull\n`,
      );
      for (const value of awkward.filter((each) => each !== '')) {
        const found = await page(site.warehouse, source, { columns: ['txt'], filters: [{ column: 'txt', operator: 'equals', value }] });
        expect(found.data.rows, JSON.stringify(value)).toEqual([{ txt: value }]);
      }
      const { values: distinct } = await readDistinct(site.warehouse, source, 'txt', 100);
      expect(new Set(distinct)).toEqual(new Set(awkward.filter((each) => each !== '')));
    });

    test('every type is printed as the interface says', async () => {
      const source = await site.put(
        `select '1' as id, '${EXPERIMENT}' as experiment_id, timestamptz '2024-01-01 00:00:00+00' as uploaded_at, 'u1' as contributor_id, true as bool,
          7::integer as int, 9007199254740993::bigint as big, 1.5::decimal(12, 3) as dec, 'inf'::double as dbl, 'é' as txt, date '2024-02-29' as day,
          timestamptz '2024-03-31 00:59:59.5+00' as at, timestamp '2024-03-31 02:30:00.123456' as clock, '{"a": [1, null]}' as json`,
        TYPED_COLUMNS,
      );
      expect((await page(site.warehouse, source, {})).data.rows).toEqual([
        {
          id: '1',
          uploaded_at: '2024-01-01T00:00:00.000Z',
          contributor: null,
          annotations: [],
          bool: true,
          int: 7,
          big: '9007199254740993',
          dec: '1.500',
          dbl: null,
          txt: 'é',
          day: '2024-02-29',
          at: '2024-03-31T00:59:59.500Z',
          clock: '2024-03-31T02:30:00.123456',
          json: { a: [1, null] },
        },
      ]);
    });

    test('another experiment is never read, and names are what the dimension says', async () => {
      const identity =
        await site.dimension(`select '${EXPERIMENT}' as experiment_id, 'u1' as user_id, 'Ada' as name, 'https://a' as avatar, 'Contributor-1' as pseudonym
        union all select '${OTHER_EXPERIMENT}', 'u1', 'Eve', null, 'Contributor-2'`);
      const select = `select '0' || i as id, case when i = 3 then '${OTHER_EXPERIMENT}' else '${EXPERIMENT}' end as experiment_id,
        timestamptz '2024-01-01 00:00:00+00' as uploaded_at, 'u' || i as contributor_id, i::bigint as n from range(1, 4) t(i)`;
      for (const anonymised of [false, true]) {
        const source = await site.put(select, COLUMNS.slice(0, 1), { identity, anonymised });
        const shown = anonymised
          ? { id: 'Contributor-1', name: 'Contributor-1', avatar: null }
          : { id: 'u1', name: 'Ada', avatar: 'https://a' };
        const { data, totalRows } = await page(site.warehouse, source, { columns: ['n', 'contributor'], orderBy: 'n' });
        expect(data.rows).toEqual([
          { n: 1, contributor: shown },
          { n: 2, contributor: null },
        ]);
        expect(totalRows).toBe(2);
      }
    });

    test('a deadline ends a statement, and the next one runs', async () => {
      await expect(site.warehouse.rows(site.statements.endless, { timeoutMs: 150 })).rejects.toMatchObject({
        code: 'WAREHOUSE_TIMEOUT',
        status: 504,
      });
      expect(await settled()).toEqual([0, 0]);
      expect((await page(site.warehouse, rows, { columns: ['n'], filters: upTo(1) })).totalRows).toBe(1);
    });

    test('an abort frees the engine, before, at and after the start', async () => {
      for (let turn = 0; turn < 12; turn += 1) {
        const caller = new AbortController();
        const asked = site.warehouse.rows(site.statements.endless, { signal: caller.signal });
        if (turn > 0) await sleep(turn * 3);
        caller.abort(new Error('gone'));
        await expect(asked).rejects.toThrow('gone');
      }
      expect(await settled()).toEqual([0, 0]);
    });

    test('destroying a stream frees the engine, whether bytes flow or not', async () => {
      for (let turn = 0; turn < 8; turn += 1) {
        const { flood, endless } = site.statements;
        const stream = await site.warehouse.stream(turn % 2 === 0 ? flood : endless, 'json');
        if (turn % 2 === 0) await new Promise((resolve) => stream.once('readable', resolve));
        else await sleep(turn * 10);
        stream.destroy();
        expect(await settled()).toEqual([0, 0]);
      }
      const { rows: body } = await readPage(site.warehouse, rows, { limit: 5_000 });
      body.destroy();
      expect(await settled()).toEqual([0, 0]);
    });

    test('a stream that fails midway is destroyed, not ended', async () => {
      await expect(text(await site.warehouse.stream(site.failing(), 'json'))).rejects.toThrow();
      const deadline = await site.warehouse.stream(site.statements.flood, 'json', { timeoutMs: 300 });
      await expect(pipeline(deadline, new Writable({ write: (_chunk, _encoding, done) => done() }))).rejects.toMatchObject({
        code: 'WAREHOUSE_TIMEOUT',
      });
      expect(await settled()).toEqual([0, 0]);
    });

    test('slow readers do not stop other statements', async () => {
      const streams = await Promise.all(Array.from({ length: 5 }, () => site.warehouse.stream(site.statements.flood, 'json')));
      await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('readable', resolve))));
      expect((await page(site.warehouse, rows, { columns: ['n'], filters: upTo(10) }, { timeoutMs: 20_000 })).totalRows).toBe(10);
      for (const stream of streams) stream.destroy();
      expect(await settled()).toEqual([0, 0]);
    });
  });
}
