import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createUser } from '../src/api/account/account.service.ts';
import { openSource } from '../src/api/data/data.service.ts';
import { refreshMetadata } from '../src/api/metadata/lake.service.ts';
import { openTable } from '../src/authorization/tables.ts';
import type { Context } from '../src/context.ts';
import { openDatabase, type Database } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { sql } from '../src/database/sql.ts';
import { STRING } from '../src/lakehouse/terms/catalog.ts';
import { commit, createTable } from '../src/lakehouse/tables/manifest.ts';
import { Versions } from '../src/lakehouse/tables/versions.ts';
import { readPage } from '../src/lakehouse/read/read.ts';
import { readRequest, type ReadParameters } from '../src/lakehouse/ask/request.ts';
import { openDuckdbWriter } from '../src/lakehouse/engines/duckdb/write.ts';
import { DuckDbWarehouse } from '../src/lakehouse/engines/duckdb/warehouse.ts';
import { pairs, type Measured } from './pairs.ts';

const ROWS = Number(process.env['ROWS'] ?? 1_000_000);
const PLOTS = 2_000;

/** Measurements of a plot each, one a second, from eight instruments. */
const MEASUREMENTS = `select lpad(to_hex(i), 32, '0') as id, 'dev-' || i % 8 as device_id, ['north', 'south', 'east', 'west'][(1 + hash(i, 3) % 4)::integer] as device_name,
    timestamptz '2026-01-01 00:00:00+00' + to_seconds(i) as "timestamp", timestamptz '2026-01-01 00:00:00+00' + to_seconds(i) as processed_timestamp,
    (hash(i, 1) % 100000) / 1000 as latitude, (hash(i, 2) % 100000) / 1000 as longitude, $1 as experiment_id, 'P' || hash(i, 4) % ${PLOTS} as plot
  from range(${ROWS}) t(i)`;

const plots = {
  name: 'Plots',
  columns: [
    { id: 'p', name: 'plot_id', type: 'string' },
    { id: 't', name: 'treatment', type: 'string' },
    { id: 'a', name: 'area', type: 'number' },
    { id: 's', name: 'sown_on', type: 'date' },
  ],
  rows: Array.from({ length: PLOTS }, (_, at) => ({
    _id: String(at),
    p: `P${at}`,
    t: ['dry', 'wet', 'hot', 'cold'][at % 4],
    a: at / 10,
    s: `2026-03-${String(1 + (at % 28)).padStart(2, '0')}`,
  })),
  identifierColumnId: 'p',
  experimentQuestionId: 'plot',
};

async function seed(ctx: Context, owner: { id: string; organizationId: string }): Promise<string> {
  const { db, staging } = ctx;
  const experimentId = randomUUID();
  await db.run(sql('bench')`
    with r as (insert into resources (id, type, organization_id, name, created_by) values (${experimentId}, 'experiment', ${owner.organizationId}, 'Bench', ${owner.id}) returning id)
    insert into experiments (id) select id from r`);
  const table = await createTable(db, { experimentId, kind: 'raw_data' });
  const select = { sql: MEASUREMENTS, values: [{ type: STRING, value: experimentId }] };
  const staged = await staging.stage({ tableId: table.id, experimentId, select, sortColumn: 'timestamp' });
  const plot = { name: 'plot', type: STRING, nullable: true, origin: 'question', hasValues: true, exactDouble: true } as const;
  await db.transaction((tx) => commit(tx, { tableId: table.id, cause: 'ingest', files: staged.files, columns: [plot] }));
  return experimentId;
}

const describe = (db: Database, ctx: Context, experimentId: string, userId: string) =>
  db.transaction(async (tx) => {
    await tx.run(sql('bench')`
      insert into metadata_records (id, experiment_id, metadata, size, created_by)
      values (${randomUUID()}, ${experimentId}, ${JSON.stringify(plots)}, 1, ${userId})`);
    await refreshMetadata(ctx, tx, experimentId);
  });

/** A metadata table of 2,000 plots over a million measurements: what it costs when it is not asked for, for a page, and to group by it. */
export async function benchMetadata(url: string, dataDir: string): Promise<Measured[]> {
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 8 });
  const lakeFolder = join(dataDir, 'lake');
  const staging = await openDuckdbWriter({ lakeFolder, workFolder: join(dataDir, 'work'), threads: 2 });
  const warehouse = await DuckDbWarehouse.open({
    lakeFolder,
    temporaryFolder: join(dataDir, 'tmp'),
    threads: 2,
    memoryLimit: '1024MB',
  });
  const ctx = { db, staging, warehouse, lakeFolder, versions: new Versions({ db, lakeFolder }) } as unknown as Context;
  try {
    const owner = await createUser(db, { email: 'bench@example.org', firstName: 'Bench', lastName: 'Owner', verified: true });
    const [bare, described] = [await seed(ctx, owner), await seed(ctx, owner)];
    await describe(db, ctx, described, owner.id);
    const time = async (experimentId: string, parameters: ReadParameters) => {
      const start = performance.now();
      const table = await openTable(db, owner.id, experimentId, 'raw_data');
      const page = await readPage(warehouse, await openSource(ctx, table), readRequest(parameters));
      const rows = await text(page.rows);
      if (rows.length < 10) throw new Error('the read gave nothing');
      return performance.now() - start;
    };
    const aggregate = (column: string): ReadParameters => ({
      aggregation: JSON.stringify({ groupBy: [{ column }], functions: [{ column: 'latitude', function: 'avg', alias: 'mean' }] }),
    });
    const page = { columns: 'id,timestamp,device_id,plot,latitude', page: 1, pageSize: 100 };
    const withMetadata = { ...page, columns: `${page.columns},treatment` };
    const compare = async (name: string, ours: () => Promise<number>, yardstick: () => Promise<number>) => {
      await ours();
      await yardstick();
      return pairs(name, ours, yardstick);
    };
    return [
      await compare(
        'metadata: page that asks for none, against an experiment without (ms, bound 1.1)',
        () => time(described, page),
        () => time(bare, page),
      ),
      await compare(
        'metadata: group by a column of its own, against an experiment without (ms, bound 1.1)',
        () => time(described, aggregate('device_name')),
        () => time(bare, aggregate('device_name')),
      ),
      await compare(
        'metadata: page with a column, against one without (ms, bound 1.3)',
        () => time(described, withMetadata),
        () => time(described, page),
      ),
      await compare(
        'metadata: group by a column, against by one of its own (ms, bound 2)',
        () => time(described, aggregate('treatment')),
        () => time(described, aggregate('device_name')),
      ),
    ];
  } finally {
    await warehouse.close();
    await staging.close();
    await db.close();
  }
}
