import { queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { ProblemError } from '../../../clients/typescript/src/problem.ts';
import type { AnswerTo } from '../../../clients/typescript/src/types.ts';
import { api, everyOf, queryClient } from '../api.ts';
import { words } from '../words.ts';

const byId = (id: string) => ({ params: { path: { id } } });

export type TableListed = AnswerTo<'/api/v1/experiments/{id}/tables', 'get'>[number];

/** An experiment, what the caller may do with it, and the tag of its version for a change. */
export const experimentQuery = (id: string) =>
  queryOptions({
    queryKey: ['experiment', id],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET('/api/v1/experiments/{id}/access', { ...byId(id), signal });
      if (data === undefined) throw new Error('The answer holds no experiment.');
      return { ...data, tag: response.headers.get('etag') ?? '*' };
    },
  });

/** Whether what was read once is no longer there, or no longer for whoever asks. */
export const isGone = (error: unknown): boolean => error instanceof ProblemError && (error.status === 403 || error.status === 404);

/** The API names a table by its macro's id where the caller may not know the macro's name. */
const withName = (table: TableListed): TableListed =>
  table.displayName.includes(table.identifier)
    ? { ...table, displayName: words.experiment.ofHiddenMacro(table.identifier.slice(-4)) }
    : table;

export const tablesQuery = (id: string) =>
  queryOptions({
    queryKey: ['tables', id],
    queryFn: async ({ signal }) =>
      (await everyOf((place) => api.GET('/api/v1/experiments/{id}/tables', { params: { path: { id }, query: place }, signal }))).map(
        withName,
      ),
  });

/** Who takes part in an experiment; pseudonyms where contributors are anonymous. */
export const contributorsQuery = (id: string) =>
  queryOptions({
    queryKey: ['contributors', id],
    queryFn: async ({ signal }) => (await bodyOf(api.GET('/api/v1/experiments/{id}/contributors', { ...byId(id), signal }))).contributors,
  });

export type DeviceListed = AnswerTo<'/api/v1/experiments/{id}/devices', 'get'>[number];

export const devicesQuery = (id: string) =>
  queryOptions({
    queryKey: ['devices', 'of-experiment', id],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/experiments/{id}/devices', { params: { path: { id }, query: place }, signal })),
  });

/** Whether an experiment has a flow. Browsers note it as an error where one is asked for that is not there. */
export const hasFlow = async (id: string): Promise<boolean> => (await queryClient.query(experimentQuery(id))).hasFlow;

/** The flow of questions and measurements; null without one. */
export const flowQuery = (id: string) =>
  queryOptions({
    queryKey: ['flow', id],
    queryFn: async ({ signal }) => ((await hasFlow(id)) ? bodyOf(api.GET('/api/v1/experiments/{id}/flow', { ...byId(id), signal })) : null),
  });

export type UploadListed = AnswerTo<'/api/v1/experiments/{id}/data/uploads', 'get'>['uploads'][number];

/** The newest uploads into an experiment. */
export const uploadsQuery = (id: string, pageSize: number) =>
  queryOptions({
    queryKey: ['uploads', id, pageSize],
    queryFn: async ({ signal }): Promise<UploadListed[]> =>
      (await bodyOf(api.GET('/api/v1/experiments/{id}/data/uploads', { params: { path: { id }, query: { pageSize } }, signal }))).uploads,
  });
