import { z } from 'zod';
import { StartError } from '../../../errors.ts';

/** Where the lake lies: `folder` is the folder `lake` in DATA_DIR, and any other value names a bucket. */
export type LakePlace = 'folder' | `s3://${string}`;

/** The settings of the lake's files, by name. */
export const LAKE_ENVIRONMENT = {
  /** `folder` keeps the lake in DATA_DIR even when S3_BUCKET is set. */
  LAKE: z.enum(['folder', 'bucket']).optional(),
  /** How many MiB each process keeps as copies of the files of a lake in a bucket. */
  LAKE_CACHE_MB: z.coerce.number().int().min(1).max(100_000_000).default(4_096),
};

/** Reads which lake the settings ask for. Throws StartError for a lake in a bucket when no bucket is named. */
export function readLakeSettings({ LAKE, LAKE_CACHE_MB }: z.infer<z.ZodObject<typeof LAKE_ENVIRONMENT>>, bucket: string | undefined) {
  if (LAKE === 'bucket' && bucket === undefined) throw new StartError('LAKE=bucket needs S3_BUCKET and S3_REGION.');
  const place: LakePlace = bucket === undefined || LAKE === 'folder' ? 'folder' : `s3://${bucket}`;
  return { place, cacheBytes: LAKE_CACHE_MB * 1_048_576 };
}
