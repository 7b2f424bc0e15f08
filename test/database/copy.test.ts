import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRowsIn, copyRowsOut } from '../../src/database/copy.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

let clone: TestDatabase;
beforeAll(async () => {
  clone = await cloneDatabase();
});
afterAll(() => clone.drop());

const ROWS = 200_000;
const MANY = `copy (select n, repeat('x', 200) from generate_series(1, ${ROWS}) n) to stdout`;

async function connected<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: clone.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

test('a copy goes out whole at the pace of what takes it, which stays open, and the connection is as good as before', () =>
  connected(async (client) => {
    const target = new PassThrough();
    const read = text(target);
    await copyRowsOut(client, MANY, target);
    target.end('end');
    const lines = (await read).split('\n');
    expect([lines.length, lines[0]?.split('\t')[0], lines.at(-1)]).toEqual([ROWS + 1, '1', 'end']);
    expect((await client.query<{ one: number }>('select 1 as one')).rows).toEqual([{ one: 1 }]);
  }));

test('a copy out whose target or statement fails says so, and its connection can be ended', async () => {
  const full = () => {
    let bytes = 0;
    return new Writable({
      write: (chunk: Buffer, _encoding, next) => next((bytes += chunk.length) > 1_000_000 ? new Error('no room') : undefined),
    });
  };
  await expect(connected((client) => copyRowsOut(client, MANY, full()))).rejects.toThrow('no room');
  await expect(
    connected((client) => copyRowsOut(client, 'copy (select 1 / 0) to stdout', new PassThrough().resume())),
  ).rejects.toMatchObject({
    code: '22012',
  });
});

test('a copy in whose source fails is undone, and its connection is as good as before', () =>
  connected(async (client) => {
    await client.query('create temp table copied (n integer)');
    const failing = async function* () {
      for (let n = 0; n < 1_000; n += 1) yield Buffer.from(`${n}\n`.repeat(1_000));
      throw new Error('the source broke');
    };
    await expect(copyRowsIn(client, 'copy copied from stdin', failing())).rejects.toThrow('the source broke');
    expect((await client.query<{ rows: number }>('select count(*)::int as rows from copied')).rows).toEqual([{ rows: 0 }]);
    await copyRowsIn(client, 'copy copied from stdin', [Buffer.from('1\n2\n')]);
    expect((await client.query<{ rows: number }>('select count(*)::int as rows from copied')).rows).toEqual([{ rows: 2 }]);
  }));
