import { queryOptions } from '@tanstack/react-query';
import type { AnswerTo } from '../../../clients/typescript/src/types.ts';
import { api, queryClient } from '../api.ts';
import type { OfferQuery } from '../ui/choice.tsx';
import type { Kind } from './kinds.ts';
import type { LibrarySearch } from './search.ts';

export const PAGE_SIZE = 25;
/** The most that one page of the API holds. */
const MOST = 100;

type Macro = AnswerTo<'/api/v1/macros', 'get'>[number];

/** What the kinds have in common. */
export type Shared = Pick<
  Macro,
  'id' | 'name' | 'description' | 'organizationName' | 'visibility' | 'createdByName' | 'updatedAt' | 'capabilities'
>;
/** Something of the library. `trait` is what only its kind has, as one word. */
export type Listed = Shared & { trait: string };

interface Asked {
  page: number;
  pageSize: number;
  scope: 'related' | 'all';
  search?: string;
}

const LISTS = {
  macros: async (query: Asked, signal: AbortSignal, language?: LibrarySearch['language']) => {
    const asked = { ...query, ...(language === undefined ? {} : { language }) };
    const { data, response } = await api.GET('/api/v1/macros', { params: { query: asked }, signal });
    return { data: (data ?? []).map((macro): Listed => ({ ...macro, trait: macro.language })), response };
  },
  protocols: async (query: Asked, signal: AbortSignal) => {
    const { data, response } = await api.GET('/api/v1/protocols', { params: { query }, signal });
    return { data: (data ?? []).map((protocol): Listed => ({ ...protocol, trait: protocol.family })), response };
  },
  workbooks: async (query: Asked, signal: AbortSignal) => {
    const { data, response } = await api.GET('/api/v1/workbooks', { params: { query }, signal });
    const cells = (counts: Record<string, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0);
    return { data: (data ?? []).map((book): Listed => ({ ...book, trait: String(cells(book.cellTypeCounts)) })), response };
  },
} as const satisfies Record<Kind, unknown>;

/** A page of the library. */
export const libraryQuery = (kind: Kind, { scope = 'related', find, language, page = 1 }: LibrarySearch) =>
  queryOptions({
    queryKey: ['library', kind, { scope, find, language, page }],
    queryFn: async ({ signal }) => {
      const query = { page, pageSize: PAGE_SIZE, scope, ...(find === undefined ? {} : { search: find }) };
      const { data, response } = await LISTS[kind](query, signal, language);
      return { items: data, total: Number(response.headers.get('x-total-count')) };
    },
  });

/** What can be chosen where something else names one. */
export const choicesQuery = (kind: Kind, find = ''): OfferQuery<Listed> => ({
  queryKey: ['library', kind, 'choices', find],
  queryFn: async ({ signal }) => {
    const query = { page: 1, pageSize: MOST, scope: 'all' as const, ...(find === '' ? {} : { search: find }) };
    const { data, response } = await LISTS[kind](query, signal);
    return { items: data, total: Number(response.headers.get('x-total-count')) };
  },
});

const byId = (id: string) => ({ params: { path: { id } } });

/** Makes something public, for good. */
export async function publish(kind: Kind, id: string): Promise<void> {
  const asked = { ...byId(id), body: { visibility: 'public' as const } };
  if (kind === 'macros') await api.PATCH('/api/v1/macros/{id}/visibility', asked);
  else if (kind === 'protocols') await api.PATCH('/api/v1/protocols/{id}/visibility', asked);
  else await api.PATCH('/api/v1/workbooks/{id}/visibility', asked);
  await renewLibrary(kind, id);
}

/** Deletes something, unless somebody else changed it since its tag was read. */
export async function removeListed(kind: Kind, id: string, tag: string): Promise<void> {
  const asked = { ...byId(id), headers: { 'if-match': tag } };
  if (kind === 'macros') await api.DELETE('/api/v1/macros/{id}', asked);
  else if (kind === 'protocols') await api.DELETE('/api/v1/protocols/{id}', asked);
  else await api.DELETE('/api/v1/workbooks/{id}', asked);
  // the list is shown next, and must not hold what is gone
  await queryClient.invalidateQueries({ queryKey: ['library', kind], refetchType: 'all' });
}

/** Asks anew for the lists of a kind and for one thing of it. */
export async function renewLibrary(kind: Kind, id: string): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['library', kind] }),
    queryClient.invalidateQueries({ queryKey: [kind, id] }),
  ]);
}
