import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReadingOptions } from '../../src/ingest/typing/readings.ts';
import { toFormWords } from '../../web/src/upload/form-words.ts';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const rows = (...values: string[]) => `v;w\n${values.map((value) => `${value};x`).join('\n')}\n`;
const NAMES =
  /\b(dateOrder|decimal [,.]|with decimal|types\b|in missing|encoding|headerRow|unitsRow|leaveOut|reading fields|dmy|windows-1252)/;

test.each<[string, string, string | Buffer, string | Buffer | undefined, ReadingOptions?]>([
  ['days of either order', 'with “Order of days” chosen to make days', rows('01/02/2026', '03/04/2026'), undefined],
  ['days or versions', 'with “Order of days” chosen to make days', rows('3.4.26', '13.4.26', '3.10.26'), undefined],
  ['points of either kind', 'with “Before the fraction of a number” chosen', rows('0,5', ...Array(11).fill('12.345')), undefined],
  [
    'points that were read',
    'with “Before the fraction of a number” chosen',
    rows('0,5', ...Array(11).fill('12.345')),
    undefined,
    { types: { v: 'double' } },
  ],
  ['commas in a file of commas', 'with “,” chosen as “Before the fraction of a number” where', 'v,w\n"1,234",x\n"12,345",x\n', undefined],
  [
    'two marks',
    'and with the type of the column',
    rows(...['0,5', '1,5', '2,5', '0,25', '0,75', '3,5', '1.5', '2.5', '0.25', '0.75', '3.5', '4.5']),
    undefined,
  ],
  [
    'other values',
    'in “What stands for a missing value”. With a type chosen,',
    rows('1', '2', '3', '4', '5', '6', 'n.d.', 'bad', 'low'),
    undefined,
  ],
  ['other characters', 'with “Characters of the file” chosen', Buffer.from(rows('süß', 'a'), 'latin1'), undefined],
  ['a header of other characters', 'with “Characters of the file” chosen', Buffer.from('süß;w\n1;2\n', 'latin1'), undefined],
  [
    'characters that are not as told',
    'with “Characters of the file” chosen',
    Buffer.from(rows('\x81', 'a'), 'latin1'),
    undefined,
    { encoding: 'shift_jis' },
  ],
  ['a header in doubt', 'with “Row of the header” 2', 'Trial\nplot,2025,2026\n1,2,3\n', undefined],
  ['columns that are not there', 'of which a type is chosen', rows('1'), undefined, { types: { a: 'int' } }],
  ['columns to leave out that are not there', 'which is to be left out', rows('1'), undefined, { leaveOut: ['a'] }],
  ['a file that was read otherwise', 'read in another way. It was not', rows('1'), rows('1'), { decimal: ',' }],
  ['a file of which nothing was stored', 'and read in another way,', 'a,b\n1\n', 'a,b\n1\n'],
])('%s are said in the words of the form', async (_what, words, bytes, again, reading = {}) => {
  const table = await lake.makeTable();
  const send = async (sent: string | Buffer, how: ReadingOptions) => {
    const { report } = await lake.ingest(table, 'csv', [{ path: 'a.csv', bytes: sent }], { reading: how });
    const [file] = report!.files;
    return [file!.message, ...file!.columns.map(({ note }) => note)].filter((each) => each != null).join('\n');
  };
  const first = again === undefined ? undefined : await send(bytes, {});
  const said = await send(again ?? bytes, reading);
  expect(first).not.toBe(said);
  expect(said).toMatch(NAMES);
  expect(toFormWords(said)).toContain(words);
  expect(toFormWords(said)).not.toMatch(NAMES);
});
