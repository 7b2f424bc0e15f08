import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { Dashboard } from './dashboards.model.ts';

export type VersionedDashboard = Dashboard & { version: number };

// an older row may lack a part, or hold a widget of another shape, and a read must not fail because of that
const columns = fragment`
  d.id, d.experiment_id as "experimentId", d.name, d.description,
  '{"columns":12,"rowHeight":80,"gap":16}' || case jsonb_typeof(d.layout) when 'object' then d.layout else '{}' end as layout,
  case jsonb_typeof(d.widgets) when 'array' then jsonb_path_query_array(d.widgets, '$[*] ? (@.type() == "object")') else '[]' end as widgets,
  d.created_by as "createdBy", p.first_name || ' ' || p.last_name as "createdByName", d.created_at as "createdAt", d.updated_at as "updatedAt"`;
const joins = fragment`join people p on p.user_id = d.created_by`;

export const listDashboards = (db: Queryable, experimentId: string, page: Slice) =>
  db.rows<Dashboard>(sql('dashboards.list')`
    select ${columns} from dashboards d ${joins} where d.experiment_id = ${experimentId}
    order by d.created_at desc, d.id desc limit ${page.limit} offset ${page.offset}`);

export const countDashboards = (db: Queryable, experimentId: string) =>
  db.count(sql('dashboards.count')`select count(*) as count from dashboards where experiment_id = ${experimentId}`);

export const findDashboard = (db: Queryable, experimentId: string, id: string) =>
  db.one<VersionedDashboard>(sql('dashboards.find')`
    select ${columns}, d.version from dashboards d ${joins} where d.id = ${id} and d.experiment_id = ${experimentId}`);

export type DashboardRow = Omit<Dashboard, 'createdByName' | 'createdAt' | 'updatedAt'>;

export const insertDashboard = (db: Queryable, row: DashboardRow) =>
  db.run(sql('dashboards.insert')`
    insert into dashboards (id, experiment_id, name, description, layout, widgets, created_by)
    values (${row.id}, ${row.experimentId}, ${row.name}, ${row.description}, ${JSON.stringify(row.layout)}, ${JSON.stringify(row.widgets)}, ${row.createdBy})`);

export const updateDashboard = (db: Queryable, row: Omit<DashboardRow, 'experimentId' | 'createdBy'>) =>
  db.run(sql('dashboards.update')`
    update dashboards set name = ${row.name}, description = ${row.description}, layout = ${JSON.stringify(row.layout)}, widgets = ${JSON.stringify(row.widgets)},
      version = version + 1, updated_at = now()
    where id = ${row.id}`);

export const deleteDashboard = (db: Queryable, id: string) => db.run(sql('dashboards.delete')`delete from dashboards where id = ${id}`);
