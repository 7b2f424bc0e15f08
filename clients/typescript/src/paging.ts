/** Query parameters that lead to another page: `cursor` of rows, `page` and `pageSize` of lists, `limit` and `offset` of windows. */
export interface Place {
  cursor?: string;
  page?: number;
  pageSize?: number;
  limit?: number;
  offset?: number;
}

/** The target of a relation in a `Link` header (RFC 8288); null without one. */
export function linkOf(headers: Headers, relation: 'next' | 'prev' | 'first' | 'last'): string | null {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(/<([^>]*)>([^,<]*)/g))
    if (parameters.includes(`rel="${relation}"`)) return target;
  return null;
}

/** Where the page after this answer is; null on the last page. */
export const nextPlace = (headers: Headers): Place | null => placeOf(headers, 'next');

/** Where the page before this answer is; null on the first page. */
export const previousPlace = (headers: Headers): Place | null => placeOf(headers, 'prev');

function placeOf(headers: Headers, relation: 'next' | 'prev'): Place | null {
  const target = linkOf(headers, relation);
  if (target === null) return null;
  const query = new URL(target, 'http://service').searchParams;
  const cursor = query.get('cursor');
  if (cursor !== null) return { cursor };
  const place: Place = {};
  for (const name of ['page', 'pageSize', 'limit', 'offset'] as const) {
    const value = query.get(name);
    if (value !== null) place[name] = Number(value);
  }
  return place;
}

/**
 * Page after page of whatever `ask` asks for. Each page is asked for when it is wanted, so that leaving the loop ends it:
 * `for await (const page of pagesOf((place) => client.GET(path, { params: { query: { ...query, ...place } } })))`.
 */
export async function* pagesOf<T>(ask: (place: Place) => Promise<{ data?: T; response: Response }>): AsyncGenerator<T, void, undefined> {
  for (let place: Place | null = {}; place !== null;) {
    const { data, response }: { data?: T; response: Response } = await ask(place);
    yield data as T;
    place = nextPlace(response.headers);
  }
}

/** Each member of every page of a list. */
export async function* eachOf<T>(ask: (place: Place) => Promise<{ data?: T[]; response: Response }>): AsyncGenerator<T, void, undefined> {
  for await (const page of pagesOf(ask)) yield* page;
}
