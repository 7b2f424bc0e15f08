import { queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo, BodyOf } from '../../../clients/typescript/src/types.ts';
import { api, everyOf, queryClient } from '../api.ts';
import { experimentQuery, flowQuery, hasFlow } from '../experiments/queries.ts';
import { renewLibrary, type Shared } from '../library/queries.ts';

const WORKBOOK = '/api/v1/workbooks/{id}';
const FLOW = '/api/v1/experiments/{id}/flow';

type Answered = AnswerTo<typeof WORKBOOK, 'get'>;
export type Workbook = Shared & Pick<Answered, 'cells' | 'isUpgradable' | 'experimentCount'>;
export type Cell = Answered['cells'][number];
export type CellType = Cell['type'];
export type FlowGraph = BodyOf<typeof FLOW, 'post'>;

const byId = (id: string) => ({ params: { path: { id } } });

/** A workbook, and the tag of its version for a change. */
export const workbookQuery = (id: string) =>
  queryOptions({
    queryKey: ['workbooks', id],
    queryFn: async ({ signal }): Promise<{ workbook: Workbook; tag: string }> => {
      const { data, response } = await api.GET(WORKBOOK, { ...byId(id), signal });
      if (data === undefined) throw new Error('The answer holds no workbook.');
      return { workbook: data, tag: response.headers.get('etag') ?? '*' };
    },
  });

interface WorkbookChange {
  name?: string;
  description?: string | null;
  cells?: Cell[];
}

/** Changes a workbook, unless somebody else did so since its tag was read. */
export async function changeWorkbook(id: string, tag: string, change: WorkbookChange): Promise<void> {
  await api.PATCH(WORKBOOK, { ...byId(id), headers: { 'if-match': tag }, body: { ...change } });
  await renewLibrary('workbooks', id);
}

/** Makes a workbook of one's own with the same cells, and answers its id. */
export async function copyWorkbook({ id, cells }: Workbook, name: string): Promise<string> {
  const made = await bodyOf(api.POST('/api/v1/workbooks', { body: { name, cells, forkedFrom: id } }));
  await renewLibrary('workbooks', made.id);
  return made.id;
}

export const problemsQuery = (id: string) =>
  queryOptions({
    queryKey: ['workbooks', id, 'problems'],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/workbooks/{id}/problems', { ...byId(id), signal })),
  });

/** Versions of a workbook, newest first. */
export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['workbooks', id, 'versions'],
    queryFn: async ({ signal }) =>
      everyOf((place) => api.GET('/api/v1/workbooks/{id}/versions', { params: { path: { id }, query: place }, signal })),
  });

/** The cells of a version, which never change. */
export const versionQuery = (id: string, versionId: string) =>
  queryOptions({
    queryKey: ['workbooks', id, 'version', versionId],
    queryFn: async ({ signal }) =>
      bodyOf(api.GET('/api/v1/workbooks/{id}/versions/{versionId}', { params: { path: { id, versionId } }, signal })),
    staleTime: Infinity,
  });

/** Asks anew for what an experiment follows. */
export async function renewAttached(id: string): Promise<void> {
  await Promise.all(
    [experimentQuery(id).queryKey, flowQuery(id).queryKey, ['workbooks'], ['flow-tagged', id]].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  );
}

export async function attachWorkbook(id: string, workbookId: string): Promise<void> {
  await api.POST('/api/v1/experiments/{id}/workbook/attach', { ...byId(id), body: { workbookId } });
  await renewAttached(id);
}

/** Detaches the workbook of an experiment. */
export async function detachWorkbook(id: string): Promise<void> {
  await api.POST('/api/v1/experiments/{id}/workbook/detach', byId(id));
  await renewAttached(id);
}

/** Makes an experiment follow its workbook as it is now, and answers the number of that version. */
export async function upgradeWorkbook(id: string): Promise<number> {
  const { version } = await bodyOf(api.POST('/api/v1/experiments/{id}/workbook/upgrade', byId(id)));
  await renewAttached(id);
  return version;
}

/** Makes an experiment follow another version of its workbook, and answers the number of that version. */
export async function chooseVersion(id: string, versionId: string): Promise<number> {
  const { version } = await bodyOf(api.POST('/api/v1/experiments/{id}/workbook/version', { ...byId(id), body: { versionId } }));
  await renewAttached(id);
  return version;
}

/** The flow with the tag of its version; null without one. */
export const taggedFlowQuery = (id: string) =>
  queryOptions({
    queryKey: ['flow-tagged', id],
    queryFn: async ({ signal }) => {
      if (!(await hasFlow(id))) return null;
      const { data, response } = await api.GET(FLOW, { ...byId(id), signal });
      return data === undefined ? null : { graph: data.graph, tag: response.headers.get('etag') ?? '*' };
    },
  });

/** Gives an experiment its flow, or replaces the one whose tag is given, which is empty without one. */
export async function saveFlow(id: string, graph: FlowGraph, tag: string): Promise<void> {
  if (tag === '') await api.POST(FLOW, { ...byId(id), body: graph });
  else await api.PUT(FLOW, { ...byId(id), headers: { 'if-match': tag }, body: { ...graph } });
  await renewAttached(id);
}
