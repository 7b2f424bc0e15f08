import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { ChangeFeed } from './api/changes/feed.service.ts';
import { openDeviceRoom } from './api/devices/room.service.ts';
import { registerPipelineGauges } from './operator/gauges.service.ts';
import { Drawing } from './charts/drawing.ts';
import type { Config } from './config.ts';
import { openContract } from './contract/contract.ts';
import { openDatabase, type Database } from './database/database.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './database/embedded.ts';
import { APPLICATION_ROLE, migrate } from './database/migrate.ts';
import { indexOperations, type OpenApiDocument } from './contract/operations.ts';
import { listFunctions, loadPipelines, type Pipelines } from './ingest/pipeline.ts';
import { HeldBodies } from './http/requests/held-bodies.ts';
import { openJobQueue } from './jobs/queue.ts';
import { openEmbeddedPlaces } from './places/embedded.ts';
import { openProvidedPlaces } from './places/provider.ts';
import type { StartError } from './errors.ts';
import { Kept } from './kept.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { waitPublished } from './lakehouse/tables/delta/awaiting.ts';
import { Engines } from './lakehouse/read/engines.ts';
import type { LakeFiles } from './lakehouse/tables/files/files.ts';
import { keepPlace, requireConditionalPuts, requirePlace } from './lakehouse/tables/files/place.ts';
import type { LiveTable } from './lakehouse/terms/plan.ts';
import { PageCache } from './lakehouse/read/page-cache.ts';
import { Versions } from './lakehouse/tables/versions.ts';
import { FairShares } from './lakehouse/read/shares.ts';
import { openDuckdbWriter } from './lakehouse/engines/duckdb/write.ts';
import type { DuckDbOptions } from './lakehouse/engines/duckdb/warehouse.ts';
import { sweepScratch } from './lakehouse/engines/duckdb/scratch.ts';
import { openDataFolder } from './storage/private.ts';
import { openLog } from './log.ts';
import { openOutbox } from './mail/outbox.ts';
import { openSmtp } from './mail/smtp.ts';
import { LANGUAGES } from './sandbox/job.ts';
import { openSandbox } from './sandbox/sandbox.ts';
import type { ObjectStore } from './storage/objects.ts';
import { openLakeFiles, openLakeStore, openObjects } from './stores.ts';

import type { Context } from './context.ts';

/** The sandbox, opened once when it is first needed. */
function sandboxOnce(config: Config, log: Logger) {
  const runtimesFolder = join(config.root, 'src/sandbox/runtimes');
  const sandbox = new Kept(async () => {
    const opened = await openSandbox({ ...config.macros, runtimesFolder, keepIn: join(config.dataDir, 'macros') });
    for (const language of LANGUAGES)
      if (opened.level(language).level === 'unavailable')
        log.info({ language, reason: opened.level(language).reason }, 'macros of a language cannot be run here');
    return opened;
  });
  return {
    open: () => sandbox.get(),
    /** The level of each language, for operators; `not started` before the sandbox is first opened. */
    levels: async () => {
      const opened = await sandbox.made;
      if (!opened) return { state: 'not started' };
      return Object.fromEntries(config.macros.languages.map((language) => [language, opened.level(language)]));
    },
    close: async () => (await sandbox.made)?.close(),
  };
}

const CLOSE_MS = 25_000;
const CACHE_MS = 600_000;
/** Milliseconds between two looks for copies of what was erased; every process looks. */
const TIDY_MS = 30_000;

const late = () =>
  new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error('closing took too long')), CLOSE_MS).unref();
  });

/** Two pools of each engine: short reads, and reads that may take long. */
async function openEngines(config: Config, files: LakeFiles, db: Database): Promise<{ reads: Engines; exporting: Engines }> {
  const { choice, databricks, mostBytes } = config.engines;
  const published = (tables: readonly LiveTable[]) => waitPublished(db, tables);
  const temporaryFolder = join(config.dataDir, 'tmp');
  const openTables = async () => {
    if (choice === 'duckdb' || !databricks) return [];
    const { DatabricksWarehouse } = await import('./lakehouse/engines/databricks/warehouse.ts');
    const warehouse = await DatabricksWarehouse.open({ ...databricks, temporaryFolder });
    return [warehouse, warehouse.beside(4)];
  };
  const tables = await openTables();
  // a service that nobody uses holds 60 MB less without the engine
  const engines = (at: 0 | 1, options: Partial<DuckDbOptions>) => {
    const openFiles = async () => {
      const { DuckDbWarehouse } = await import('./lakehouse/engines/duckdb/warehouse.ts');
      return DuckDbWarehouse.open({ lakeFolder: files.folder, files, temporaryFolder, threads: config.duckdb.threads, ...options });
    };
    return new Engines({ openFiles: choice === 'databricks' ? undefined : openFiles, tables: tables[at], mostBytes, published });
  };
  const { memoryMb } = config.duckdb;
  return {
    reads: engines(0, { memoryLimit: `${memoryMb}MB` }),
    exporting: engines(1, {
      memoryLimit: `${Math.max(128, Math.floor(memoryMb / 4))}MB`,
      connections: 4,
      wideStreams: 0,
      tellsReading: true,
    }),
  };
}

