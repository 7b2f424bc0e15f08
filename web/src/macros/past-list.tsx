import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { experimentQuery, tablesQuery, type TableListed } from '../experiments/queries.ts';
import { choicesQuery } from '../library/queries.ts';
import { countText, momentText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { ChoiceField, type Named } from '../ui/choice.tsx';
import { Form } from '../ui/form.tsx';
import { words } from '../words.ts';
import '../library/library.css';

const route = getRouteApi('/guarded/experiments/$id/macros');
const said = words.macros.past;

/** On how many measurements a macro was not run, and why. */
export function Withheld({ withheld }: { withheld: NonNullable<TableListed['withheld']> }) {
  return (
    <div className="notice">
      <p>
        <strong>{said.withheld(countText(withheld.measurements))}</strong>
      </p>
      <p>{withheld.reason}</p>
      <p className="small">{said.withheldTimes(momentText(withheld.firstAt), momentText(withheld.lastAt))}</p>
    </div>
  );
}

/** Macros that made something of an experiment's measurements, and one to run. */
export function PastListPage() {
  const { id } = route.useParams();
  const navigate = route.useNavigate();
  const { experiment, capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const { data, error, isLoading, refetch } = useQuery(tablesQuery(id));
  const mayRun = capabilities.canContribute && experiment.status !== 'archived';
  const [chosen, setChosen] = useState<Named>();
  const made = data?.filter(({ tableType }) => tableType === 'macro') ?? [];
  const open = () => {
    if (chosen !== undefined) void navigate({ to: '/experiments/$id/macros/$macro', params: { id, macro: chosen.id } });
  };
  return (
    <section className="panel" aria-labelledby="past-list">
      <title>{`${said.title} · ${experiment.name} · ${words.name}`}</title>
      <h2 id="past-list">{said.title}</h2>
      <p className="quiet">{said.lead}</p>
      <Problem error={error} retry={() => void refetch()} />
      {data !== undefined && made.length === 0 ? (
        <div className="empty">
          <h3>{said.none}</h3>
          <p>{said.noneText}</p>
        </div>
      ) : null}
      <ul className="rows" data-awaited={isLoading}>
        {made.map(({ identifier, displayName, totalRows, canRead, withheld, runsOnNew }) => (
          <li key={identifier}>
            <div>
              <h3 className="library-name">
                <Link to="/experiments/$id/macros/$macro" params={{ id, macro: identifier }}>
                  {displayName}
                </Link>
              </h3>
              <p className="small quiet">
                {canRead ? (
                  <Link to="/experiments/$id/tables/$table" params={{ id, table: identifier }}>
                    {said.rows(countText(totalRows))}
                  </Link>
                ) : (
                  said.rows(countText(totalRows))
                )}
              </p>
            </div>
            {runsOnNew === true ? <span className="tag good">{said.onNewTitle}</span> : null}
            {withheld === undefined ? null : <span className="tag warn">{said.withheldTitle}</span>}
          </li>
        ))}
      </ul>
      {mayRun ? (
        <Form className="inline" send={open}>
          <ChoiceField
            id="past-macro"
            label={said.choose}
            ask={(find) => choicesQuery('macros', find)}
            none={said.chooseOne}
            required
            chosen={chosen}
            choose={setChosen}
          />
          <button type="submit" className="button">
            {said.open}
          </button>
        </Form>
      ) : null}
    </section>
  );
}
