import { hash } from 'node:crypto';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { makeInTurns } from '../../waiting.ts';

function setEtag(response: Response, tag: string): void {
  response.setHeader('ETag', tag);
  // fetch adds no-cache to every conditional request, which express would take as a wish for the whole answer
  if (response.req.headers['if-none-match'] !== undefined) delete response.req.headers['cache-control'];
}

/**
 * Sets the entity tag of a single resource: its version, which If-Match compares, and a digest of this caller's representation,
 * which If-None-Match compares as a whole.
 */
export function addEtag<T>(response: Response, body: T, version: number): T {
  const text = JSON.stringify(body);
  const digest = hash('sha256', text, 'base64url').slice(0, 16);
  setEtag(response, `"${version}-${digest}"`);
  // this text is sent, so that the body is not printed twice
  const json = response.json.bind(response);
  response.json = (sent: unknown) => (sent === body ? response.type('json').send(text) : json(sent));
  return body;
}

/** Versions that If-Match accepts; null when any will do. A proxy that compresses makes a tag weak (`W/`), and the version in it is the same. */
export function readExpectedVersions(request: Request): number[] | null {
  const header = request.get('if-match');
  if (header === undefined || header.trim() === '*') return null;
  return header.split(',').map((tag) => Number(/^\s*(?:W\/)?"(\d+)-/.exec(tag)?.[1] ?? -1));
}

export interface PageAsked {
  page: number;
  pageSize: number;
}

/** Rows of a page, and how many rows there are in all. `total` is exact up to `COUNT_LIMIT`; beyond, it is one more than that. */
export interface Counted<T> {
  rows: T[];
  total: number;
}

const COUNT_LIMIT = 10_000;

/** How far to count for a list. */
export const limitCount = (request: Request): number => (request.get('prefer') === 'count=exact' ? 100_000_000 : COUNT_LIMIT + 1);

interface PageQuery {
  page?: number;
  pageSize?: number;
}

const USUAL_PAGE = 100;

const WHOLE_LIST = 1_000;

/** The page that a list's query asks for, of `usual` rows where it names no size. */
export function readPageQuery({ page = 1, pageSize }: PageQuery, usual = USUAL_PAGE): PageAsked & { limit: number; offset: number } {
  const limit = pageSize ?? usual;
  return { page, pageSize: limit, limit, offset: (page - 1) * limit };
}

/** The page that a list's query asks for; without paging, the first 1,000 rows. */
export const readPageOrWhole = (asked: PageQuery): PageAsked & { limit: number; offset: number } =>
  readPageQuery(asked, asked.page === undefined && asked.pageSize === undefined ? WHOLE_LIST : USUAL_PAGE);

/** Common clients, such as fetch of Node, take 16 kB of headers; a longer answer would be lost to them whole. */
const LONGEST_LINKS = 12_000;

type Place = Readonly<Record<string, string | number>>;

/** Sets Link to the places that there are, which repeats the query; not where a long query would make it longer than clients take. */
function setLinks(response: Response, places: Readonly<Record<string, Place | false>>): void {
  const text = Object.entries(places)
    .flatMap(([rel, place]) => (place === false ? [] : [printLink(response, rel, place)]))
    .join(', ');
  if (text !== '' && text.length <= LONGEST_LINKS) response.setHeader('Link', text);
}

/** A link to the same list with another place in its query. */
function printLink({ req: { originalUrl, path } }: Response, rel: string, place: Place): string {
  const query = new URLSearchParams(originalUrl.split('?')[1] ?? '');
  // a cursor takes the place of a page
  if ('cursor' in place) query.delete('page');
  for (const [name, value] of Object.entries(place)) query.set(name, String(value));
  return `<${path}?${query.toString()}>; rel="${rel}"`;
}

/** Sets X-Total-Count and Link of a list. Beyond the count limit there is no last page to link to. A list that was read whole goes on in usual pages. */
export function setListHeaders<T>(response: Response, { rows, total }: Counted<T>, { page, pageSize }: PageAsked): T[] {
  const exact = total <= COUNT_LIMIT || response.req.get('prefer') === 'count=exact';
  response.setHeader('X-Total-Count', String(exact ? total : COUNT_LIMIT));
  if (!exact) response.setHeader('X-Total-Count-Exact', 'false');
  const size = pageSize === WHOLE_LIST ? USUAL_PAGE : pageSize;
  const last = Math.max(1, Math.ceil(total / size));
  const next = (page * pageSize) / size + 1;
  setLinks(response, {
    first: { page: 1, pageSize: size },
    prev: page > 1 && { page: ((page - 1) * pageSize) / size, pageSize: size },
    next: next <= last && { page: next, pageSize: size },
    last: exact && { page: last, pageSize: size },
  });
  return rows;
}

/** Sets Link of a page that is reached by cursors: the same query, from another place. */
export function setCursorLinks(response: Response, { previous, next }: { previous: string | null; next: string | null }): void {
  setLinks(response, { prev: previous !== null && { cursor: previous }, next: next !== null && { cursor: next } });
}

/** Sets X-Total-Count and Link of a list that is asked by `limit` and `offset`. */
export function setWindowHeaders<T>(
  response: Response,
  { rows, total }: Counted<T>,
  { limit, offset }: { limit: number; offset: number },
): T[] {
  response.setHeader('X-Total-Count', String(total));
  if (limit === 0) return rows;
  setLinks(response, {
    first: { limit, offset: 0 },
    prev: offset > 0 && { limit, offset: Math.max(0, offset - limit) },
    next: offset + limit < total && { limit, offset: offset + limit },
    last: { limit, offset: Math.max(0, Math.ceil(total / limit) - 1) * limit },
  });
  return rows;
}

/** Sets an entity tag and answers 304 when the caller has it already. */
export function isUnmodified(response: Response, tag: string): boolean {
  setEtag(response, tag);
  const isKnown = response.req.fresh;
  if (isKnown) response.status(304).end();
  return isKnown;
}

/**
 * Frees the memory of bytes that nobody reads any more, when they fill their buffer. The garbage collector sees hardly anything of what streams hold, and lets
 * 64 MB of it pile up before it looks.
 */
function giveBack(chunk: Uint8Array): void {
  const { buffer } = chunk;
  if (buffer instanceof ArrayBuffer && chunk.byteLength === buffer.byteLength) buffer.transfer(0);
}

/** Writes to the response at its pace. Bytes that nobody else holds are freed as soon as the operating system has them. */
const sink = (response: Response, isOnlyHere: boolean): Writable =>
  new Writable({
    write: (chunk: Uint8Array, _encoding, next) => {
      const go = response.write(chunk, (error) => {
        if (isOnlyHere && !error) giveBack(chunk);
      });
      if (go) next();
      else response.once('drain', next);
    },
    final: (done) => {
      response.end(done);
    },
  });

interface Sending {
  /** Called when the body has ended. Trailers go behind the chunks of an HTTP/1.1 answer; other answers leave them out. */
  trailers?: () => Promise<Record<string, string>>;
  /** Nobody else holds the bytes of the body: their memory is freed once they are sent. */
  isOnlyHere?: boolean;
}

/** Headers that come again behind the chunks: curl for R, and httr2 with it, shows the last block of headers alone, which are the trailers. */
const REPEATED = ['ETag', 'X-Table-Version'];

async function* trailed(response: Response, body: Readable, trailers: NonNullable<Sending['trailers']>): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield chunk as Buffer;
  const own = Object.entries(await trailers());
  const again = REPEATED.flatMap((name): [string, string][] =>
    response.hasHeader(name) ? [[name, String(response.getHeader(name))]] : [],
  );
  response.addTrailers([...again, ...own]);
}

/** Whether the answer is sent in chunks, which only HTTP/1.1 has. */
const isChunked = ({ httpVersionMajor, httpVersionMinor }: Request) => httpVersionMajor > 1 || httpVersionMinor >= 1;

/**
 * Sends a stream of bytes. Headers go out with the first byte. A failure before that byte becomes a problem document; a later one closes the connection without
 * a last chunk. HEAD gets the same headers, and the rest of the stream is never made.
 */
export async function sendStream(response: Response, body: Readable, { trailers, isOnlyHere = false }: Sending = {}): Promise<void> {
  await once(body, 'readable');
  if (response.req.method === 'HEAD') {
    body.destroy();
    response.end();
    return;
  }
  const trailing = trailers && isChunked(response.req) ? trailers : undefined;
  if (trailing) response.setHeader('Trailer', [...REPEATED.filter((name) => response.hasHeader(name)), 'X-Truncated'].join(', '));
  const gone = new AbortController();
  const leave = () => {
    if (!response.writableFinished) gone.abort();
  };
  response.once('close', leave);
  try {
    await pipeline(trailing ? trailed(response, body, trailing) : body, sink(response, isOnlyHere), { signal: gone.signal });
  } catch (error) {
    body.destroy();
    // the caller went away, or the engine failed with bytes on the wire: either way nothing can be said any more
    if (!response.headersSent) throw error;
    response.destroy();
  } finally {
    response.off('close', leave);
  }
}

/** Bytes that are sent at once. */
const SENT_AT_ONCE = 1_000_000;

/** Sends a list. A hundred protocols may have 170 MB: others have their turn while it is printed, and a long one goes out at the caller's pace. */
export async function sendList(response: Response, list: readonly unknown[]): Promise<void> {
  const printed = await makeInTurns(list, (each) => Buffer.from(JSON.stringify(each)));
  const comma = Buffer.from(',');
  const items = printed.flatMap((each, at) => (at === 0 ? [each] : [comma, each]));
  const parts = [Buffer.from('['), ...items, Buffer.from(']')];
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  response.type('json');
  if (length > SENT_AT_ONCE) await sendStream(response.set('Content-Length', String(length)), Readable.from(parts));
  else response.send(Buffer.concat(parts));
}

/** Cuts the asked page out of a list that was read whole, and sets its headers. */
export function sliceList<T>(response: Response, rows: readonly T[], asked: PageQuery): T[] {
  const page = readPageOrWhole(asked);
  return setListHeaders(response, { rows: rows.slice(page.offset, page.offset + page.limit), total: rows.length }, page);
}
