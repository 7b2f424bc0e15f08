import { queryOptions, useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { experimentQuery, tablesQuery } from '../experiments/queries.ts';
import { sayDone } from '../shell/toasts.tsx';
import { AskFirst } from '../ui/ask-first.tsx';
import { copyText } from '../ui/clipboard.ts';
import { NotYet } from '../ui/not-yet.tsx';
import { words } from '../words.ts';
import { Board } from './board.tsx';
import { dashboardQuery, removeDashboard } from './queries.ts';
import type { TypedFilters } from './search.ts';
import '../table/table.css';
import '../charts/charts.css';

const route = getRouteApi('/guarded/experiments/$id/dashboards/$dashboard');
const said = words.dashboards;

// loaded only for editing: it is half of the page's code
const editFile = queryOptions({ queryKey: ['file', 'dashboards/edit'], queryFn: () => import('./edit.tsx'), staleTime: 'static' });

/** A dashboard, to be read or edited. */
export function DashboardPage() {
  const { id, dashboard: dashboardId } = route.useParams();
  const { edit = false, filters: typed = {} } = route.useSearch();
  const navigate = route.useNavigate();
  const { isAdmin, experiment } = useSuspenseQuery(experimentQuery(id)).data;
  const tables = useSuspenseQuery(tablesQuery(id)).data;
  const { data: read, error, refetch } = useQuery(dashboardQuery(id, dashboardId));
  const mayEdit = isAdmin && experiment.status !== 'archived';
  const isEdited = mayEdit && edit;
  const editing = useQuery({ ...editFile, enabled: isEdited });
  const remove = useMutation({
    mutationFn: (tag: string) => removeDashboard({ id, dashboardId, tag }),
    onSuccess: async () => {
      sayDone(said.removed);
      await navigate({ to: '/experiments/$id/dashboards', params: { id }, search: {}, ignoreBlocker: true });
    },
  });
  if (read === undefined) return <NotYet error={error} refetch={refetch} />;
  const { name, description, layout, widgets } = read.dashboard;
  const type = (widget: string, next: (typed: TypedFilters) => string[]) =>
    void navigate({
      // as the address is by now, which may not be drawn yet
      search: ({ filters = {}, ...before }) => ({ ...before, filters: { ...filters, [widget]: next(filters) } }),
      resetScroll: false,
    });
  const board = { id, tables, typed, type };
  const show = (asForm: boolean) => void navigate({ search: (before) => ({ ...before, edit: asForm ? true : undefined }) });
  const copy = () => {
    const address = new URL(location.href);
    address.searchParams.delete('edit');
    void copyText(address.href, said.copied);
  };
  return (
    <div className="stack dashboard">
      <title>{`${name} · ${experiment.name} · ${words.name}`}</title>
      <div className="table-head">
        <h2>{name}</h2>
        <Link className="small" to="/experiments/$id/dashboards" params={{ id }}>
          {said.back}
        </Link>
        <button type="button" className="button" onClick={copy}>
          {said.copyLink}
        </button>
        {mayEdit && !edit ? (
          <button type="button" className="button" onClick={() => show(true)}>
            {said.edit}
          </button>
        ) : null}
        {mayEdit ? (
          <AskFirst
            action={said.remove}
            label={said.removeOf(name)}
            question={said.removeOf(name)}
            consequence={said.removeAsk}
            perform={() => remove.mutateAsync(read.tag)}
          />
        ) : null}
      </div>
      {description === null || description === '' || edit ? null : <p className="quiet">{description}</p>}
      {isEdited ? (
        editing.data === undefined ? (
          <NotYet error={editing.error} refetch={editing.refetch} />
        ) : (
          <editing.data.EditDashboard key={dashboardId} begun={read} board={board} stop={() => show(false)} />
        )
      ) : widgets.length === 0 ? (
        <div className="panel empty">
          <h3>{said.empty}</h3>
          <p>{mayEdit ? said.emptyMay : said.emptyText}</p>
        </div>
      ) : (
        <Board layout={layout} board={{ ...board, widgets }} />
      )}
    </div>
  );
}
