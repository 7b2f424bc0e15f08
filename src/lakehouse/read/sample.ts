/** Reads rows from all over a table, where it has more of them than an answer may hold. */
import type { TableSource } from '../terms/source.ts';
import type { RunOptions, Warehouse } from '../terms/warehouse.ts';
import { MAX_LIMIT, type ReadRequest } from '../ask/request.ts';
import { countDownload, readPage, type Page } from './read.ts';

/** How many standard deviations below the limit a sample aims, since the number of picked rows varies and a cut would take the last ones of the order. */
const MARGIN = 5;

/**
 * Reads every row that matches or, where these are more than the limit, about as many rows as that, picked evenly by their ids: the same ones each time, on
 * either engine. The counts of the answer say so: it is `truncated`. Throws what `readPage` throws.
 */
export const readSample = async (
  warehouse: Warehouse,
  source: TableSource,
  request: ReadRequest,
  options: RunOptions = {},
): Promise<Page> => {
  const { limit = MAX_LIMIT, ...whole } = request;
  const { rowCount } = source;
  const total = rowCount !== undefined && rowCount <= limit ? rowCount : await countDownload(warehouse, source, whole, options);
  if (total <= limit) return readPage(warehouse, source, request, options);
  const share = (limit - MARGIN * Math.sqrt(limit)) / total;
  // what the manifest knows of files is of all their rows
  const page = await readPage(warehouse, { ...source, extents: undefined }, { ...request, share }, options);
  return { ...page, counts: () => ({ ...page.counts(), totalRows: total, truncated: true }) };
};
