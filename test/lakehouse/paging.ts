/** Every page of a read, one after the other, by the places that pages lead to. */
import { text } from 'node:stream/consumers';
import { readPage } from '../../src/lakehouse/read/read.ts';
import type { TableSource } from '../../src/lakehouse/terms/source.ts';
import type { ReadRequest, Seek } from '../../src/lakehouse/ask/request.ts';
import type { Warehouse } from '../../src/lakehouse/terms/warehouse.ts';

export type Row = Record<string, unknown>;

interface Leaf {
  rows: Row[];
  page: number;
  previous: Seek | null;
  next: Seek | null;
  totals: [number, number];
}

export const leaf = async (warehouse: Warehouse, source: TableSource, request: ReadRequest): Promise<Leaf> => {
  const { rows, counts, edges } = await readPage(warehouse, source, request);
  const found = JSON.parse(`[${await text(rows)}]`) as Row[];
  const { page, totalRows, totalPages } = counts();
  return { rows: found, page, previous: edges?.previous ?? null, next: edges?.next ?? null, totals: [totalRows, totalPages] };
};

/** From the first page to the last, then from the last one back to the first. */
export const thereAndBack = async (warehouse: Warehouse, source: TableSource, request: ReadRequest) => {
  const there: Leaf[] = [await leaf(warehouse, source, request)];
  const { page: _page, ...rest } = request;
  for (let next = there[0]?.next; next; next = there.at(-1)?.next) there.push(await leaf(warehouse, source, { ...rest, seek: next }));
  const back: Leaf[] = [];
  for (let previous = there.at(-1)?.previous; previous; previous = back[0]?.previous)
    back.unshift(await leaf(warehouse, source, { ...rest, seek: previous }));
  return { there, back };
};
