import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const list = (length: number, of: (at: number) => number) => Array.from({ length }, (_, at) => of(at)).join(',');

/** A file of one instrument: light, temperature, and two traces, the second of which can be spoilt. */
const traces = ({
  points = 10,
  reference = points,
  first = 'AMBYTE\tv2\t1777629600',
}: { points?: number; reference?: number; first?: string } = {}) =>
  [
    first,
    'I1\t5000\t1777629610',
    'INFO START\tAct: 3.5\tDark: 12',
    'P\t5100\t812.5\t1,2,3,4,5,6,7,8,9,10\t4242',
    'L\t5200\t2951\t0\t31.5',
    'INFO END',
    'A\t6000\t6500\tdirk\t1,0,0,10,1,44,7,0',
    `T0\t${list(10, (at) => at)}`,
    `T1\t${list(10, (at) => 400 + at)}`,
    `T2\t${list(10, () => 100)}`,
    `T3\t${list(10, (at) => 65_536 + 16 * at)}`,
    `T4\t${list(10, (at) => 65_536 + 32 * at)}`,
    'S\t7000\t7900\t2\t300\t50',
    `T1\t${list(points, (at) => at)}`,
    `T2\t${list(reference, (at) => at)}`,
    '',
  ].join('\n');

const NAME = 'Ambyte_12/3/20260501-100000_.txt';

test('a trace file becomes one row a trace, with the real folder numbers', async () => {
  const table = await lake.makeTable();
  const { upload } = await lake.ingest(table, 'ambyte', [
    { path: NAME, bytes: traces() },
    { path: 'unknown_ambyte/notes.txt', bytes: traces() },
  ]);
  expect(upload).toMatchObject({ status: 'completed', rowsIn: 4, stored: 4, quarantined: 0, alreadyThere: 0 });
  const rows = (await lake.rows(table.id)).filter((row) => row['ambyte_folder'] === 'Ambyte_12');
  expect(rows).toMatchObject([
    {
      Time: '2026-05-01 10:00:11+00',
      Protocol: 'dirk',
      Type: '[1]',
      Count: '[10]',
      Frequency: '[300]',
      Actinic: '[7]',
      PTS: 10,
      SigF: '[400,401,402,403,404,405,406,407,408,409]',
      Sun: '[0,1,2,3,4,5,6,7,8,9]',
      Leaf: '[0,2,4,6,8,10,12,14,16,18]',
      Temp: 22,
      BoardT: 31.5,
      PAR: 812.5,
      raw: 4242,
      spec: '[1,2,3,4,5,6,7,8,9,10]',
      meta_Actinic: '3.5',
      meta_Dark: '12',
      ambit_index: 3,
    },
    { Time: '2026-05-01 10:00:12+00', Protocol: 'spacer', Count: '[300]', Actinic: '[50]', Sun: null },
  ]);
  expect((await lake.rows(table.id)).filter((row) => row['ambyte_folder'] === 'unknown_ambyte').map((row) => row['ambit_index'])).toEqual([
    null,
    null,
  ]);
});

test.each([
  ['too few points', { points: 7 }],
  ['a reference of another length', { reference: 9 }],
])('a trace with %s is set aside; the others are stored', async (_name, spoilt) => {
  const table = await lake.makeTable();
  const { upload } = await lake.ingest(table, 'ambyte', [{ path: NAME, bytes: traces(spoilt) }]);
  expect(upload).toMatchObject({ status: 'partial', rowsIn: 2, stored: 1, quarantined: 1 });
  const [refused] = await lake.quarantined(table.experimentId);
  expect(refused).toMatchObject({ reason: 'bad_trace', line: '13', path: NAME });
});

test('a text that is no trace file is refused, beside one that is', async () => {
  const table = await lake.makeTable();
  const { upload, report } = await lake.ingest(table, 'ambyte', [
    { path: NAME, bytes: traces() },
    { path: 'Ambyte_12/4/20260501-100000_.txt', bytes: traces({ first: 'Dear diary' }) },
    { path: 'Ambyte_12/1/20260501-100000_.txt', bytes: 'AMBYTE\tv2\t1777629600\n' },
  ]);
  expect(upload).toMatchObject({ status: 'partial', stored: 2 });
  expect(report?.files.map(({ status, reason }) => [status, reason])).toEqual([
    ['completed', null],
    ['failed', 'wrong_type'],
    ['failed', 'empty_file'],
  ]);
});
