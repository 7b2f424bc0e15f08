/** Where bytes are kept, as the settings say. */
import { join } from 'node:path';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import { StartError } from './errors.ts';
import type { LakeFiles } from './lakehouse/tables/files/files.ts';
import { openFolderFiles } from './lakehouse/tables/files/folder.ts';
import type { LakePlace } from './lakehouse/tables/files/lake-settings.ts';
import { openFolderStore, type FolderStore } from './storage/folder.ts';
import type { ObjectStore } from './storage/objects.ts';

interface OpenedObjects {
  objects: ObjectStore;
  objectFolder: FolderStore | undefined;
}

/** Opens the bucket of the configuration, or the folder. The client of a cloud takes tens of megabytes, so it is loaded only where it is used. */
export async function openObjects({ s3, dataDir, secret }: Config, baseUrl: () => string): Promise<OpenedObjects> {
  if (s3 !== undefined) {
    const { openS3Store } = await import('./storage/s3.ts');
    return { objects: openS3Store(s3), objectFolder: undefined };
  }
  const objectFolder = await openFolderStore({ folder: join(dataDir, 'objects'), secret, baseUrl });
  return { objects: objectFolder, objectFolder };
}

/** Opens the lake as a store, which gives nobody a URL. Errors: StartError where the settings do not say how to reach it. */
export async function openLakeStore({ s3, dataDir, secret }: Config, place: LakePlace): Promise<ObjectStore> {
  if (place === 'folder') return openFolderStore({ folder: join(dataDir, 'lake'), secret, baseUrl: () => '' });
  const bucket = place.slice('s3://'.length);
  if (s3 === undefined) throw new StartError(`The lake of this database lies in ${place}: set S3_BUCKET=${bucket} and S3_REGION.`);
  const { openS3Store } = await import('./storage/s3.ts');
  return openS3Store({ ...s3, bucket });
}

/** Opens the lake's files for the engines of this process. `isKept`: whether copies stay for the next process. */
export async function openLakeFiles(
  config: Config,
  db: Database,
  { place, store, isKept }: { place: LakePlace; store: ObjectStore; isKept: boolean },
): Promise<LakeFiles> {
  if (place === 'folder') return openFolderFiles(join(config.dataDir, 'lake'));
  const { openBucketFiles } = await import('./lakehouse/tables/files/bucket.ts');
  return openBucketFiles({ store, db, cacheFolder: join(config.dataDir, 'cache'), cacheBytes: config.lake.cacheBytes, isKept });
}
