/** How Databricks is set up: the variables of the environment, and what they mean together. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { StartError } from '../errors.ts';

export const databricksVariables = {
  /** Of the workspace, such as `dbc-0123.cloud.databricks.com`; unset: DuckDB over the lake folder. */
  DATABRICKS_HOST: z
    .string()
    .regex(/^[A-Za-z0-9.-]+(:\d{1,5})?$/, 'it must be a host name without https:// and without a path')
    .optional(),
  DATABRICKS_HTTP_PATH: z
    .string()
    .regex(/^\/sql\/[\w./?=&-]+$/, 'it must be the HTTP path of a SQL warehouse, such as /sql/1.0/warehouses/0123456789abcdef')
    .optional(),
  /** Unity Catalog catalog in which the schema gold is. */
  DATABRICKS_CATALOG: z.string().min(1).max(255).optional(),
  /** A personal access token, or instead of it the client id and secret of a service principal. */
  DATABRICKS_TOKEN: z.string().min(1).optional(),
  DATABRICKS_CLIENT_ID: z.string().min(1).optional(),
  DATABRICKS_CLIENT_SECRET: z.string().min(1).optional(),
  /** File with the PEM of an authority that is trusted besides the usual ones, such as that of a proxy which looks inside TLS. */
  DATABRICKS_CA_FILE: z.string().min(1).optional(),
  /** Minutes between looks at what the pipeline there has made, while no upload is waited for. Each may start the warehouse. */
  DATABRICKS_LOOK_MINUTES: z.coerce.number().int().min(1).max(43_200).default(360),
};

/** A personal access token, or the client id and secret of a service principal. */
export type DatabricksCredentials = { token: string } | { clientId: string; clientSecret: string };

export interface DatabricksSettings {
  host: string;
  port: number;
  /** HTTP path of the SQL warehouse. */
  path: string;
  catalog: string;
  credentials: DatabricksCredentials;
  /** PEM. */
  authority: string | undefined;
  /** Minutes between looks at what the pipeline has made, while nothing is waited for. */
  lookMinutes: number;
}

type Variables = z.infer<z.ZodObject<typeof databricksVariables>>;

/** Undefined when nothing is set. Throws StartError with one sentence when it is half set. */
export function databricksSettings(env: Variables): DatabricksSettings | undefined {
  const { DATABRICKS_HOST: address, DATABRICKS_HTTP_PATH: path, DATABRICKS_CATALOG: catalog } = env;
  const { DATABRICKS_TOKEN: token, DATABRICKS_CLIENT_ID: clientId, DATABRICKS_CLIENT_SECRET: clientSecret } = env;
  const caFile = env.DATABRICKS_CA_FILE;
  if ([caFile, address, path, catalog, token, clientId, clientSecret].every((value) => value === undefined)) return undefined;
  if (address === undefined || path === undefined || catalog === undefined)
    throw new StartError('DATABRICKS_HOST, DATABRICKS_HTTP_PATH and DATABRICKS_CATALOG must be given together.');
  if ((clientId === undefined) !== (clientSecret === undefined))
    throw new StartError('DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET must be given together.');
  if ((token === undefined) === (clientId === undefined))
    throw new StartError('Databricks needs either DATABRICKS_TOKEN or DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET.');
  const [host = '', port = '443'] = address.split(':');
  const credentials = clientId !== undefined && clientSecret !== undefined ? { clientId, clientSecret } : { token: token ?? '' };
  const authority = caFile === undefined ? undefined : authorityOf(caFile);
  return { host, port: Number(port), path, catalog, credentials, authority, lookMinutes: env.DATABRICKS_LOOK_MINUTES };
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
