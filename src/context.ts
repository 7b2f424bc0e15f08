import type { Logger } from 'pino';
import type { ChangeFeed } from './api/changes/feed.service.ts';
import type { DeviceRoom } from './api/devices/room.service.ts';
import type { Drawing } from './charts/drawing.ts';
import type { Config } from './config.ts';
import type { Contract } from './contract/contract.ts';
import type { Database } from './database/database.ts';
import type { PublishedDocument, Operations } from './contract/operations.ts';
import type { Pipelines } from './ingest/pipeline.ts';
import type { JobQueue } from './jobs/queue.ts';
import type { Places } from './places/places.ts';
import type { StartError } from './errors.ts';
import type { HeldBodies } from './http/requests/held-bodies.ts';
import type { Metrics } from './metrics.ts';
import type { Engines } from './lakehouse/read/engines.ts';
import type { LakeFiles } from './lakehouse/tables/files/files.ts';
import type { PageCache } from './lakehouse/read/page-cache.ts';
import type { Versions } from './lakehouse/tables/versions.ts';
import type { FairShares } from './lakehouse/read/shares.ts';
import type { StagingArea } from './lakehouse/tables/staging.ts';
import type { FolderStore } from './storage/folder.ts';
import type { ObjectStore } from './storage/objects.ts';
import type { Mailer } from './mail/mailer.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

/** Everything that the product is handed. Built in `compose.ts`, and nowhere else. */
export interface Context {
  config: Config;
  log: Logger;
  /** The same log without the search for secrets, for the line of each request. Its fields hold none, and the search took 8 of its 14 µs. */
  requestLog: Logger;
  metrics: Metrics;
  /** Metadata, as the application role. */
  db: Database;
  /** The same database through a small pool, for admissions only. It never waits behind a slow statement, nor for the disk when it counts a request. */
  admission: Database;
  jobs: JobQueue;
  /** Where macros run. Opened at the first call, which takes as long as the slowest interpreter needs to start. */
  sandbox(): Promise<Sandbox>;
  places: Places;
  /** Reads of the lake. */
  reads: Engines;
  /** Reads of the lake that may take long: pools of their own, so that nobody's page waits for a file. */
  exporting: Engines;
  /** Writes of the lake. */
  staging: StagingArea;
  /** Folder that manifest paths are relative to: the lake's own, or that of this process's copies when the lake is in a bucket. */
  lakeFolder: string;
  /** The lake's files, as they are in `lakeFolder`. */
  lakeFiles: LakeFiles;
  /** The lake as a store: files of tables and their logs. */
  lake: ObjectStore;
  pipelines: Pipelines;
  /** Uploaded bytes. */
  objects: ObjectStore;
  /** The same store when it is the folder, whose signed URLs this service answers; undefined with S3. */
  objectFolder: FolderStore | undefined;
  /** Bodies of requests that are in memory. */
  bodies: HeldBodies;
  shares: FairShares;
  /** Where pictures of charts are drawn, and whose turn it is. */
  drawing: Record<'pictures' | 'series', Drawing>;
  drawingShares: FairShares;
  /** Answers that reads have given, kept for the next who ask the same. */
  pages: PageCache;
  /** Columns and files of table versions that were read before. */
  versions: Versions;
  /** Devices: registry, changes of certificates, credentials. */
  iot: DeviceRoom;
  /** Tells listeners what happens in experiments. */
  changes: ChangeFeed;
  /** Where others reach the API; known once it listens. */
  baseUrl: string;
  /** Sends letters; called by the job only. To send one, `enqueueLetter`. */
  mailer: Mailer;
  operations: Operations;
  openapi: PublishedDocument;
  /** Checks of requests against that document. */
  contract: Contract;
  /** What must work for the service to be ready, by name; a check may answer a detail for operators. */
  checks: Record<string, () => Promise<unknown>>;
  /** False while starting or stopping. */
  ready: boolean;
  /** Resolves with the reason when the service has lost what it cannot go on without; otherwise it never resolves. */
  givenUp: Promise<StartError>;
  close(): Promise<void>;
}