/** What the parts of the service need to open: `opened` takes what is closed again, the last first. */
interface Opening {
  config: Config;
  log: Logger;
  metrics: Metrics;
  opened: (() => Promise<unknown>)[];
}

/** Starts Postgres unless there is one, migrates it, and opens the pools. `giveUp`: the embedded one cannot be brought back, or tables are another version's. */
async function openPostgres({ config, log, metrics, opened }: Opening, giveUp: (error: StartError) => void, onBack: () => void) {
  let postgres: EmbeddedPostgres | undefined;
  if (config.databaseUrl === undefined) {
    postgres = await startEmbeddedPostgres({
      dataDir: config.dataDir,
      watch: {
        onLost: () => log.error('the embedded Postgres was lost; it is being started again'),
        onBack: (milliseconds) => log.warn({ milliseconds }, 'the embedded Postgres is back'),
        onGivenUp: giveUp,
      },
    });
    opened.push(() => postgres?.stop() ?? Promise.resolve());
  }
  const url = config.databaseUrl ?? postgres?.url ?? '';
  opened.push(await migrate({ url, folder: join(config.root, 'sql'), onOvertaken: giveUp, onBack }));
  const onQuery = (label: string, milliseconds: number) => metrics.queries.observe({ label }, milliseconds / 1000);
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 20, onQuery });
  opened.push(() => db.close());
  const admission = openDatabase({
    url,
    role: APPLICATION_ROLE,
    max: 8,
    statementTimeoutMs: 5_000,
    // every statement looks up a few rows by their keys; Postgres would plan it anew five times a connection, and the plan for a table takes 5 ms
    settings: { synchronous_commit: 'off', plan_cache_mode: 'force_generic_plan' },
    onQuery,
  });
  opened.push(() => admission.close());
  return { url, db, admission };
}

/** Opens the job queue, the last of what connects to Postgres: it reports each connection that is lost while a start that failed is closed. */
async function openJobs({ log, metrics, opened }: Opening, url: string) {
  const jobs = await openJobQueue({
    url,
    role: APPLICATION_ROLE,
    onError: (error) => {
      metrics.jobErrors.inc();
      log.warn({ err: error }, 'the job queue reported an error');
    },
  });
  // first to stop: jobs use everything above
  opened.push(() => jobs.stop());
  return jobs;
}

/** Opens the lake's files, and the engines that read and write them. */
async function openLake({ config, log, opened }: Opening, db: Database, pipelines: Pipelines, objects: ObjectStore) {
  const { place } = config.lake;
  await requirePlace(db, place);
  const lake = await openLakeStore(config, place);
  opened.push(() => lake.close());
  if (place !== 'folder') await requireConditionalPuts(lake);
  // only now: a bucket that was misspelled at the first start is forgotten with it
  await keepPlace(db, place, { lake, objects });
  const lakeFiles = await openLakeFiles(config, db, { place, store: lake, isKept: true });
  opened.push(() => lakeFiles.close());
  const lakeFolder = lakeFiles.folder;
  const tidying = setInterval(() => {
    lakeFiles.tidy().catch((error: unknown) => log.warn({ err: error }, 'copies of erased experiments could not be removed'));
  }, TIDY_MS).unref();
  opened.push(() => Promise.resolve(clearInterval(tidying)));
  const { reads, exporting } = await openEngines(config, lakeFiles, db);
  opened.push(() => reads.close());
  opened.push(() => exporting.close());
  const { threads } = config.duckdb;
  const staging = await openDuckdbWriter({
    lakeFolder,
    files: lakeFiles,
    workFolder: join(config.dataDir, 'work'),
    threads,
    functions: listFunctions(pipelines),
  });
  opened.push(() => staging.close());
  return { lake, lakeFiles, lakeFolder, reads, exporting, staging, versions: new Versions({ db, lakeFolder }) };
}

