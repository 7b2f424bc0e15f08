import { join } from 'node:path';
import type { LakeTools } from './operator/lake.service.ts';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import { StartError } from './errors.ts';
import { listFunctions, loadPipelines } from './ingest/pipeline.ts';
import type { LakePlace } from './lakehouse/tables/files/lake-settings.ts';
import { findPlace, requireLake } from './lakehouse/tables/files/place.ts';
import type { Warehouse } from './lakehouse/terms/warehouse.ts';
import { openDuckdbWriter } from './lakehouse/engines/duckdb/write.ts';
import type { ObjectStore } from './storage/objects.ts';
import { openLakeFiles, openLakeStore, openObjects } from './stores.ts';

/** Opens the lake's store for one piece of work, and closes it again. */
export async function useLakeStore<T>(config: Config, db: Database, work: (store: ObjectStore) => Promise<T>): Promise<T> {
  const place = await findPlace(db, config.lake.place);
  const store = await openLakeStore(config, place);
  try {
    await requireLake(db, place, store);
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Opens the lake where it lies for one command, beside a service that may be running, and closes it again. */
export async function useLake<T>(config: Config, db: Database, work: (tools: LakeTools) => Promise<T>): Promise<T> {
  const closing: { close(): Promise<unknown> }[] = [];
  const closed = <O extends { close(): Promise<unknown> }>(opened: O): O => {
    closing.push(opened);
    return opened;
  };
  const openStore = async (at: LakePlace) => closed(await openLakeStore(config, at));
  try {
    const place = await findPlace(db, config.lake.place);
    const lake = await openStore(place);
    await requireLake(db, place, lake);
    const files = closed(await openLakeFiles(config, db, { place, store: lake, isKept: false }));
    const { objects } = await openObjects(config, () => '');
    closed(objects);
    const { threads } = config.duckdb;
    const pipelines = await loadPipelines(join(config.root, 'pipelines'));
    const functions = listFunctions(pipelines);
    const workFolder = join(config.dataDir, 'work');
    const staging = closed(await openDuckdbWriter({ lakeFolder: files.folder, files, workFolder, threads, functions }));
    return await work({ db, staging, pipelines, objects, lake, lakeFolder: files.folder, place, wanted: config.lake.place, openStore });
  } finally {
    for (const each of closing.reverse()) await each.close();
  }
}

/** Opens the Databricks that the settings name, and closes it again. Errors: StartError where they name none. */
export async function useDatabricks<T>(config: Config, work: (warehouse: Warehouse, lakeUrl: string) => Promise<T>): Promise<T> {
  const { databricks } = config.engines;
  if (!databricks) throw new StartError('Databricks is not set up: DATABRICKS_HOST, DATABRICKS_HTTP_PATH and credentials are missing.');
  const { DatabricksWarehouse } = await import('./lakehouse/engines/databricks/warehouse.ts');
  const warehouse = await DatabricksWarehouse.open(databricks);
  try {
    return await work(warehouse, databricks.lakeUrl);
  } finally {
    await warehouse.close();
  }
}
