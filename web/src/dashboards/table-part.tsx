import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readPage } from '../../../clients/typescript/src/rows.ts';
import { api } from '../api.ts';
import { countText } from '../shell/format.ts';
import { Problem } from '../shell/problem.tsx';
import { alignOf, Cell, PLACE } from '../table/cell.tsx';
import { questionOf } from '../table/question.ts';
import type { TableSearch } from '../table/search.ts';
import { words } from '../words.ts';
import { filtersOn, tableOf } from './filters.ts';
import { Framed, type PartProps } from './part.tsx';
import type { WidgetOf } from './queries.ts';

const said = words.dashboards;

const firstRowsQuery = (id: string, table: string, search: TableSearch, pageSize: number) =>
  queryOptions({
    queryKey: ['rows', id, 'first', table, search, pageSize],
    queryFn: ({ signal }) => readPage(api, id, { ...questionOf(table, search), pageSize }, { signal }),
    placeholderData: keepPreviousData,
  });

/** The first rows of a table, narrowed by the filters of the dashboard that are about it. */
export function TablePart({ widget, board }: PartProps<WidgetOf<'table'>>) {
  const { id, tables, widgets, typed } = board;
  const { tableName, columns, pageSize, filters = [] } = widget.config;
  const table = tableOf(tables, tableName);
  const all = table === undefined ? filters : [...filters, ...filtersOn(widgets, tables, typed, table)];
  const search: TableSearch = {
    ...(columns === undefined || columns.length === 0 ? {} : { columns }),
    ...(all.length === 0 ? {} : { filters: all as TableSearch['filters'] }),
  };
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...firstRowsQuery(id, table?.identifier ?? '', search, pageSize),
    enabled: table !== undefined,
  });
  const name = table?.displayName ?? said.table;
  const stale = isPlaceholderData ? 'stale' : '';
  return (
    <Framed config={widget.config} fallback={name}>
      {table === undefined ? <p className="quiet">{said.noTable}</p> : null}
      <Problem error={error} retry={() => void refetch()} />
      {data === undefined || table === undefined ? null : (
        <>
          <p className={`small quiet number part-facts ${stale}`}>
            {said.rowsOf(countText(data.page.data.rows.length), countText(data.page.totalRows))}
            <Link to="/experiments/$id/tables/$table" params={{ id, table: table.identifier }} search={search}>
              {said.openTable}
            </Link>
          </p>
          <div className={`part-scroll ${stale}`} role="group" tabIndex={0} aria-label={words.table.grid(name)}>
            <table className="part-table">
              <thead>
                <tr>
                  {data.page.data.columns.map((column) => (
                    <th key={column.name} scope="col" className={alignOf(column.type_name)}>
                      {column.name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {data.page.data.rows.map((row, at) => (
                  <tr key={at}>
                    {data.page.data.columns.map(({ name: column, type_name: type }) => (
                      <td key={column} className={alignOf(type)}>
                        <Cell value={row[column]} type={type} isComputed={table.tableType === 'macro' && !PLACE.test(column)} />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Framed>
  );
}
