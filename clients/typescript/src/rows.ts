import type { RecordBatch } from 'apache-arrow';
import type { Fieldlake } from './client.ts';
import { nextPlace, previousPlace, type Place } from './paging.ts';
import type { AnswerTo, QueryOf } from './types.ts';

const PATH = '/api/v1/experiments/{id}/data';

type Query = QueryOf<typeof PATH, 'get'>;

/** What is asked of a table: without a limit every row that matches is streamed. */
export type RowsAsked = Omit<Query, 'page' | 'pageSize' | 'cursor' | 'format' | 'raw' | 'bom'>;

/** What is asked of a page of a table. */
export type PageAsked = Omit<Query, 'format' | 'raw' | 'bom'>;

export type RowPage = AnswerTo<typeof PATH, 'get'>[number];

export interface ReadPage {
  page: RowPage;
  /** The version of the table that was read: `asOf` reads it again. */
  version: number;
  /** Where the next page is; null on the last. */
  next: Place | null;
  /** Where the page before is; null on the first. */
  previous: Place | null;
}

interface StreamSettings {
  signal?: AbortSignal;
}

/** One page of rows. */
export async function readPage(
  client: Fieldlake,
  experimentId: string,
  asked: PageAsked,
  { signal }: StreamSettings = {},
): Promise<ReadPage> {
  const { data, response } = await client.GET(PATH, {
    params: { path: { id: experimentId }, query: { ...asked, format: 'json' } },
    ...(signal === undefined ? {} : { signal }),
  });
  // the operation answers other formats too, which `format` has excluded
  const [page] = data as RowPage[];
  if (page === undefined) throw new Error('The answer holds no page.');
  const { headers } = response;
  return { page, version: Number(headers.get('x-table-version')), next: nextPlace(headers), previous: previousPlace(headers) };
}

/** Page after page of the rows that match, each asked for when it is wanted. All are of the version of the first. */
export async function* readPages(
  client: Fieldlake,
  experimentId: string,
  asked: PageAsked,
  settings: StreamSettings = {},
): AsyncGenerator<ReadPage, void, undefined> {
  for (let place: Place | null = {}; place !== null;) {
    const read: ReadPage = await readPage(client, experimentId, { ...asked, ...place }, settings);
    yield read;
    place = read.next;
  }
}

async function open(
  client: Fieldlake,
  experimentId: string,
  asked: RowsAsked & { format: 'ndjson' | 'arrow' },
  { signal }: StreamSettings,
): Promise<ReadableStream<Uint8Array>> {
  const { data } = await client.GET(PATH, {
    params: { path: { id: experimentId }, query: asked },
    parseAs: 'stream',
    ...(signal === undefined ? {} : { signal }),
  });
  return data as ReadableStream<Uint8Array>;
}

/** Lines of a stream of UTF-8 text. The last line ends with a line feed, or the stream was cut: that is an error. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let begun = '';
  for await (const bytes of body) {
    const lines = (begun + decoder.decode(bytes, { stream: true })).split('\n');
    begun = lines.pop() ?? '';
    yield* lines;
  }
  if (begun !== '') throw new Error('The stream ended within a row.');
}

/** Every row that matches, one by one, in constant memory (NDJSON). The connection ends when the loop is left. */
export async function* rowsOf(
  client: Fieldlake,
  experimentId: string,
  asked: RowsAsked,
  settings: StreamSettings = {},
): AsyncGenerator<Record<string, unknown>, void, undefined> {
  const body = await open(client, experimentId, { ...asked, format: 'ndjson' }, settings);
  for await (const line of linesOf(body)) yield JSON.parse(line) as Record<string, unknown>;
}

/** Every row that matches, in batches of Arrow columns. `apache-arrow` is loaded by the first call. */
export async function* batchesOf(
  client: Fieldlake,
  experimentId: string,
  asked: RowsAsked,
  settings: StreamSettings = {},
): AsyncGenerator<RecordBatch, void, undefined> {
  const { RecordBatchReader } = await import('apache-arrow');
  const body = await open(client, experimentId, { ...asked, format: 'arrow' }, settings);
  const reader = await RecordBatchReader.from(body);
  await reader.open();
  yield* reader;
}
