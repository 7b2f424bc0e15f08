import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import S3rver from 's3rver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StartError } from '../../src/errors.ts';
import {
  copyLake,
  findPlace,
  keepPlace,
  requireConditionalPuts,
  requireLake,
  requirePlace,
  setPlace,
} from '../../src/lakehouse/tables/files/place.ts';
import { openFolderStore } from '../../src/storage/folder.ts';
import type { ObjectStore } from '../../src/storage/objects.ts';
import { openS3Store } from '../../src/storage/s3.ts';
import { pieces } from '../contracts/storage.suite.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

const root = mkdtempSync(join(tmpdir(), 'fieldlake-place-'));
let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(async () => {
  await database.drop();
  rmSync(root, { recursive: true, force: true });
});
/** Stores of an installation: its lake, and objects that may be another's. */
const storesOf = async (lake: ObjectStore, objects = 'objects') => ({ lake, objects: await openStore(objects) });
const openStore = (name: string) => openFolderStore({ folder: join(root, name), secret: Buffer.alloc(32, 5), baseUrl: () => '' });

test('the first start says where the lake lies, and a start that names another place is refused', async () => {
  const { db } = database;
  // what was asked for and not proven is not noted
  await requirePlace(db, 's3://misspelled');
  await requirePlace(db, 'folder');
  const store = await openStore('first');
  await keepPlace(db, 'folder', await storesOf(store));
  await keepPlace(db, 'folder', await storesOf(store));
  await expect(keepPlace(db, 's3://lake', await storesOf(store))).rejects.toThrow(StartError);
  expect(await findPlace(db, 's3://other')).toBe('folder');
  await expect(requirePlace(db, 's3://lake')).rejects.toThrow(StartError);
  await expect(requirePlace(db, 's3://lake')).rejects.toThrow(/npm run lake -- migrate .*LAKE=folder/);
  await setPlace(db, 's3://lake');
  await requirePlace(db, 's3://lake');
  await expect(requirePlace(db, 'folder')).rejects.toThrow(/S3_BUCKET=lake/);
  await expect(requirePlace(db, 's3://another')).rejects.toThrow(/S3_BUCKET=lake/);
});

test('a folder of the same name that holds another lake, or none, is refused; of many that are opened at once one is taken', async () => {
  const own = await cloneDatabase();
  try {
    const { db } = own;
    const stores = await Promise.all(['a', 'b', 'c', 'd'].map((name) => openStore(`rival-${name}`)));
    const sites = await Promise.all(stores.map((store) => storesOf(store)));
    const opened = await Promise.allSettled(sites.flatMap((site) => [keepPlace(db, 'folder', site), keepPlace(db, 'folder', site)]));
    const taken = opened.flatMap(({ status }, index) => (status === 'fulfilled' ? [stores[index >> 1]!] : []));
    expect([taken.length, new Set(taken).size]).toEqual([2, 1]);
    await requireLake(db, 'folder', taken[0]!);
    for (const other of [...stores.filter((store) => store !== taken[0]), await openStore('empty')]) {
      await expect(requireLake(db, 'folder', other)).rejects.toThrow(/is not the lake of this database/);
      await expect(keepPlace(db, 'folder', await storesOf(other))).rejects.toThrow(StartError);
    }
    // a lake that was moved has the id of its new place
    await setPlace(db, 's3://lake');
    await keepPlace(db, 's3://lake', await storesOf(await openStore('moved')));
    await expect(requireLake(db, 's3://lake', taken[0]!)).rejects.toThrow(StartError);
  } finally {
    await own.drop();
  }
});

test('a new database does not begin where tables or uploads of another lie; one that a crash kept from noting its id goes on', async () => {
  const own = await cloneDatabase();
  try {
    const { db } = own;
    const others = await openStore('others');
    await others.put('tables/experiment/table/1.parquet', pieces(Buffer.from('rows')));
    await expect(keepPlace(db, 'folder', await storesOf(others))).rejects.toThrow(/tables.*is another database's/);
    expect(await others.head('id')).toBeUndefined();
    const begun = await openStore('begun');
    await (await openStore('others-objects')).put('uploads/one/1', pieces(Buffer.from('rows')));
    await expect(keepPlace(db, 'folder', await storesOf(begun, 'others-objects'))).rejects.toThrow(/uploads.*is another database's/);
    await begun.create('id', Buffer.from('one'));
    await keepPlace(db, 'folder', await storesOf(begun));
    await begun.put('tables/experiment/table/1.parquet', pieces(Buffer.from('rows')));
    await keepPlace(db, 'folder', await storesOf(begun));
    await expect(keepPlace(db, 'folder', await storesOf(others))).rejects.toThrow(/is not the lake of this database/);
  } finally {
    await own.drop();
  }
});

test('a store that makes an object only where there is none is taken; s3rver, which writes over it, is refused with a sentence', async () => {
  const store = await openStore('good');
  await requireConditionalPuts(store);
  for await (const { key } of store.list('')) expect(key).toBe('nothing is left');
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: join(root, 's3'),
    configureBuckets: [{ name: 'lake', configs: [] }],
  });
  const { port } = await server.run();
  const access = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  const s3 = openS3Store({ bucket: 'lake', region: 'us-east-1', endpoint: `http://127.0.0.1:${port}`, credentials: access });
  await expect(requireConditionalPuts(s3)).rejects.toThrow(/If-None-Match/);
  await server.close();
  await expect(requireConditionalPuts(s3)).rejects.toThrow(/cannot be written/);
  await s3.close();
});

test('a lake that is copied brings its logs last, and may be stopped and begun again', async () => {
  const [from, to] = [await openStore('from'), await openStore('to')];
  const tables = [randomUUID(), randomUUID()].map((id) => `tables/${randomUUID()}/${id}`);
  for (const table of tables) {
    for (const name of ['a', 'b']) await from.put(`${table}/${name}.parquet`, pieces(`${table} ${name}`));
    for (const version of [1, 2]) await from.put(`${table}/_delta_log/0000000000000000000${version}.json`, pieces(`entry ${version}`));
    await from.replace(`${table}/_delta_log/_last_checkpoint`, Buffer.from('{"version":1}'));
  }
  await from.put('elsewhere/x', pieces('no table'));
  const order: string[] = [];
  let left = 5;
  const failing: ObjectStore = {
    ...to,
    put: async (key, body, options) => {
      if (left === 0) throw new Error('stopped');
      left -= 1;
      order.push(key);
      return to.put(key, body, options);
    },
  };
  await expect(copyLake(from, failing)).rejects.toThrow('stopped');
  left = 100;
  expect(await copyLake(from, failing)).toBe(5);
  expect(order.slice(0, 4).every((key) => key.endsWith('.parquet'))).toBe(true);
  expect(order).toHaveLength(8);
  await from.replace(`${tables[0]}/_delta_log/_last_checkpoint`, Buffer.from('{"version":2}'));
  expect(await copyLake(from, to)).toBe(2);
  const contents = async (store: ObjectStore) => {
    const found: Record<string, string> = {};
    for await (const { key } of store.list('tables/')) found[key] = String(await buffer(await store.get(key)));
    return found;
  };
  expect(await contents(to)).toEqual(await contents(from));
  expect(await to.head('elsewhere/x')).toBeUndefined();
});
