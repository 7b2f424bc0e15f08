import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printObjectKey, type ObjectStore } from '../../src/storage/objects.ts';

export async function* pieces(...parts: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part as string);
}
async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half');
  throw new Error('the sender went away');
}
export const text = async (body: AsyncIterable<Uint8Array>) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
export const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
const keys = async (store: ObjectStore, prefix: string) => {
  const found: string[] = [];
  for await (const { key } of store.list(prefix)) found.push(key);
  return found.sort();
};

export interface Opened {
  store: ObjectStore;
  close(): Promise<void>;
}

/**
 * What every object store promises. `isWhole`: false where the server at hand writes
 * in spite of `If-None-Match`, and cuts answers of what is being replaced.
 */
export function storageContract(name: string, open: () => Promise<Opened>, { isWhole = true }: { isWhole?: boolean } = {}): void {
  describe(name, () => {
    let opened: Opened;
    let store: ObjectStore;
    beforeAll(async () => {
      opened = await open();
      ({ store } = opened);
    });
    afterAll(() => opened.close());
    // what a server at hand does not do is shown by another
    const whole = isWhole ? test : () => undefined;
    const key = () => printObjectKey('uploads', randomUUID(), '0');

    test('bytes come back as they were, whole and in ranges, with their hash and length', async () => {
      const at = key();
      expect(await store.put(at, pieces('hello ', 'world'))).toEqual({ byteCount: 11, sha256: sha256('hello world') });
      expect(await text(await store.get(at))).toBe('hello world');
      expect(await text(await store.get(at, { start: 6 }))).toBe('world');
      expect(await text(await store.get(at, { start: 2, end: 4 }))).toBe('llo');
      expect(await store.head(at)).toMatchObject({ key: at, byteCount: 11 });
      expect(await store.delete(at)).toBe(true);
      expect(await store.delete(at)).toBe(false);
      expect(await store.head(at)).toBeUndefined();
      await expect(store.get(at)).rejects.toMatchObject({ code: 'OBJECT_NOT_FOUND' });
    });

    test('an empty object and one of several parts', async () => {
      const [empty, large] = [key(), key()];
      expect(await store.put(empty, pieces())).toMatchObject({ byteCount: 0 });
      expect(await text(await store.get(empty))).toBe('');
      const block = Buffer.alloc(3 * 1_048_576, 'x');
      expect(await store.put(large, pieces(block, block, block, block))).toMatchObject({ byteCount: 12 * 1_048_576 });
      expect(await store.head(large)).toMatchObject({ byteCount: 12 * 1_048_576 });
    });

    test.each([
      ['a limit', { maxBytes: 4 }, 'PAYLOAD_TOO_LARGE'],
      ['a shorter length', { contentLength: 4 }, 'OBJECT_MISMATCH'],
      ['a longer length', { contentLength: 6 }, 'OBJECT_MISMATCH'],
      ['another hash', { sha256: sha256('other') }, 'OBJECT_MISMATCH'],
    ])('%s is enforced and nothing is left', async (_name, options, code) => {
      const at = key();
      await expect(store.put(at, pieces('he', 'llo'), options)).rejects.toMatchObject({ code });
      expect(await store.head(at)).toBeUndefined();
      await store.put(at, pieces('he', 'llo'), { maxBytes: 5, contentLength: 5, sha256: sha256('hello') });
      expect(await store.head(at)).toMatchObject({ byteCount: 5 });
    });

    test('a body that breaks off or is cancelled leaves nothing', async () => {
      const at = key();
      await expect(store.put(at, failing())).rejects.toThrow('the sender went away');
      await expect(store.put(at, pieces('x'), { signal: AbortSignal.abort() })).rejects.toThrow();
      expect(await keys(store, at)).toEqual([]);
    });

    test('a key is written once', async () => {
      const at = key();
      await store.put(at, pieces('first'));
      await expect(store.put(at, pieces('second'))).rejects.toMatchObject({ code: 'OBJECT_EXISTS' });
      expect(await text(await store.get(at))).toBe('first');
    });

    whole('of forty who create an object at once one does, and nothing of the others is left', async () => {
      const at = key();
      const tries = await Promise.all(
        Array.from({ length: 40 }, (_, index) => store.create(at, Buffer.from(`writer ${index}`.repeat(1_000)))),
      );
      expect(tries.filter((made) => made)).toHaveLength(1);
      expect(await text(await store.get(at))).toBe(`writer ${tries.indexOf(true)}`.repeat(1_000));
      expect(await store.create(at, Buffer.from('late'))).toBe(false);
      expect(await text(await store.get(at))).not.toBe('late');
      await expect(store.create('../x', Buffer.from('x'))).rejects.toMatchObject({ code: 'OBJECT_NOT_FOUND' });
    });

    whole('an object that is replaced is the one or the other for every reader', async () => {
      const at = key();
      const [one, other] = ['1'.repeat(100_000), '2'.repeat(200_000)];
      await store.replace(at, Buffer.from(one));
      const seen = new Set<string>();
      let replacing = true;
      const reads = (async () => {
        while (replacing) seen.add(await text(await store.get(at)));
      })();
      for (let turn = 0; turn < 10; turn += 1) await store.replace(at, Buffer.from(turn % 2 === 0 ? other : one));
      replacing = false;
      await reads;
      for (const found of seen) expect([one, other]).toContain(found);
      await expect(store.replace('../x', Buffer.from('x'))).rejects.toMatchObject({ code: 'OBJECT_NOT_FOUND' });
    });

    test('what is replaced is what was written last', async () => {
      const at = key();
      for (const said of ['one', 'two']) await store.replace(at, Buffer.from(said));
      expect(await text(await store.get(at))).toBe('two');
    });

    test('keys that could leave their folder are refused', async () => {
      for (const bad of ['../x', 'a/../x', '/etc/x', 'a//b', '.temporary/x', 'a/.b', 'a\\b', 'a b', 'a\0', ''] as const) {
        await expect(store.put(bad, pieces('x'))).rejects.toMatchObject({ code: 'OBJECT_NOT_FOUND' });
        await expect(store.get(bad)).rejects.toMatchObject({ code: 'OBJECT_NOT_FOUND' });
        expect(await store.head(bad)).toBeUndefined();
        expect(await store.delete(bad)).toBe(false);
      }
    });

    test('a prefix lists what starts with it', async () => {
      const root = randomUUID();
      for (const name of ['a', 'ab', 'b']) await store.put(printObjectKey(root, name, '0'), pieces(name));
      expect(await keys(store, `${root}/a`)).toEqual([`${root}/a/0`, `${root}/ab/0`]);
      expect(await keys(store, `${root}/`)).toHaveLength(3);
      expect(await keys(store, `${root}/../`)).toEqual([]);
    });

    whole('what is erased is gone whatever it was, and what lies beside it stays', async () => {
      const root = randomUUID();
      for (const name of ['a', 'a/deep', 'ab']) await store.put(`${root}/${name}/0`, pieces(name));
      await store.erase(`${root}/a/`);
      expect(await keys(store, `${root}/`)).toEqual([`${root}/ab/0`]);
      await store.erase(`${root}/a/`);
      for (const bad of ['', root, '../', `${root}/../`])
        await expect(store.erase(bad)).rejects.toMatchObject({ code: 'OBJECT_NOT_FOUND' });
      expect(await keys(store, `${root}/`)).toEqual([`${root}/ab/0`]);
    });

    test('a signed URL writes', async () => {
      const at = key();
      const put = await store.signPut(at, { expiresInSeconds: 60, contentLength: 5, contentType: 'text/plain', sha256: sha256('hello') });
      const sent = await fetch(put.url, { method: 'PUT', headers: put.headers, body: 'hello' });
      expect(sent.status).toBe(200);
      expect(await text(await store.get(at))).toBe('hello');
    });
  });
}
