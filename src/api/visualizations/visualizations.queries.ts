import type { Queryable, Slice } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { ChartFamily, Visualization } from './visualizations.model.ts';

export type VersionedVisualization = Visualization & { version: number };

// an older row may lack a part, and a read must not fail because of that
const columns = fragment`
  v.id, v.name, v.description, v.experiment_id as "experimentId", v.chart_family as "chartFamily", v.chart_type as "chartType",
  case jsonb_typeof(v.config) when 'object' then v.config else '{}' end as config,
  case jsonb_typeof(v.data_config) when 'object' then '{"tableName":"","dataSources":[]}' || v.data_config else '{"tableName":"","dataSources":[]}' end as "dataConfig",
  v.created_by as "createdBy", p.first_name || ' ' || p.last_name as "createdByName", v.created_at as "createdAt", v.updated_at as "updatedAt"`;
const joins = fragment`join people p on p.user_id = v.created_by`;

export const listVisualizations = (db: Queryable, filter: { experimentId: string; chartFamily: ChartFamily | undefined }, page: Slice) =>
  db.rows<Visualization>(sql('visualizations.list')`
    select ${columns} from visualizations v ${joins}
    where v.experiment_id = ${filter.experimentId} and (${filter.chartFamily ?? null}::text is null or v.chart_family = ${filter.chartFamily ?? null})
    order by v.created_at desc, v.id desc limit ${page.limit} offset ${page.offset}`);

export const countVisualizations = (db: Queryable, filter: { experimentId: string; chartFamily: ChartFamily | undefined }) =>
  db.count(sql('visualizations.count')`
    select count(*) as count from visualizations v
    where v.experiment_id = ${filter.experimentId} and (${filter.chartFamily ?? null}::text is null or v.chart_family = ${filter.chartFamily ?? null})`);

export const findVisualization = (db: Queryable, experimentId: string, id: string) =>
  db.one<VersionedVisualization>(sql('visualizations.find')`
    select ${columns}, v.version from visualizations v ${joins} where v.id = ${id} and v.experiment_id = ${experimentId}`);

/** Which of these charts belong to another experiment. */
export const listForeignVisualizations = (db: Queryable, experimentId: string, ids: readonly string[]) =>
  db.values<string>(sql('visualizations.listForeign')`
    select v.id from visualizations v where v.id = any (${ids}::uuid[]) and v.experiment_id <> ${experimentId}`);

export type VisualizationRow = Omit<Visualization, 'createdByName' | 'createdAt' | 'updatedAt' | 'config'> & { config: object };

export const insertVisualization = (db: Queryable, row: VisualizationRow) =>
  db.run(sql('visualizations.insert')`
    insert into visualizations (id, experiment_id, name, description, chart_family, chart_type, config, data_config, created_by)
    values (${row.id}, ${row.experimentId}, ${row.name}, ${row.description}, ${row.chartFamily}, ${row.chartType}, ${JSON.stringify(row.config)},
      ${JSON.stringify(row.dataConfig)}, ${row.createdBy})`);

export const updateVisualization = (db: Queryable, row: Omit<VisualizationRow, 'experimentId' | 'createdBy'>) =>
  db.run(sql('visualizations.update')`
    update visualizations set name = ${row.name}, description = ${row.description}, chart_family = ${row.chartFamily}, chart_type = ${row.chartType},
      config = ${JSON.stringify(row.config)}, data_config = ${JSON.stringify(row.dataConfig)}, version = version + 1, updated_at = now()
    where id = ${row.id}`);

export const deleteVisualization = (db: Queryable, id: string) =>
  db.run(sql('visualizations.delete')`delete from visualizations where id = ${id}`);
