import { useQueries, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { experimentQuery, tablesQuery } from '../experiments/queries.ts';
import { Problem } from '../shell/problem.tsx';
import { Options } from '../ui/options.tsx';
import { Pages } from '../ui/pages.tsx';
import { words } from '../words.ts';
import { ExportItem } from './item.tsx';
import { exportsQuery, PAGE_SIZE } from './queries.ts';

const route = getRouteApi('/guarded/experiments/$id/exports');
const said = words.exports;

/** The most tables that are looked through for their newest exports. */
const MOST_TABLES = 40;

/** The exports of an experiment, or of one of its tables, newest first. */
export function ExportsPage() {
  const { id } = route.useParams();
  const { table, page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const { experiment, capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const readable = useSuspenseQuery(tablesQuery(id)).data.filter(({ canRead }) => canRead);
  const looked = table === undefined ? readable.slice(0, MOST_TABLES).map(({ identifier }) => identifier) : [table];
  const found = useQueries({ queries: looked.map((each) => exportsQuery(id, each, table === undefined ? 1 : page)) });
  const nameOf = (asked: string) =>
    readable.find(({ identifier, displayName }) => identifier === asked || displayName === asked)?.displayName ?? asked;
  const all = found.flatMap(({ data }) => data?.exports ?? []).sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  const failed = found.find(({ error }) => error !== null);
  const total = found.reduce((sum, { data }) => sum + (data?.total ?? 0), 0);
  return (
    <section className="panel" aria-labelledby="exports">
      <title>{`${said.title} · ${experiment.name} · ${words.name}`}</title>
      <header>
        <h2 id="exports">{said.title}</h2>
        {readable.length === 0 ? null : (
          <div className="export-table">
            <label htmlFor="export-table">{said.of}</label>
            <select
              id="export-table"
              className="input"
              value={table ?? ''}
              onChange={({ target }) => void navigate({ search: target.value === '' ? {} : { table: target.value } })}
            >
              <option value="">{said.allTables}</option>
              <Options texts={readable.map(({ identifier, displayName }) => [identifier, displayName])} />
            </select>
          </div>
        )}
      </header>
      <Problem error={failed?.error} retry={() => void failed?.refetch()} />
      {found.some(({ isPending }) => isPending) ? (
        <p className="quiet" role="status">
          {words.waiting}
        </p>
      ) : total === 0 && failed === undefined ? (
        <div className="empty">
          <h3>{said.none}</h3>
          <p>{said.noneText}</p>
          {table === undefined ? null : (
            <Link className="button" to="/experiments/$id/tables/$table" params={{ id, table }}>
              {nameOf(table)}
            </Link>
          )}
        </div>
      ) : (
        <ul className="rows">
          {all.slice(0, PAGE_SIZE).map((each) => (
            <ExportItem key={each.exportId} listed={each} table={nameOf(each.tableName)} canManage={capabilities.canManage} />
          ))}
        </ul>
      )}
      {table === undefined && all.length > PAGE_SIZE ? <p className="hint">{said.newestOnly}</p> : null}
      {table === undefined ? null : (
        <Pages
          page={page}
          pageSize={PAGE_SIZE}
          total={total}
          link={(to, text) => (
            <Link className="button" to="/experiments/$id/exports" params={{ id }} search={{ table, page: to }}>
              {text}
            </Link>
          )}
        />
      )}
    </section>
  );
}
