/** Keeps answers that were printed before, by everything that they depend on, within a budget of bytes. The least recently used goes first. */
import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { streamChunks } from '../terms/chunks.ts';
import type { Page, PageCounts } from './read.ts';

interface Kept {
  /** The experiment whose rows the answer holds. */
  experimentId: string;
  text: Buffer;
  /** What a page has besides its rows; null for an answer that is no page. A function here would hold the request that made it. */
  page: (Omit<Page, 'rows' | 'counts'> & { counts: PageCounts }) | null;
}

interface CacheLimits {
  /** The most bytes of all answers together; 0 keeps none. */
  bytes: number;
  /** How long an answer is kept. */
  milliseconds: number;
}

export interface CacheKey {
  experimentId: string;
  /** Names everything that the answer depends on. An answer whose name is null is never kept. */
  answer: string | null;
}

/** Joins texts in memory of their own. A small Buffer is else a part of 64 kB that stay as long as it does. */
function joinApart(texts: readonly Buffer[], bytes: number): Buffer {
  const joined = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const text of texts) at += text.copy(joined, at);
  return joined;
}

/** The largest share of the budget that one answer may take. A larger one is not worth the others. */
const LARGEST = 1 / 8;

export class PageCache {
  readonly #most: number;
  readonly #kept: LRUCache<string, Kept>;
  #hits = 0;
  #misses = 0;

  constructor({ bytes, milliseconds }: CacheLimits) {
    this.#most = bytes * LARGEST;
    this.#kept = new LRUCache({ maxSize: Math.max(1, bytes), sizeCalculation: sizeOf, ttl: milliseconds, ttlResolution: 0 });
  }

  /** The number of kept answers and their bytes; how often one was found, and how often not. */
  get usage(): { answers: number; bytes: number; hits: number; misses: number } {
    return { answers: this.#kept.size, bytes: this.#kept.calculatedSize, hits: this.#hits, misses: this.#misses };
  }

  /** Finds the answer of a key, if it is kept. No engine is needed to read it. */
  find(key: CacheKey): Page | null {
    const { text, page } = this.#get(key) ?? { page: null };
    return page && { ...page, counts: () => page.counts, rows: Readable.from(text.length === 0 ? [] : [text], { objectMode: false }) };
  }

  /** Finds the text of an answer that is no page, if it is kept. */
  findText(key: CacheKey): string | null {
    return this.#get(key)?.text.toString('utf8') ?? null;
  }

  #get({ answer }: CacheKey): Kept | undefined {
    const kept = answer === null ? undefined : this.#kept.get(answer);
    if (kept) this.#hits += 1;
    else this.#misses += 1;
    return kept;
  }

  /** Answers the same page, and keeps it once its rows have been read to their end. A page that fails, is left or is too large is not kept. */
  keep({ answer, experimentId }: CacheKey, page: Page): Page {
    if (answer === null || this.#most === 0) return page;
    const chunks = async function* (this: PageCache) {
      let seen: Buffer[] | null = [];
      let bytes = 0;
      for await (const chunk of page.rows as AsyncIterable<Buffer | string>) {
        const copy = Buffer.from(chunk as Buffer);
        bytes += copy.length;
        if (bytes > this.#most) seen = null;
        seen?.push(copy);
        yield copy;
      }
      if (!seen) return;
      const { columns, edges } = page;
      this.#kept.set(answer, { experimentId, text: joinApart(seen, bytes), page: { columns, counts: page.counts(), edges } });
    };
    return { ...page, rows: streamChunks(chunks.call(this), page.rows) };
  }

  /** Keeps the text of an answer that is no page, unless it is too large. */
  keepText({ answer, experimentId }: CacheKey, text: string): void {
    const bytes = Buffer.from(text);
    if (answer !== null && bytes.length <= this.#most)
      this.#kept.set(answer, { experimentId, text: joinApart([bytes], bytes.length), page: null });
  }

  /** Removes every answer from an experiment's rows. Answers how many, and their bytes. */
  forget(experimentId: string): { rows: number; bytes: number } {
    const before = { rows: this.#kept.size, bytes: this.#kept.calculatedSize };
    for (const [answer, kept] of [...this.#kept.entries()]) if (kept.experimentId === experimentId) this.#kept.delete(answer);
    return { rows: before.rows - this.#kept.size, bytes: before.bytes - this.#kept.calculatedSize };
  }
}

/** Estimates the bytes of an answer, with its columns and bookkeeping. */
const sizeOf = ({ text, page }: Kept, answer: string): number => text.length + 2 * answer.length + 200 * ((page?.columns.length ?? 0) + 2);