/** Connects, migrates and wires. Whatever was opened is closed again when a later step fails. */
export async function createContext(config: Config): Promise<Context> {
  const log = openLog(config);
  // the terminal has been told already
  if (config.logFile !== undefined && config.misspelled !== undefined) log.warn(config.misspelled);
  const metrics = createMetrics();
  const opened: (() => Promise<unknown>)[] = [];
  let giveUp: (error: StartError) => void = () => undefined;
  let known: Versions | undefined;
  const givenUp = new Promise<StartError>((resolve) => (giveUp = resolve));
  const close = async () => {
    for (const shut of opened.splice(0).reverse())
      // what does not close must not keep the rest, the embedded Postgres above all, from closing
      await Promise.race([shut(), late()]).catch((error: unknown) => log.error({ err: error }, 'closing failed'));
  };
  try {
    await openDataFolder(config.dataDir);
    await sweepScratch(join(config.dataDir, 'tmp'));
    const opening: Opening = { config, log, metrics, opened };
    const { url, db, admission } = await openPostgres(
      opening,
      (error) => giveUp(error),
      () => known?.forget(),
    );
    const pipelines = await loadPipelines(join(config.root, 'pipelines'));
    const { objects, objectFolder } = await openObjects(config, () => `${context.baseUrl}/objects`);
    opened.push(() => objects.close());
    const lakehouse = await openLake(opening, db, pipelines, objects);
    known = lakehouse.versions;
    const { reads, exporting } = lakehouse;
    const iot = await openDeviceRoom({ config, db, onProblem: (cause, what) => log.warn({ err: cause }, what) });
    opened.push(() => iot.close());
    const { callerStatements, organizationStatements } = config.limits;
    const shares = new FairShares({ perCaller: callerStatements, perOwner: organizationStatements, waiting: 32, waitMs: 10_000 });
    const drawingShares = new FairShares({ perCaller: 1, perOwner: 1, waiting: 32, waitMs: 30_000 });
    // who asks for values does not wait for pictures
    const drawing = { pictures: new Drawing(), series: new Drawing() };
    opened.push(async () => {
      await Promise.all(Object.values(drawing).map((each) => each.close()));
    });
    const pages = new PageCache({ bytes: config.limits.cacheBytes, milliseconds: CACHE_MS });
    const { smtpUrl, from } = config.mail;
    const mailer =
      smtpUrl === undefined ? await openOutbox({ folder: join(config.dataDir, 'outbox'), from }) : openSmtp({ url: smtpUrl, from });
    opened.push(() => mailer.close());
    new Gauge({
      name: 'postgres_pool_waiting',
      help: 'Statements that wait for a connection.',
      registers: [metrics.registry],
      collect() {
        this.set(db.waiting);
      },
    });
    registerPipelineGauges(metrics.registry, db);
    const macros = sandboxOnce(config, log);
    opened.push(macros.close);
    // our own file, without an escape in a key; examples that hold JSON would send it the slow way of readJson
    // eslint-disable-next-line no-restricted-properties
    const document = JSON.parse(readFileSync(join(config.root, 'src/generated/openapi.json'), 'utf8')) as OpenApiDocument;
    const changes = new ChangeFeed({ db, admission, log, registry: metrics.registry, most: config.limits.listenersAtOnce });
    opened.push(() => changes.stop());
    const jobs = await openJobs(opening, url);
    const context: Context = {
      config,
      log,
      requestLog: log.child({}, { redact: [] }),
      metrics,
      db,
      admission,
      jobs,
      sandbox: macros.open,
      mailer,
      places:
        config.places === undefined ? openEmbeddedPlaces(join(config.root, 'src/places/data/names.br')) : openProvidedPlaces(config.places),
      ...lakehouse,
      iot,
      changes,
      pipelines,
      objects,
      objectFolder,
      bodies: new HeldBodies(config.limits.bodiesMegabytes),
      shares,
      drawing,
      drawingShares,
      pages,
      openapi: { version: document.info.version, text: Buffer.from(JSON.stringify(document)) },
      contract: openContract(document),
      operations: indexOperations(document),
      checks: {
        postgres: () => Promise.all([db.ping(), admission.ping()]).then(() => undefined),
        macros: macros.levels,
        objects: () => objects.check(),
        warehouse: () =>
          Promise.resolve({ running: reads.running, exporting: exporting.running, waiting: shares.waiting, answers: pages.usage }),
        // letters wait in the queue while the mail server is away: that is worth knowing, and no reason to send callers elsewhere
        mail: () =>
          mailer.check().then(
            () => 'reachable',
            () => 'not reachable',
          ),
      },
      ready: false,
      givenUp,
      baseUrl: config.baseUrl ?? '',
      close,
    };
    return context;
  } catch (error) {
    await close();
    throw error;
  }
}
