import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, opendir, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
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
  type SignPut,
  type Stored,
} from './objects.ts';

interface FolderOptions {
  folder: string;
  /** HMAC key of the signed URLs; at least 32 bytes. */
  secret: Buffer;
  /** The base of signed URLs, such as `http://127.0.0.1:3000/objects`; the key follows. */
  baseUrl: () => string;
  now?: () => number;
}

/** What a signed URL allows, as the HTTP layer reads it from the URL. */
export interface SignedGrant {
  method: 'GET' | 'PUT';
  key: string;
  expiresAt: Date;
  contentLength?: number;
  contentType?: string;
  sha256?: string;
  /** An id that can be used once; on PUT only. */
  once?: string;
}

/** The object store in a folder. Besides the contract, it can check and redeem the URLs that it signed. */
export interface FolderStore extends ObjectStore {
  /** Reads a signed URL. Throws `errors.objectUrlInvalid` when it has expired or was not signed by us for this method and key. */
  verify(method: string, key: string, query: URLSearchParams): SignedGrant;
  /**
   * Writes a body by a verified PUT grant, once. A second use, even at the same time, is `errors.objectUrlInvalid`. After a failed body the grant may be used
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

async function syncFolder(path: string): Promise<void> {
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
  for (let at = dirname(folder); at.startsWith(root); at = dirname(at)) await syncFolder(at);
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

  const signature = ({ method, key, expiresAt, contentLength, contentType, sha256, once }: SignedGrant) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([method, key, expiresAt.getTime(), contentLength ?? null, contentType ?? null, sha256 ?? null, once ?? null]))
      .digest('base64url');

  const sign = (grant: SignedGrant) => {
    const url = new URL(`${baseUrl().replace(/\/$/, '')}/${grant.key}`);
    const { method, expiresAt, contentLength, contentType, sha256, once } = grant;
    const facts = { method, expires: String(expiresAt.getTime()), length: contentLength?.toString(), type: contentType, sha256, once };
    for (const [name, value] of Object.entries(facts)) if (value !== undefined) url.searchParams.set(name, value);
    url.searchParams.set('signature', signature(grant));
    return url.href;
  };

  const put = async (key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<Stored> => {
    const path = pathOf(key);
    const part = join(temporary, randomUUID());
    const handle = await open(part, 'wx', 0o600);
    try {
      const meter = new Meter(options);
      try {
        for await (const chunk of meter.pass(body)) await handle.appendFile(chunk);
        await handle.sync();
      } finally {
        await handle.close();
      }
      options.signal?.throwIfAborted();
      await makeFolder(root, dirname(path));
      // link refuses to replace a file; rename would replace it
      await link(part, path).catch((error: unknown) => {
        throw exists(error) ? errors.objectExists() : error;
      });
      await syncFolder(dirname(path));
      return meter.stored;
    } finally {
      await rm(part, { force: true });
    }
  };

  /** Writes bytes durably into a temporary file. `place` then puts it where it belongs. */
  const write = async (key: string, bytes: Uint8Array, place: (part: string, path: string) => Promise<void>) => {
    const path = pathOf(key);
    const part = join(temporary, randomUUID());
    const handle = await open(part, 'wx', 0o600);
    try {
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await makeFolder(root, dirname(path));
      await place(part, path);
      await syncFolder(dirname(path));
    } finally {
      await rm(part, { force: true });
    }
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
        await write(key, bytes, link);
        return true;
      } catch (error) {
        if (exists(error)) return false;
        throw error;
      }
    },
    replace: (key, bytes) => write(key, bytes, rename),
    get: async (key, range) => {
      const facts = isObjectKey(key) ? await factsOf(key) : undefined;
      if (!facts) throw errors.objectNotFound();
      return createReadStream(pathOf(key), range);
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
    signPut: async (key: string, { expiresInSeconds, contentLength, contentType, sha256 }: SignPut) => {
      requireObjectKey(key);
      const expiresAt = new Date(now() + expiresInSeconds * 1_000);
      const url = sign({ method: 'PUT', key, expiresAt, contentLength, contentType, sha256, once: randomUUID() });
      const headers: Record<string, string> = {};
      if (contentLength !== undefined) headers['content-length'] = String(contentLength);
      if (contentType !== undefined) headers['content-type'] = contentType;
      return { url, headers, expiresAt };
    },
    signGet: async (key, { expiresInSeconds }) => {
      requireObjectKey(key);
      const expiresAt = new Date(now() + expiresInSeconds * 1_000);
      return { url: sign({ method: 'GET', key, expiresAt }), headers: {}, expiresAt };
    },
    verify: (method, key, query) => {
      const claimed = query.get('method');
      const length = query.get('length');
      const expires = Number(query.get('expires') ?? Number.NaN);
      if ((claimed !== 'GET' && claimed !== 'PUT') || claimed !== method || !isObjectKey(key) || !Number.isSafeInteger(expires))
        throw errors.objectUrlInvalid();
      const grant: SignedGrant = {
        method: claimed,
        key,
        expiresAt: new Date(expires),
        contentLength: length === null ? undefined : Number(length),
        contentType: query.get('type') ?? undefined,
        sha256: query.get('sha256') ?? undefined,
        once: query.get('once') ?? undefined,
      };
      const given = Buffer.from(query.get('signature') ?? '');
      const right = Buffer.from(signature(grant));
      if (given.length !== right.length || !timingSafeEqual(given, right) || expires <= now()) throw errors.objectUrlInvalid();
      return grant;
    },
    redeem: async (grant, body, options = {}) => {
      const { once, key, contentLength, sha256, expiresAt } = grant;
      if (grant.method !== 'PUT' || once === undefined || !/^[0-9a-f-]{36}$/.test(once)) throw errors.objectUrlInvalid();
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
      await stat(root);
      return 'folder';
    },
    close: async () => undefined,
  };
}
