import { queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import type { AnswerTo, BodyOf } from '../../../clients/typescript/src/types.ts';
import { api, everyOf, queryClient } from '../api.ts';

const DASHBOARDS = '/api/v1/experiments/{id}/dashboards';
const DASHBOARD = '/api/v1/experiments/{id}/dashboards/{dashboardId}';

export type Dashboard = AnswerTo<typeof DASHBOARD, 'get'>;
export type Widget = Dashboard['widgets'][number];
export type WidgetOf<Type extends Widget['type']> = Extract<Widget, { type: Type }>;
type DashboardPatch = BodyOf<typeof DASHBOARD, 'patch'>;

export const dashboardsQuery = (id: string) =>
  queryOptions({
    queryKey: ['dashboards', id],
    queryFn: async ({ signal }) => everyOf((place) => api.GET(DASHBOARDS, { params: { path: { id }, query: place }, signal })),
  });

export interface Read {
  dashboard: Dashboard;
  /** Tag of the version that was read, for a change. */
  tag: string;
}

const readOf = ({ data, response }: { data?: Dashboard; response: Response }): Read => {
  if (data === undefined) throw new Error('The answer holds no dashboard.');
  return { dashboard: data, tag: response.headers.get('etag') ?? '*' };
};

export const dashboardQuery = (id: string, dashboardId: string) =>
  queryOptions({
    queryKey: ['dashboard', id, dashboardId],
    queryFn: async ({ signal }) => readOf(await api.GET(DASHBOARD, { params: { path: { id, dashboardId } }, signal })),
  });

const renew = (id: string): Promise<void> => queryClient.invalidateQueries({ queryKey: ['dashboards', id] });

/** Makes an empty dashboard and answers its id. */
export async function makeDashboard(id: string, name: string): Promise<string> {
  const made = await bodyOf(api.POST(DASHBOARDS, { params: { path: { id } }, body: { name } }));
  await renew(id);
  return made.id;
}

interface Target {
  id: string;
  dashboardId: string;
  tag: string;
}

const callOf = ({ id, dashboardId, tag }: Target) => ({ params: { path: { id, dashboardId } }, headers: { 'if-match': tag } });

/** Changes a dashboard, unless somebody else did so since its tag was read. */
export async function changeDashboard(target: Target, body: DashboardPatch): Promise<Read> {
  const read = readOf(await api.PATCH(DASHBOARD, { ...callOf(target), body }));
  const { queryKey } = dashboardQuery(target.id, target.dashboardId);
  // a reading that is under way may be older than the change
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, read);
  await renew(target.id);
  return read;
}

export async function removeDashboard(target: Target): Promise<void> {
  await api.DELETE(DASHBOARD, callOf(target));
  queryClient.removeQueries({ queryKey: dashboardQuery(target.id, target.dashboardId).queryKey });
  await renew(target.id);
}
