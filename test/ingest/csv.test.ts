import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLake, type Lake } from './setup.ts';

let lake: Lake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

test('a small file comes back value for value, typed, in its order', async () => {
  const table = await lake.makeTable();
  const { upload, report } = await lake.ingest(table, 'csv', [
    {
      path: 'a.csv',
      bytes:
        'plot,code,v,big,day,at,local,note\n1,007,12.50,9007199254740993,2024-01-02,2024-01-02T03:04:05Z,2024-01-02 03:04,"a ""q""\nb"\n2,012,-0.5,1,2024-02-29,2024-01-02T03:04:05.123456+02:00,2024-01-02T03:04:05.5,\n3,,,,,,,""\n',
    },
  ]);
  console.log(JSON.stringify(report), upload);
  console.log(await lake.types(table.id), await lake.rows(table.id));
  expect(upload).toMatchObject({ status: 'completed', rowsIn: 3, stored: 3 });
});
