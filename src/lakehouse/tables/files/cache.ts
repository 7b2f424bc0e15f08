/** Keeps copies of whole files that never change, in a folder of this process. When they would exceed a number of bytes, the least recently used go first. */
import { EventEmitter, once } from 'node:events';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errors } from '../../../errors.ts';
import { awaitOrAbort, runEach } from '../../../waiting.ts';
import { requireInside } from './files.ts';

/** What the manifest says of a file. */
export interface FileFacts {
  /** Relative to the lake folder. */
  path: string;
  byteCount: number;
  /** 64 lower-case hex digits; null where no hash was noted. */
  sha256: string | null;
}

interface Entry {
  bytes: number;
  /** Undefined for a copy that was found at the start and is not compared with the manifest yet. */
  facts: FileFacts | undefined;
  /** How many holds of the copy are not over yet. */
  pins: number;
  /** The download of the file, while it runs. */
  coming: Promise<void> | undefined;
}

const DOWNLOADS = 8;
/** Milliseconds that a hold waits until others release the room that it needs. */
const ROOM_MS = 30_000;

const mebibytes = (bytes: number) => Math.ceil(bytes / 1_048_576);
const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size;

export class FileCache {
  readonly folder: string;
  readonly #most: number;
  /** The copies by their paths, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #pinned = 0;
  /** Emits `left` when a hold is over. */
  readonly #holds = new EventEmitter().setMaxListeners(0);

  /** Enters the copies that lie in the folder, in the order of their last use. */
  constructor(folder: string, most: number) {
    this.folder = folder;
    this.#most = most;
    rmSync(join(folder, '.staging'), { recursive: true, force: true });
    mkdirSync(join(folder, '.staging'), { recursive: true, mode: 0o700 });
    mkdirSync(join(folder, 'tables'), { recursive: true, mode: 0o700 });
    const found = readdirSync(join(folder, 'tables'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const full = join(entry.parentPath, entry.name);
        const { size, atimeMs, mtimeMs } = statSync(full);
        return { path: full.slice(folder.length + 1), bytes: size, usedAt: Math.max(atimeMs, mtimeMs) };
      });
    for (const { path, bytes } of found.sort((a, b) => a.usedAt - b.usedAt)) this.#enter(path, bytes);
    this.#shrink();
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What the manifest says of a file, if this cache has been told. */
  factsOf(path: string): FileFacts | undefined {
    return this.#entries.get(path)?.facts;
  }

  /** The absolute path at which a copy of a file lies, or would lie. */
  pathOf(path: string): string {
    return requireInside(this.folder, path);
  }

  /**
   * Brings files here, whole, and keeps them until the returned function is called. `fetch` brings one file. Each is brought only once, even for several
   * callers.
   */
  async hold(files: readonly FileFacts[], fetch: (file: FileFacts) => Promise<void>, signal: AbortSignal): Promise<() => void> {
    const needed = files.reduce((sum, { byteCount }) => sum + byteCount, 0);
    if (needed > this.#most) throw errors.lakeCacheTooSmall(mebibytes(needed), mebibytes(this.#most));
    const patience = AbortSignal.timeout(ROOM_MS);
    // nothing is awaited between the look at the room and its taking: somebody else would see the same room
    while (this.#pinned + this.#more(files) > this.#most)
      await once(this.#holds, 'left', { signal: AbortSignal.any([signal, patience]) }).catch(() => {
        throw signal.aborted ? signal.reason : errors.warehouseBusy();
      });
    const pinned = files.map((file) => [file, this.#pin(file)] as const);
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      for (const [{ path }, entry] of pinned) this.#unpin(path, entry);
      this.#holds.emit('left');
    };
    try {
      this.#shrink();
      const missing = pinned.filter(([{ path, byteCount }, { coming }]) => coming !== undefined || sizeOf(this.pathOf(path)) !== byteCount);
      await runEach(missing, DOWNLOADS, ([file, entry]) => awaitOrAbort(this.#bring(file, entry, fetch), signal));
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Takes over a file that was written here. Deletes it if there is no room beside the copies that are held. */
  keep(file: FileFacts, written: string): void {
    if (this.#pinned + file.byteCount > this.#most) return rmSync(written, { force: true });
    const full = this.pathOf(file.path);
    mkdirSync(dirname(full), { recursive: true, mode: 0o700 });
    renameSync(written, full);
    this.#enter(file.path, file.byteCount).facts = file;
    this.#shrink();
  }

  remove(path: string): void {
    rmSync(this.pathOf(path), { force: true });
    const entry = this.#entries.get(path);
    if (!entry) return;
    this.#entries.delete(path);
    this.#bytes -= entry.bytes;
    if (entry.pins > 0) this.#pinned -= entry.bytes;
  }

  removeExperiment(id: string): void {
    for (const path of [...this.#entries.keys()]) if (path.startsWith(`tables/${id}/`)) this.remove(path);
    rmSync(join(this.folder, 'tables', id), { recursive: true, force: true });
  }

  #enter(path: string, bytes: number): Entry {
    const entry: Entry = this.#entries.get(path) ?? { bytes: 0, facts: undefined, pins: 0, coming: undefined };
    this.#entries.delete(path);
    this.#entries.set(path, entry);
    this.#bytes += bytes - entry.bytes;
    if (entry.pins > 0) this.#pinned += bytes - entry.bytes;
    entry.bytes = bytes;
    return entry;
  }

  #pin(file: FileFacts): Entry {
    const entry = this.#enter(file.path, file.byteCount);
    entry.facts = file;
    if (entry.pins === 0) this.#pinned += entry.bytes;
    entry.pins += 1;
    return entry;
  }

  #unpin(path: string, entry: Entry): void {
    entry.pins -= 1;
    // a copy that was removed meanwhile is no longer counted
    if (entry.pins > 0 || this.#entries.get(path) !== entry) return;
    this.#pinned -= entry.bytes;
    this.#forgetMissing(path, entry);
  }

  /** Counts a copy no more that nobody holds and that did not come. */
  #forgetMissing(path: string, entry: Entry): void {
    const isLeft = this.#entries.get(path) === entry && entry.pins === 0 && entry.coming === undefined;
    if (isLeft && sizeOf(this.pathOf(path)) === undefined) this.remove(path);
  }

  #bring(file: FileFacts, entry: Entry, fetch: (file: FileFacts) => Promise<void>): Promise<void> {
    entry.coming ??= fetch(file).finally(() => {
      entry.coming = undefined;
      this.#forgetMissing(file.path, entry);
    });
    // the caller that waited may have gone, so nobody else would handle a failure
    entry.coming.catch(() => undefined);
    return entry.coming;
  }

  /** Bytes that these files add to the held copies; files that are held already add none. */
  #more(files: readonly FileFacts[]): number {
    return files.reduce((sum, { path, byteCount }) => sum + ((this.#entries.get(path)?.pins ?? 0) > 0 ? 0 : byteCount), 0);
  }

  #shrink(): void {
    for (const [path, { pins, coming }] of this.#entries) {
      if (this.#bytes <= this.#most) return;
      if (pins === 0 && coming === undefined) this.remove(path);
    }
  }
}
