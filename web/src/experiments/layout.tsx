import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { dayText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { experimentQuery, isGone } from './queries.ts';
import './experiments.css';

const route = getRouteApi('/guarded/experiments/$id');

/** Scrolls a row of sections, which a phone has no room for, to the one that is shown. */
function useSectionInSight() {
  const row = useRef<HTMLElement>(null);
  const pathname = useLocation({ select: (location) => location.pathname });
  useEffect(() => {
    const shown = row.current?.querySelector('[aria-current]');
    if (!shown || row.current === null) return;
    const [outer, inner] = [row.current.getBoundingClientRect(), shown.getBoundingClientRect()];
    row.current.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
  }, [pathname]);
  return row;
}

/** Marks the section that a page belongs to which is not its own first page. */
const AT_PART = { 'aria-current': true } as const;

/** What stands above every page of an experiment. */
export function ExperimentLayout() {
  const { id } = route.useParams();
  const sections = useSectionInSight();
  const isAtTable = useLocation({ select: ({ pathname }) => /^\/experiments\/[^/]+\/(tables|uploads)(\/|$)/.test(pathname) });
  const isWithin = useLocation({ select: ({ pathname }) => /^\/experiments\/[^/]+\/(tables|dashboards|metadata)\/./.test(pathname) });
  const { data, error } = useSuspenseQuery(experimentQuery(id));
  const { experiment, capabilities } = data;
  const { name, status, visibility, organizationName, ownerFirstName, ownerLastName, createdAt, embargoUntil } = experiment;
  return (
    <div className={isWithin ? 'page experiment within' : 'page experiment'}>
      <title>{`${name} · ${words.name}`}</title>
      <header className="page-head">
        <h1>
          <Link to="/experiments/$id" params={{ id }}>
            {name}
          </Link>
        </h1>
        <p className="small quiet facts">
          <span>{organizationName ?? words.home.personal}</span>
          <span>{words.experiment.made(`${ownerFirstName} ${ownerLastName}`.trim(), dayText(createdAt))}</span>
          <span className={`tag ${visibility === 'public' ? 'good' : ''}`}>{words.experiment.visibility[visibility]}</span>
          <span className={`tag ${status === 'active' ? 'good' : ''}`}>{words.experiment.status[status]}</span>
          {embargoUntil === null ? null : <span className="tag warn">{words.experiment.embargo(dayText(embargoUntil))}</span>}
        </p>
        <nav ref={sections} className="choices sections" aria-label={words.experiment.sections}>
          <Link className="choice" to="/experiments/$id" params={{ id }} activeOptions={{ exact: true }} {...(isAtTable ? AT_PART : {})}>
            {words.experiment.tables}
          </Link>
          <Link className="choice" to="/experiments/$id/charts" params={{ id }}>
            {words.charts.title}
          </Link>
          <Link className="choice" to="/experiments/$id/dashboards" params={{ id }}>
            {words.dashboards.title}
          </Link>
          <Link className="choice" to="/experiments/$id/exports" params={{ id }}>
            {words.exports.title}
          </Link>
          <Link className="choice" to="/experiments/$id/macros" params={{ id }}>
            {words.macros.past.title}
          </Link>
          <Link className="choice" to="/experiments/$id/workbook" params={{ id }}>
            {words.workbooks.attached.title}
          </Link>
          <Link className="choice" to="/experiments/$id/metadata" params={{ id }} search={{}}>
            {words.metadata.title}
          </Link>
          <Link className="choice" to="/experiments/$id/sharing" params={{ id }}>
            {words.sharing.title}
          </Link>
          {capabilities.canManage ? (
            <Link className="choice" to="/experiments/$id/settings" params={{ id }}>
              {words.sharing.settings}
            </Link>
          ) : null}
        </nav>
      </header>
      {isGone(error) ? <Problem error={error} /> : null}
      <Outlet />
    </div>
  );
}
