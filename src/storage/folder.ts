import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { access, constants, link, mkdir, open, opendir, readdir, rename, rm, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errors } from '../errors.ts';
import { Meter } from './metering.ts';
import {
  isObjectKey,
  requireFolder,
  requireObjectKey,
  type ObjectFacts,
  type ObjectStore,
  type PutOptions,
  type Stored,
} from './objects.ts';
import { makeSigner, type SignedGrant, type SigningOptions } from './signing.ts';

interface FolderOptions extends Omit<SigningOptions, 'now'> {
  folder: string;
  now?: SigningOptions['now'];
}

/** The object store in a folder. Besides the contract, it can check and redeem the URLs that it signed. */
export interface FolderStore extends ObjectStore {
  /** Reads a signed URL. Throws `errors.objectUrlInvalid` when it has expired or was not signed by us for this key. */
  verify(key: string, query: URLSearchParams): SignedGrant;
  /**
   * Writes a body by a verified grant, once. A second use, even at the same time, is `errors.objectUrlInvalid`. After a failed body the grant may be used
   * again.
   */
  redeem(grant: SignedGrant, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<Stored>;
  /** Removes what crashes and signed URLs left behind: temporary files older than an hour, and the marks of expired URLs. Answers how many. */
  sweep(): Promise<number>;
}

const HOUR = 3_600_000;
const TEMPORARY = '.temporary';
const USED = '.used';

const exists = (error: unknown) => (error as { code?: string }).code === 'EEXIST';
const missing = (error: unknown) => ['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as { code?: string }).code ?? '');

/** Makes a file's bytes, or a folder's names, durable. */
export async function writeThrough(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a folder, and makes everything above it durable up to the root of the store. */
async function makeFolder(root: string, folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  if (made === undefined) return;
  for (let at = dirname(folder); at.startsWith(root); at = dirname(at)) await writeThrough(at);
}

export async function openFolderStore({ folder, secret, baseUrl, now = Date.now }: FolderOptions): Promise<FolderStore> {
  const root = resolve(folder);
  const temporary = join(root, TEMPORARY);
  const used = join(root, USED);
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  await mkdir(used, { recursive: true, mode: 0o700 });
  const pathOf = (key: string) => {
    requireObjectKey(key);
    return join(root, key);
  };

  /** Writes bytes durably into a temporary file by `fill`. `place` then puts the file where it belongs. */
  const write = async (
    key: string,
    fill: (handle: FileHandle) => Promise<void>,
    place: (part: string, path: string) => Promise<void>,
  ): Promise<void> => {
    const path = pathOf(key);
    const part = join(temporary, randomUUID());
    const handle = await open(part, 'wx', 0o600);
    try {
      try {
        await fill(handle);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await makeFolder(root, dirname(path));
      await place(part, path);
      await writeThrough(dirname(path));
    } finally {
      await rm(part, { force: true });
    }
  };

  const put = async (key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<Stored> => {
    const meter = new Meter(options);
    const fill = async (handle: FileHandle) => {
      for await (const chunk of meter.pass(body)) await handle.appendFile(chunk);
    };
    await write(key, fill, async (part, path) => {
      options.signal?.throwIfAborted();
      // link refuses to replace a file; rename would replace it
      await link(part, path).catch((error: unknown) => {
        throw exists(error) ? errors.objectExists() : error;
      });
    });
    return meter.stored;
  };

  const factsOf = async (key: string): Promise<ObjectFacts | undefined> => {
    try {
      const found = await stat(pathOf(key));
      return found.isFile() ? { key, byteCount: found.size, modifiedAt: found.mtime } : undefined;
    } catch (error) {
      if (missing(error)) return undefined;
      throw error;
    }
  };

  async function* walk(path: string, key: string): AsyncGenerator<ObjectFacts> {
    const found = await opendir(path).catch((error: unknown) => {
      if (missing(error)) return undefined;
      throw error;
    });
    if (!found) return;
    for await (const entry of found) {
      const inner = key === '' ? entry.name : `${key}/${entry.name}`;
      if (entry.isDirectory() && !entry.name.startsWith('.')) yield* walk(join(path, entry.name), inner);
      else if (entry.isFile() && isObjectKey(inner)) {
        const facts = await factsOf(inner);
        if (facts) yield facts;
      }
    }
  }

  return {
    kind: 'folder',
    put,
    create: async (key, bytes) => {
      try {
        await write(key, (handle) => handle.writeFile(bytes), link);
        return true;
      } catch (error) {
        if (exists(error)) return false;
        throw error;
      }
    },
    replace: (key, bytes) => write(key, (handle) => handle.writeFile(bytes), rename),
    get: async (key, range) => {
      const facts = isObjectKey(key) ? await factsOf(key) : undefined;
      if (!facts) throw errors.objectNotFound();
      const stream = createReadStream(pathOf(key), range);
      await once(stream, 'open').catch((error: unknown) => {
        throw missing(error) ? errors.objectNotFound() : error;
      });
      return stream;
    },
    head: async (key) => (isObjectKey(key) ? factsOf(key) : undefined),
    delete: async (key) => {
      if (!isObjectKey(key)) return false;
      try {
        await unlink(pathOf(key));
        return true;
      } catch (error) {
        if (missing(error)) return false;
        throw error;
      }
    },
    erase: async (prefix) => {
      requireFolder(prefix);
      await rm(join(root, prefix), { recursive: true, force: true });
    },
    list: async function* (prefix) {
      if (prefix !== '' && !/^[A-Za-z0-9_./-]*$/.test(prefix)) return;
      const at = prefix.lastIndexOf('/');
      const base = at < 0 ? '' : prefix.slice(0, at);
      if (base !== '' && !isObjectKey(base)) return;
      for await (const facts of walk(join(root, base), base)) if (facts.key.startsWith(prefix)) yield facts;
    },
    ...makeSigner({ secret, baseUrl, now }),
    redeem: async (grant, body, options = {}) => {
      const { once, key, contentLength, sha256, expiresAt } = grant;
      if (!/^[0-9a-f-]{36}$/.test(once)) throw errors.objectUrlInvalid();
      const mark = join(used, `${expiresAt.getTime()}.${once}`);
      const claim = await open(mark, 'wx', 0o600).catch((error: unknown) => {
        throw exists(error) ? errors.objectUrlInvalid() : error;
      });
      await claim.close();
      try {
        return await put(key, body, {
          ...options,
          contentLength: contentLength ?? options.contentLength,
          sha256: sha256 ?? options.sha256,
        });
      } catch (error) {
        await rm(mark, { force: true });
        throw error;
      }
    },
    sweep: async () => {
      let removed = 0;
      for (const name of await readdir(temporary)) {
        const facts = await stat(join(temporary, name)).catch(() => undefined);
        if (!facts || now() - facts.mtimeMs < HOUR) continue;
        await rm(join(temporary, name), { force: true });
        removed += 1;
      }
      for (const name of await readdir(used)) {
        if (Number(name.split('.')[0]) > now() - HOUR) continue;
        await rm(join(used, name), { force: true });
        removed += 1;
      }
      return removed;
    },
    check: async () => {
      await access(root, constants.W_OK);
      return 'folder';
    },
    close: async () => undefined,
  };
}
