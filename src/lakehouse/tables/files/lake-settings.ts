import { z } from 'zod';
import { StartError } from '../../../errors.ts';

/** Where the lake lies: the folder in DATA_DIR, or a bucket by its name. */
export type LakePlace = 'folder' | `s3://${string}`;

/** The settings of the lake's files, by name. */
export const LAKE_ENVIRONMENT = {
  /** `folder` keeps the lake in DATA_DIR also with S3_BUCKET. */
  LAKE: z.enum(['folder', 'bucket']).optional(),
  /** Copies of files of a lake in a bucket that each process keeps. */
  LAKE_CACHE_MB: z.coerce.number().int().min(1).max(100_000_000).default(4_096),
};

export interface LakeSettings {
  place: LakePlace;
  /** Of copies at most. */
  cacheBytes: number;
}

/** The lake that the settings ask for. Throws StartError for one in a bucket that is not named. */
export function readLakeSettings(
  { LAKE, LAKE_CACHE_MB }: z.infer<z.ZodObject<typeof LAKE_ENVIRONMENT>>,
  bucket: string | undefined,
): LakeSettings {
  if (LAKE === 'bucket' && bucket === undefined) throw new StartError('LAKE=bucket needs S3_BUCKET and S3_REGION.');
  return { place: bucket === undefined || LAKE === 'folder' ? 'folder' : `s3://${bucket}`, cacheBytes: LAKE_CACHE_MB * 1_048_576 };
}
