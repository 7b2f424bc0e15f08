import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { experimentQuery, tablesQuery } from '../experiments/queries.ts';
import { dayText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { chartsQuery } from './queries.ts';
import { searchOf } from './search.ts';

const route = getRouteApi('/guarded/experiments/$id/charts');
const said = words.charts;

/** The charts of an experiment, newest first. */
export function ChartsPage() {
  const { id } = route.useParams();
  const { experiment } = useSuspenseQuery(experimentQuery(id)).data;
  const { data, error, refetch } = useQuery(chartsQuery(id));
  const tables = useSuspenseQuery(tablesQuery(id)).data;
  const nameOf = (table: string) => tables.find(({ identifier }) => identifier === table)?.displayName ?? table;
  return (
    <section className="panel" aria-labelledby="charts">
      <title>{`${said.title} · ${experiment.name} · ${words.name}`}</title>
      <h2 id="charts">{said.title}</h2>
      <Problem error={error} retry={() => void refetch()} />
      {data?.length === 0 ? (
        <div className="empty">
          <h3>{said.none}</h3>
          <p>{said.noneText}</p>
        </div>
      ) : null}
      <ul className="rows">
        {data?.map((chart) => (
          <li key={chart.id}>
            <div>
              <h3>
                {chart.dataConfig.tableName === '' ? (
                  chart.name
                ) : (
                  <Link
                    to="/experiments/$id/tables/$table/chart"
                    params={{ id, table: chart.dataConfig.tableName }}
                    search={searchOf(chart)}
                  >
                    {chart.name}
                  </Link>
                )}
              </h3>
              <p className="small quiet">
                {said.facts(chart.chartType, nameOf(chart.dataConfig.tableName), chart.createdByName, dayText(chart.createdAt))}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
