import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import { ProblemError } from '../../../clients/typescript/src/problem.ts';
import { AnnotateForm } from '../annotations/form.tsx';
import { firstChart } from '../charts/first.ts';
import { GIVEN_COLUMNS } from '../experiments/columns.ts';
import { experimentQuery, tablesQuery } from '../experiments/queries.ts';
import { ExportTool } from '../exports/form.tsx';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { words } from '../words.ts';
import { makeDaters } from './daters.ts';
import { Grid, type Order } from './grid.tsx';
import { LiveTool } from './live-tool.tsx';
import { NoTable } from './no-table.tsx';
import type { Row } from './queries.ts';
import { RemoveTable } from './remove.tsx';
import { RowDetail } from './row-detail.tsx';
import { useRows } from './rows.ts';
import { SameQuestion } from './same-question.tsx';
import type { TableSearch } from './search.ts';
import { useSelection } from './selection.ts';
import { makeSight, type Sight } from './sight.ts';
import { Tools } from './tools.tsx';
import './table.css';

const route = getRouteApi('/guarded/experiments/$id/tables/$table');
const said = words.table;

/** Columns that every table has stand behind those that were measured. */
const ownFirst = <Column extends { name: string }>(columns: readonly Column[]): Column[] =>
  columns.toSorted((a, b) => GIVEN_COLUMNS.indexOf(a.name) - GIVEN_COLUMNS.indexOf(b.name));

/** The order after a click on a column: up, down, and as the table is by itself. */
function nextOrder({ orderBy, orderDirection }: TableSearch, column: string): Pick<TableSearch, 'orderBy' | 'orderDirection'> {
  if (orderBy !== column) return { orderBy: column, orderDirection: 'ASC' };
  return orderDirection === 'DESC' ? { orderBy: undefined, orderDirection: undefined } : { orderBy: column, orderDirection: 'DESC' };
}

/** Which rows are in sight, of how many. It is read out only when there are others, and not at each step through them. */
function InSight({ sight, count, total, order }: { sight: Sight; count: number; total: number; order: Order | null }) {
  const { first, last } = useSyncExternalStore(sight.follow, sight.get);
  const parts = [
    words.experiment.rows(countText(total)),
    ...(order === null ? [] : [words.exports.what.order(order.column, order.direction)]),
  ];
  return (
    <>
      <span aria-hidden="true">{said.rowsOf(countText(first + 1), countText(Math.min(last + 1, count)), countText(total))}</span>
      <span className="hidden-visually">{parts.join(', ')}</span>
    </>
  );
}

