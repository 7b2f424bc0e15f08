import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PageCache } from '../../src/lakehouse/read/page-cache.ts';
import type { CacheKey } from '../../src/lakehouse/read/page-cache.ts';
import type { Page } from '../../src/lakehouse/read/read.ts';
import { collectGarbage } from '../support/garbage.ts';

const COLUMNS = [{ name: 'n', type_name: 'BIGINT', type_text: 'BIGINT' }];
const counts = () => ({ rows: 1, totalRows: 7, truncated: false, page: 1, pageSize: 1, totalPages: 7 });
const pageOf = (...chunks: string[]): Page => ({
  columns: COLUMNS,
  rows: Readable.from(chunks, { objectMode: false }),
  counts,
  edges: null,
});
const key = (answer: string | null, experimentId = 'e1'): CacheKey => ({ experimentId, answer });
const hour = 3_600_000;

test('an answer that was read to its end is given again, as often as it is asked for', async () => {
  const cache = new PageCache({ bytes: 10_000, milliseconds: hour });
  expect(cache.find(key('a'))).toBeNull();
  expect(await text(cache.keep(key('a'), pageOf('{"n":', '"é"}')).rows)).toBe('{"n":"é"}');
  for (let times = 0; times < 2; times += 1) {
    const found = cache.find(key('a'))!;
    expect([await text(found.rows), found.columns, found.counts()]).toEqual(['{"n":"é"}', COLUMNS, counts()]);
  }
  await text(cache.keep(key('empty'), pageOf()).rows);
  expect(await text(cache.find(key('empty'))!.rows)).toBe('');
  expect(cache.usage).toMatchObject({ answers: 2, hits: 3, misses: 1 });
});

test('nothing of the read that made an answer is held with it', async () => {
  const cache = new PageCache({ bytes: 10_000, milliseconds: hour });
  const read = async () => {
    const page = pageOf('{"n":1}');
    expect(await text(cache.keep(key('a'), page).rows)).toBe('{"n":1}');
    return new WeakRef(page.rows);
  };
  const rows = await read();
  await expect
    .poll(() => {
      collectGarbage();
      return rows.deref() === undefined;
    })
    .toBe(true);
  const [kept] = await cache.find(key('a'))!.rows.toArray();
  expect([String(kept), kept.buffer.byteLength]).toEqual(['{"n":1}', 7]);
});

test('what fails, is left, or has no key is not kept', async () => {
  const cache = new PageCache({ bytes: 10_000, milliseconds: hour });
  const failing = async function* () {
    yield '{"n":1}';
    await sleep(1);
    throw new Error('midway');
  };
  const broken = { ...pageOf(), rows: Readable.from(failing(), { objectMode: false }) };
  await expect(text(cache.keep(key('a'), broken).rows)).rejects.toThrow('midway');
  const left = pageOf('{"n":1}');
  cache.keep(key('b'), left).rows.destroy();
  await sleep(5);
  expect(left.rows.destroyed).toBe(true);
  expect(await text(cache.keep(key(null), pageOf('{"n":1}')).rows)).toBe('{"n":1}');
  expect([cache.find(key('a')), cache.find(key('b')), cache.find(key(null))]).toEqual([null, null, null]);
  expect(cache.usage).toMatchObject({ answers: 0, bytes: 0 });
});

test('the budget holds: the least lately used goes first, and nothing too large comes in', async () => {
  const cache = new PageCache({ bytes: 16_000, milliseconds: hour });
  const put = async (name: string, size: number) => text(cache.keep(key(name), pageOf('x'.repeat(size))).rows);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await put(name, 1_500);
  expect(cache.find(key('a'))).not.toBeNull();
  for (const name of ['g', 'h', 'i', 'j']) await put(name, 1_500);
  expect(cache.usage.bytes).toBeLessThanOrEqual(16_000);
  expect([cache.find(key('a')), cache.find(key('b'))].map((each) => each !== null)).toEqual([true, false]);
  await put('large', 2_001);
  expect(cache.find(key('large'))).toBeNull();
  const none = new PageCache({ bytes: 0, milliseconds: hour });
  await text(none.keep(key('a'), pageOf('x')).rows);
  expect(none.find(key('a'))).toBeNull();
});

test('the text of an answer that is no page is kept beside pages', async () => {
  const cache = new PageCache({ bytes: 10_000, milliseconds: hour });
  expect(cache.findText(key('a'))).toBeNull();
  cache.keepText(key('a'), '{"values":["é"]}');
  cache.keepText(key(null), 'x');
  cache.keepText(key('large'), 'x'.repeat(1_251));
  expect([cache.findText(key('a')), cache.findText(key(null)), cache.findText(key('large'))]).toEqual(['{"values":["é"]}', null, null]);
  expect(cache.find(key('a'))).toBeNull();
  expect(cache.usage).toMatchObject({ answers: 1, hits: 2, misses: 3 });
  cache.forget('e1');
  expect(cache.findText(key('a'))).toBeNull();
});

test('answers end with time, and with their experiment', async () => {
  const brief = new PageCache({ bytes: 10_000, milliseconds: 1_000 });
  await text(brief.keep(key('a'), pageOf('x')).rows);
  expect(brief.find(key('a'))).not.toBeNull();
  await expect.poll(() => brief.find(key('a'))).toBeNull();
  expect(brief.usage.bytes).toBe(0);
  const cache = new PageCache({ bytes: 10_000, milliseconds: hour });
  await text(cache.keep(key('a'), pageOf('x')).rows);
  await text(cache.keep(key('b', 'e2'), pageOf('y')).rows);
  expect(cache.forget('e1')).toMatchObject({ rows: 1 });
  expect([cache.find(key('a')), cache.find(key('b', 'e2')) === null]).toEqual([null, false]);
});
