import { DatabricksLake } from '../lakehouse/databricks-lake.ts';
import { Lake, source } from '../lakehouse/support.ts';
import { warehouseContract } from './warehouse.suite.ts';

const FLOOD = `select concat('{"i":', cast(t.i as STRING), '}') as line from range(1000000000) as t(i)`;
const ENDLESS = 'select cast(sum(a.i * b.i) as STRING) as line from range(10000000) as a(i), range(10000000) as b(i)';
const statements = { endless: { sql: ENDLESS, values: [] }, flood: { sql: FLOOD, values: [] } };

warehouseContract('DuckDB', async () => {
  const lake = await Lake.open();
  return {
    warehouse: lake.warehouse,
    put: async (select, expanded, more = {}) => source([await lake.write(select)], { expanded, ...more }),
    dimension: async (select) => lake.rows([await lake.write(select)]),
    statements,
    failing: () => ({
      sql: `select case when i = 300000 then error('midway') else 'row' end as line from range(400000) as t(i)`,
      values: [],
    }),
    left: () => lake.warehouse.running,
    close: () => lake.close(),
  };
});

warehouseContract('Databricks, through its driver', async () => {
  const lake = await DatabricksLake.open();
  return {
    warehouse: lake.warehouse,
    put: async (select, expanded, more = {}) => {
      const rows = lake.rows([await lake.write(select)], 'upload', expanded);
      return source(rows.files, { expanded, ...rows, ...more });
    },
    dimension: async (select) => lake.rows([await lake.write(select)], 'identity'),
    statements,
    failing: () => {
      lake.server.inject({ method: 'FetchResults', after: 3, how: { kind: 'status', message: 'org.apache.spark.SparkException: midway' } });
      return statements.flood;
    },
    left: () => lake.server.left + lake.engine.running,
    close: () => lake.close(),
  };
});