/** The rows of a table, as the address asks for them. */
export function TablePage() {
  const { id, table } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tables = useSuspenseQuery(tablesQuery(id)).data;
  const { experiment, capabilities } = useSuspenseQuery(experimentQuery(id)).data;
  const described = tables.find(({ identifier }) => identifier === table);
  const shown = { experimentId: id, table, search };
  const [sight] = useState(makeSight);
  const held = useRows(shown, sight);
  const { count, total, version, error } = held;

  const columns = useMemo(() => (search.columns === undefined ? ownFirst(held.columns) : held.columns), [held.columns, search.columns]);
  const daters = useMemo(() => makeDaters(search.aggregation), [search.aggregation]);
  const change = useCallback(
    (next: Partial<TableSearch>) => void navigate({ search: (before: TableSearch) => ({ ...before, ...next }) }),
    [navigate],
  );
  const open = useCallback((row: Row) => change({ row: String(row['id']) }), [change]);
  const sort = useCallback((column: string) => change(nextOrder(search, column)), [change, search]);
  const displayName = described?.displayName ?? table;
  const isAnnotated = described?.columns?.some(({ name }) => name === 'annotations') ?? false;
  const isOpen = isAnnotated && experiment.status !== 'archived';
  const may = { own: isOpen && capabilities.canContribute, all: isOpen && capabilities.canManage };
  const hasIds = search.aggregation === undefined && columns.some(({ name }) => name === 'id');
  const isEmpty = total === 0 && search.filters === undefined;
  const selection = useSelection(held, JSON.stringify({ ...search, row: undefined, live: undefined, table }));
  const { chosen } = selection;
  // without an order new rows come at the end, where nobody sees them
  const isOrdered = search.orderBy !== undefined || search.aggregation !== undefined || described === undefined;
  const newest = isOrdered ? {} : { orderBy: described.defaultSortColumn, orderDirection: 'DESC' as const };
  const order = search.orderBy === undefined ? null : { column: search.orderBy, direction: search.orderDirection ?? 'ASC' };
  const chooseNone = () => {
    selection.clear();
    // what had the focus goes with the choice
    document.querySelector<HTMLElement>('.grid')?.focus({ preventScroll: true });
  };
  // what was typed for rows that are gone stays
  if (described === undefined && error instanceof ProblemError && error.status === 404 && chosen.size === 0) return <NoTable id={id} />;
  return (
    <div>
      <title>{`${displayName} · ${experiment.name} · ${words.name}`}</title>
      <div className="table-head">
        <h2>{displayName}</h2>
        <p className={`in-sight small quiet number ${held.isStale ? 'stale' : ''}`} role="status">
          {version === undefined ? (
            error === null ? (
              words.waiting
            ) : null
          ) : count === 0 ? (
            isEmpty ? (
              words.experiment.rows('0')
            ) : (
              said.none
            )
          ) : (
            <InSight sight={sight} count={count} total={total} order={order} />
          )}
        </p>
        <Link className="small" to="/experiments/$id" params={{ id }}>
          {said.back}
        </Link>
        <Link
          className="button"
          to="/experiments/$id/tables/$table/chart"
          params={{ id, table }}
          search={{ ...firstChart(described?.columns ?? [], search), ...(search.asOf === undefined ? {} : { asOf: search.asOf }) }}
        >
          {words.charts.chartThis}
        </Link>
        {described?.canRead === true && version !== undefined ? <ExportTool shown={{ id, table: described, search, version }} /> : null}
        {described?.tableType === 'upload' && may.all && version !== undefined ? (
          <RemoveTable id={id} table={table} name={displayName} />
        ) : null}
      </div>
      <SameQuestion shown={shown} />
      <div className="tools-row">
        {search.asOf === undefined ? (
          <LiveTool
            key={`${id} ${table}`}
            shown={shown}
            version={version}
            totalRows={search.filters === undefined && search.aggregation === undefined ? total : null}
            isLive={search.live === true}
            change={(isLive) => change({ live: isLive ? true : undefined, ...(isLive ? newest : {}) })}
          />
        ) : null}
        <Tools
          experimentId={id}
          table={table}
          search={search}
          columns={ownFirst(described?.columns ?? [])}
          version={described?.version ?? 0}
          change={change}
        />
      </div>
      <Problem error={error} retry={held.retry} />
      {version !== undefined && count === 0 ? (
        <div className="panel empty">
          <h3>{isEmpty ? said.empty : said.none}</h3>
          <p>{isEmpty ? said.emptyText[described?.tableType ?? 'static'] : said.noneText}</p>
          {isEmpty && described?.tableType === 'upload' && may.own ? (
            <Link className="button primary" to="/experiments/$id/uploads" params={{ id }}>
              {words.experiment.upload}
            </Link>
          ) : null}
        </div>
      ) : error === null || version !== undefined ? (
        <Grid
          key={JSON.stringify([search.columns, search.aggregation])}
          name={said.grid(displayName)}
          columns={columns}
          daters={daters}
          isComputed={search.aggregation !== undefined || described?.tableType === 'macro'}
          rows={held.rows}
          begin={held.begin}
          count={count}
          total={total}
          order={order}
          isLoading={held.isLoading}
          isStale={held.isStale}
          onSort={sort}
          onOpen={hasIds ? open : undefined}
          selection={hasIds && may.own ? selection : undefined}
          onRange={sight.set}
        />
      ) : null}
      {chosen.size > 0 ? (
        <section className="chosen" aria-label={said.choice.some(countText(chosen.size))}>
          <div className="chosen-head">
            <p className="small" role="status">
              <strong>{said.choice.some(countText(chosen.size))}</strong>
            </p>
            <button type="button" className="button bare" onClick={chooseNone}>
              {said.choice.none}
            </button>
          </div>
          <AnnotateForm rows={{ experimentId: id, table, rowIds: [...chosen] }} done={chooseNone} />
        </section>
      ) : isAnnotated && capabilities.canContribute && experiment.status === 'archived' ? (
        <p className="hint">{words.annotations.archived}</p>
      ) : may.own && hasIds && count > 0 ? (
        <p className="hint choice-hint">{said.choice.hint}</p>
      ) : null}
      {search.row === undefined ? null : (
        <RowDetail experimentId={id} table={table} row={search.row} may={may} close={() => change({ row: undefined })} />
      )}
    </div>
  );
}
