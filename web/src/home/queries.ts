import { queryOptions } from '@tanstack/react-query';
import { z } from 'zod/mini';
import type { AnswerTo } from '../../../clients/typescript/src/types.ts';
import { api, everyOf } from '../api.ts';
import type { OfferQuery } from '../ui/choice.tsx';

/** Which experiments are asked for, by the name of the choice. */
const SLICES = {
  mine: { scope: 'related', createdBy: 'me' },
  related: { scope: 'related' },
  public: { scope: 'all', visibility: 'public' },
  all: { scope: 'all' },
} as const;
export type Slice = keyof typeof SLICES;
export const SLICE_NAMES = ['mine', 'related', 'public', 'all'] as const satisfies readonly Slice[];

/** What the list of experiments shows, as the address says it. */
export const homeSearch = z.object({
  scope: z.catch(z.optional(z.enum(SLICE_NAMES)), undefined),
  search: z.catch(z.optional(z.string().check(z.maxLength(200))), undefined),
  archived: z.catch(z.optional(z.boolean()), undefined),
  page: z.catch(z.optional(z.int().check(z.minimum(1))), undefined),
});
export type HomeSearch = z.infer<typeof homeSearch>;

export type ExperimentListed = AnswerTo<'/api/v1/experiments', 'get'>[number];

export const PAGE_SIZE = 25;

export const experimentsQuery = ({ scope = 'related', search, archived, page = 1 }: HomeSearch) =>
  queryOptions({
    queryKey: ['experiments', { scope, search, archived, page }],
    queryFn: async ({ signal }) => {
      const query = {
        ...SLICES[scope],
        page,
        pageSize: PAGE_SIZE,
        ...(search === undefined ? {} : { search }),
        ...(archived === true ? { status: 'archived' as const } : {}),
      };
      const { data, response } = await api.GET('/api/v1/experiments', { params: { query }, signal });
      return { experiments: data ?? [], total: Number(response.headers.get('x-total-count')) };
    },
  });

/** Every experiment that is one's own or shared, to choose from. */
export const ownExperimentsQuery = queryOptions({
  queryKey: ['experiments', 'own'],
  queryFn: async ({ signal }) =>
    everyOf((place) =>
      api.GET('/api/v1/experiments', { params: { query: { ...SLICES.related, page: 1, pageSize: 100, ...place } }, signal }),
    ),
});

/** The experiments of all that can be chosen. */
export const offerExperiments = (find: string): OfferQuery<ExperimentListed> => ({
  queryKey: ['experiments', 'choices', find],
  queryFn: async ({ signal }) => {
    const query = { ...SLICES.all, page: 1, pageSize: 100, ...(find === '' ? {} : { search: find }) };
    const { data, response } = await api.GET('/api/v1/experiments', { params: { query }, signal });
    return { items: data ?? [], total: Number(response.headers.get('x-total-count')) };
  },
});
