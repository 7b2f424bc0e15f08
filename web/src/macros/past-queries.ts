import { queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo } from '../../../clients/typescript/src/types.ts';
import { api, queryClient } from '../api.ts';
import { tablesQuery } from '../experiments/queries.ts';

const RUN = '/api/v1/experiments/{id}/macros/{macroId}/run';
const PAST = '/api/v1/experiments/{id}/data/macros/{macroId}/reprocess';
const ONE = '/api/v1/experiments/{id}/data/macros/{macroId}/reprocess/{reprocessId}';
const POLL_MS = 1_000;

export type PastRun = AnswerTo<typeof PAST, 'get'>[number];

const over = (id: string, macroId: string) => ({ params: { path: { id, macroId } } });

/** Requests to run a macro over an experiment, newest first. */
export const pastQuery = (id: string, macroId: string) =>
  queryOptions({
    queryKey: ['past', id, macroId],
    queryFn: async ({ signal }) => bodyOf(api.GET(PAST, { ...over(id, macroId), signal })),
  });

/** One request, asked for again and again until it has ended. */
export const pastRunQuery = (id: string, macroId: string, first: PastRun) =>
  queryOptions({
    queryKey: ['past', id, macroId, first.id],
    queryFn: async ({ signal }) => bodyOf(api.GET(ONE, { params: { path: { id, macroId, reprocessId: first.id } }, signal })),
    initialData: first,
    refetchInterval: ({ state: { data } }) => (data?.status === 'completed' ? false : POLL_MS),
  });

/** Which measurements a macro is run over, and how. */
export interface Wanted {
  scope: PastRun['scope'];
  includeDelivered: boolean;
  onNew: boolean;
}

/** Asks for a run over the past. */
export async function startPast(id: string, macroId: string, { scope, includeDelivered, onNew }: Wanted): Promise<void> {
  if (scope === 'naming') await api.POST(PAST, { ...over(id, macroId), body: { includeDelivered } });
  else await api.POST(RUN, { ...over(id, macroId), body: { includeDelivered, ...(onNew ? { onNew } : {}) } });
  await Promise.all([pastQuery(id, macroId), tablesQuery(id)].map(({ queryKey }) => queryClient.invalidateQueries({ queryKey })));
}

/** Stops running the macro on new measurements. */
export async function stopOnNew(id: string, macroId: string): Promise<void> {
  await api.DELETE(RUN, over(id, macroId));
  await queryClient.invalidateQueries({ queryKey: tablesQuery(id).queryKey });
}

/** Asks anew for the tables and rows of an experiment, once a macro has changed its table. */
export async function renewPast(id: string): Promise<void> {
  await Promise.all([tablesQuery(id).queryKey, ['rows', id]].map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}
