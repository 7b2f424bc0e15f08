import { z } from 'zod';
import { StartError } from '../errors.ts';

/** The settings of the S3 store, by name. */
export const S3_ENVIRONMENT = {
  /** The bucket that objects are kept in. When it is unset, they are in a folder in DATA_DIR. */
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'it must be the name of a bucket')
    .optional(),
  S3_REGION: z.string().min(1).optional(),
  /** The URL of an S3-compatible server; AWS when it is unset. */
  S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** The access key. When it is unset, the credentials of the machine are used (environment, profile, role). */
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  S3_SESSION_TOKEN: z.string().min(1).optional(),
  /** Whether the bucket is named in the path rather than the host name. When it is unset, it is with S3_ENDPOINT only. */
  S3_PATH_STYLE: z
    .enum(['on', 'off'])
    .transform((text) => text === 'on')
    .optional(),
};

export interface S3Settings {
  bucket: string;
  region: string;
  endpoint?: string | undefined;
  forcePathStyle?: boolean | undefined;
  /** The given credentials; undefined for those of the machine. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined } | undefined;
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** Reads which S3 store the settings ask for; undefined when none of them is given. Throws StartError when only a part is given. */
export function readS3Settings(env: z.infer<z.ZodObject<typeof S3_ENVIRONMENT>>): S3Settings | undefined {
  const { S3_BUCKET: bucket, S3_REGION: region, S3_ENDPOINT: endpoint, S3_PATH_STYLE: forcePathStyle } = env;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey, S3_SESSION_TOKEN: sessionToken } = env;
  if ([bucket, region, endpoint, forcePathStyle, accessKeyId, secretAccessKey, sessionToken].every((each) => each === undefined))
    return undefined;
  if (bucket === undefined || region === undefined)
    throw new StartError('S3_BUCKET and S3_REGION must be given together, and with any other S3_ variable.');
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined) || (sessionToken !== undefined && accessKeyId === undefined))
    throw new StartError('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be given together, and S3_SESSION_TOKEN only with them.');
  if (endpoint?.startsWith('http:') === true && !LOOPBACK.test(new URL(endpoint).hostname))
    throw new StartError('S3_ENDPOINT must be https; only a loopback address may be http.');
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey, sessionToken };
  return { bucket, region, endpoint, forcePathStyle, credentials };
}
