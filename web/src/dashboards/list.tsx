import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { experimentQuery } from '../experiments/queries.ts';
import { dayText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { sayDone } from '../shell/toasts.tsx';
import { InputField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { KeepWritten } from '../ui/leave-question.tsx';
import { SendButton } from '../ui/send-button.tsx';
import { words } from '../words.ts';
import { dashboardsQuery, makeDashboard } from './queries.ts';

const route = getRouteApi('/guarded/experiments/$id/dashboards');
const said = words.dashboards;

function NewForm({ id }: { id: string }) {
  const navigate = route.useNavigate();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (name: string) => makeDashboard(id, name),
    onSuccess: async (dashboardId) => {
      await navigate({
        to: '/experiments/$id/dashboards/$dashboard',
        params: { id, dashboard: dashboardId },
        search: { edit: true },
        ignoreBlocker: true,
      });
      sayDone(said.made);
    },
  });
  return (
    <Form className="stack" send={(fields) => mutate(fields['name'] ?? '')}>
      <KeepWritten />
      <div className="inline">
        <InputField id="dashboard-new" label={said.newName} name="name" required maxLength={255} autoComplete="off" />
        <SendButton type="submit" className="button primary" isSending={isPending}>
          {said.make}
        </SendButton>
      </div>
      <Problem error={error} />
    </Form>
  );
}

/** The dashboards of an experiment, newest first. */
export function DashboardsPage() {
  const { id } = route.useParams();
  const { isAdmin, experiment } = useSuspenseQuery(experimentQuery(id)).data;
  const { data, error, isLoading, refetch } = useQuery(dashboardsQuery(id));
  const mayMake = isAdmin && experiment.status !== 'archived';
  return (
    <section className="panel" aria-labelledby="dashboards">
      <title>{`${said.title} · ${experiment.name} · ${words.name}`}</title>
      <h2 id="dashboards">{said.title}</h2>
      <Problem error={error} retry={() => void refetch()} />
      {data?.length === 0 ? (
        <div className="empty">
          <h3>{said.none}</h3>
          <p>{mayMake ? `${said.noneText} ${said.noneMay}` : said.noneText}</p>
        </div>
      ) : null}
      <ul className="rows" data-awaited={isLoading}>
        {data?.map(({ id: dashboardId, name, description, widgets, createdByName, createdAt }) => (
          <li key={dashboardId}>
            <div>
              <h3>
                <Link to="/experiments/$id/dashboards/$dashboard" params={{ id, dashboard: dashboardId }}>
                  {name}
                </Link>
              </h3>
              {description === null || description === '' ? null : <p className="small">{description}</p>}
              <p className="small quiet">{said.facts(widgets.length, createdByName, dayText(createdAt))}</p>
            </div>
          </li>
        ))}
      </ul>
      {mayMake ? <NewForm id={id} /> : null}
    </section>
  );
}
