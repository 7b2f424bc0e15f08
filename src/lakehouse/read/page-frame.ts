import type { Readable } from 'node:stream';
import { streamChunks } from '../terms/chunks.ts';
import type { Page } from './read.ts';

/** Bytes that are collected before they are sent. A page of ordinary rows has fewer. A failure before the first are sent can still become an error answer. */
const TOGETHER_BYTES = 131_072;

/** Frames a page as the JSON text of an answer, sent as it comes. `names` are the page's own members. */
export const framePage = (page: Page, names: { name: string; catalog_name: string; schema_name: string }): Readable => {
  const chunks = async function* () {
    const head = JSON.stringify(names).slice(0, -1);
    let held: Buffer[] = [Buffer.from(`[${head},"data":{"columns":${JSON.stringify(page.columns)},"rows":[`)];
    let bytes = 0;
    for await (const chunk of page.rows) {
      held.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes < TOGETHER_BYTES) continue;
      yield Buffer.concat(held);
      held = [];
      bytes = 0;
    }
    const { rows, totalRows, truncated, page: number, pageSize, totalPages } = page.counts();
    const tail = `],"totalRows":${rows},"truncated":${truncated}},"page":${number},"pageSize":${pageSize},"totalPages":${totalPages},"totalRows":${totalRows}}]`;
    yield Buffer.concat([...held, Buffer.from(tail)]);
  };
  return streamChunks(chunks(), page.rows);
};
