/** Answers that were printed before: kept by what they depend on, within a budget of bytes, least lately used first to go. */
import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { Page } from './read.ts';

interface Kept {
  /** Whose rows they are. */
  experimentId: string;
  text: Buffer;
  /** What a page has beside its rows; null of an answer that is no page. */
  page: Omit<Page, 'rows'> | null;
}

interface CacheLimits {
  /** Of all answers together; 0 keeps none. */
  bytes: number;
  /** How long an answer is kept. */
  milliseconds: number;
}

export interface CacheKey {
  experimentId: string;
  /** Names everything that the answer depends on; null is never kept. */
  answer: string | null;
}

/** Beyond this share of the whole an answer is not worth the others. */
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

  /** Answers that are kept and their bytes; how often one was found, and how often not. */
  get usage(): { answers: number; bytes: number; hits: number; misses: number } {
    return { answers: this.#kept.size, bytes: this.#kept.calculatedSize, hits: this.#hits, misses: this.#misses };
  }

  /** The answer of a key, where it is kept; reading it costs no engine. */
  find(key: CacheKey): Page | null {
    const { text, page } = this.#get(key) ?? { page: null };
    return page && { ...page, rows: Readable.from(text.length === 0 ? [] : [text], { objectMode: false }) };
  }

  /** The text of an answer that is no page, where it is kept. */
  findText(key: CacheKey): string | null {
    return this.#get(key)?.text.toString('utf8') ?? null;
  }

  #get({ answer }: CacheKey): Kept | undefined {
    const kept = answer === null ? undefined : this.#kept.get(answer);
    if (kept) this.#hits += 1;
    else this.#misses += 1;
    return kept;
  }

  /** The same page, which is kept once its rows have been read to their end. What fails, is left or is too large is not. */
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
      const counts = page.counts();
      const { columns, edges } = page;
      this.#kept.set(answer, { experimentId, text: Buffer.concat(seen), page: { columns, counts: () => counts, edges } });
    };
    const rows = Readable.from(chunks.call(this), { objectMode: false });
    rows.once('close', () => page.rows.destroy());
    return { ...page, rows };
  }

  /** Keeps the text of an answer that is no page, unless it is too large. */
  keepText({ answer, experimentId }: CacheKey, text: string): void {
    const bytes = Buffer.from(text);
    if (answer !== null && bytes.length <= this.#most) this.#kept.set(answer, { experimentId, text: bytes, page: null });
  }

  /** Removes every answer from an experiment's rows; how many, and their bytes. */
  forget(experimentId: string): { rows: number; bytes: number } {
    const before = { rows: this.#kept.size, bytes: this.#kept.calculatedSize };
    for (const [answer, kept] of [...this.#kept.entries()]) if (kept.experimentId === experimentId) this.#kept.delete(answer);
    return { rows: before.rows - this.#kept.size, bytes: before.bytes - this.#kept.calculatedSize };
  }
}

/** What an answer takes, its columns and bookkeeping included by about. */
const sizeOf = ({ text, page }: Kept, answer: string): number => text.length + 2 * answer.length + 200 * ((page?.columns.length ?? 0) + 2);
