/** Reads from the environment which engines answer reads. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { StartError } from '../../errors.ts';
import type { LakePlace } from '../tables/files/lake-settings.ts';

const isPort = (text: string): boolean => Number(text) >= 1 && Number(text) <= 65_535;

export const ENGINE_ENVIRONMENT = {
  /** Host name of the workspace, such as `dbc-0123.cloud.databricks.com`. When it is unset, DuckDB reads the lake. */
  DATABRICKS_HOST: z
    .string()
    .regex(/^[A-Za-z0-9.-]+(:\d{1,5})?$/, 'it must be a host name without https:// and without a path')
    .refine((address) => isPort(address.split(':')[1] ?? '443'), 'its port must be from 1 to 65535')
    .optional(),
  DATABRICKS_HTTP_PATH: z
    .string()
    .regex(/^\/sql\/[\w./?=&-]+$/, 'it must be the HTTP path of a SQL warehouse, such as /sql/1.0/warehouses/0123456789abcdef')
    .optional(),
  /** Unity Catalog catalog in which `npm run lake -- register` names the tables. */
  DATABRICKS_CATALOG: z.string().min(1).max(255).optional(),
  /** A personal access token. The client id and secret of a service principal may be given instead. */
  DATABRICKS_TOKEN: z.string().min(1).optional(),
  DATABRICKS_CLIENT_ID: z.string().min(1).optional(),
  DATABRICKS_CLIENT_SECRET: z.string().min(1).optional(),
  /** File with the PEM of an authority that is trusted besides the usual ones, such as that of a proxy which looks inside TLS. */
  DATABRICKS_CA_FILE: z.string().min(1).optional(),
  /** URL under which Databricks finds the lake, if it is not the URL of the bucket, such as `abfss://lake@account.dfs.core.windows.net`. */
  DATABRICKS_LAKE: z
    .string()
    .regex(/^[a-z][a-z0-9+.-]*:\/\/[^\s`?#]+$/, 'it must be a URL without a query, such as s3://field-lake')
    .optional(),
  /** Which engine answers reads. `auto` chooses by the bytes that a read has to look at. */
  ENGINE: z.enum(['duckdb', 'databricks', 'auto']).optional(),
  /** With `auto`, DuckDB answers a read that looks at no more than this many MiB of files. */
  ENGINE_DUCKDB_MB: z.coerce.number().int().min(0).max(100_000_000).default(4_096),
};

/** A personal access token, or the client id and secret of a service principal. */
type DatabricksCredentials = { token: string } | { clientId: string; clientSecret: string };

export interface DatabricksSettings {
  /** Host name of the workspace, without a scheme. */
  host: string;
  port?: number;
  /** HTTP path of the SQL warehouse, such as `/sql/1.0/warehouses/abc`. */
  path: string;
  /** The Unity Catalog catalog that is meant by names without one. */
  catalog?: string | undefined;
  /** URL under which the server finds the lake, without a slash at its end. */
  lakeUrl: string;
  credentials: DatabricksCredentials;
  /** PEM of a certificate authority that is trusted besides those of Node. */
  authority?: string | undefined;
}

type Variables = z.infer<z.ZodObject<typeof ENGINE_ENVIRONMENT>>;

/**
 * Reads the settings of Databricks. Undefined when nothing is set. Throws StartError when only a part is set, or nothing says where Databricks finds the lake.
 */
function databricksSettings(env: Variables, place: LakePlace): DatabricksSettings | undefined {
  const { DATABRICKS_HOST: address, DATABRICKS_HTTP_PATH: path, DATABRICKS_CATALOG: catalog, DATABRICKS_LAKE: url } = env;
  const { DATABRICKS_TOKEN: token, DATABRICKS_CLIENT_ID: clientId, DATABRICKS_CLIENT_SECRET: clientSecret } = env;
  const caFile = env.DATABRICKS_CA_FILE;
  if ([caFile, address, path, catalog, url, token, clientId, clientSecret].every((value) => value === undefined)) return undefined;
  if (address === undefined || path === undefined) throw new StartError('DATABRICKS_HOST and DATABRICKS_HTTP_PATH must be given together.');
  if ((clientId === undefined) !== (clientSecret === undefined))
    throw new StartError('DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET must be given together.');
  if ((token === undefined) === (clientId === undefined))
    throw new StartError('Databricks needs either DATABRICKS_TOKEN or DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET.');
  const lakeUrl = url ?? (place === 'folder' ? undefined : place);
  if (lakeUrl === undefined)
    throw new StartError(
      'Databricks reads the lake from a bucket: set S3_BUCKET and S3_REGION, or DATABRICKS_LAKE to the URL of the lake.',
    );
  const [host = '', port = '443'] = address.split(':');
  const credentials = clientId !== undefined && clientSecret !== undefined ? { clientId, clientSecret } : { token: token ?? '' };
  const authority = caFile === undefined ? undefined : authorityOf(caFile);
  return { host, port: Number(port), path, catalog, lakeUrl: lakeUrl.replace(/\/+$/, ''), credentials, authority };
}

/** Reads which engines answer reads: Databricks where it is set up and ENGINE is not. Throws StartError where Databricks is asked for and not set up. */
export function readEngineSettings(env: Variables, place: LakePlace) {
  const { ENGINE, ENGINE_DUCKDB_MB } = env;
  const databricks = databricksSettings(env, place);
  const choice = ENGINE ?? (databricks ? 'databricks' : 'duckdb');
  if (choice !== 'duckdb' && !databricks)
    throw new StartError(`ENGINE=${choice} needs DATABRICKS_HOST, DATABRICKS_HTTP_PATH and credentials.`);
  return { choice, databricks, mostBytes: ENGINE_DUCKDB_MB * 1_048_576 };
}

function authorityOf(file: string): string {
  try {
    const pem = readFileSync(file, 'utf8');
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  } catch {
    // the sentence below says all that is known
  }
  throw new StartError(`DATABRICKS_CA_FILE names ${file}, which cannot be read as a PEM certificate.`);
}
