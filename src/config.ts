import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';

/** A setting that is wrong; its message is the one sentence that is printed before the process ends. */
export class ConfigError extends Error {}

const number = (least: number, most: number) => z.coerce.number().int().min(least).max(most);
const onOff = z.enum(['on', 'off']).transform((text) => text === 'on');

const Environment = z.object({
  PORT: number(0, 65_535).default(3000),
  HOST: z.string().min(1).default('127.0.0.1'),
  ADMIN_PORT: number(0, 65_535).default(0),
  DATA_DIR: z.string().min(1).default('.data'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'it must begin with postgres://')
    .optional(),
  /** Where others reach us, for links; derived from HOST and PORT when unset. */
  BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  SAMPLE_DATA: onOff.optional(),
  WORKER: onOff.default(true),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
  DUCKDB_THREADS: number(1, 256).optional(),
  DUCKDB_MEMORY_MB: number(128, 1_000_000).optional(),
  CALLER_STATEMENTS: number(1, 1_000).default(4),
  ORGANIZATION_STATEMENTS: number(1, 1_000).default(8),
  STATEMENT_TIMEOUT_SECONDS: number(1, 600).default(30),
  /** A Photon or Nominatim server; the GeoNames data in the package when unset. */
  PLACES_URL: z.url({ protocol: /^https?$/ }).optional(),
  PLACES_KIND: z.enum(['photon', 'nominatim']).default('photon'),
});

/** Settings of engines that are not built in yet: naming one must stop the start rather than be ignored. */
const NOT_YET: readonly { prefix: RegExp; sentence: string }[] = [
  { prefix: /^S3_/, sentence: 'storing objects in S3 is not available in this version; unset the S3_ variables to use the object folder.' },
  { prefix: /^DATABRICKS_/, sentence: 'Databricks is not available in this version; unset the DATABRICKS_ variables to use DuckDB.' },
];

export interface Config {
  /** Folder of package.json: where sql/ and pipelines/ are. */
  root: string;
  port: number;
  host: string;
  adminPort: number;
  dataDir: string;
  /** Undefined: the embedded Postgres in the data folder. */
  databaseUrl: string | undefined;
  baseUrl: string | undefined;
  sampleData: boolean;
  worker: boolean;
  logLevel: string;
  duckdb: { threads: number; memoryMb: number };
  limits: { callerStatements: number; organizationStatements: number; statementTimeoutMs: number };
  /** Undefined: the embedded places. */
  places: { url: string; kind: 'photon' | 'nominatim' } | undefined;
  /** Signs object URLs and codes; made once, kept in the data folder, never in the database. */
  secret: Buffer;
}

function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

function readSecret(dataDir: string): Buffer {
  const file = join(dataDir, 'secret');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return Buffer.from(readFileSync(file, 'utf8').trim(), 'hex');
}

const halfOfMemoryMb = () => Math.max(512, Math.floor(totalmem() / 1_048_576 / 4));

/** Reads the environment, once. Throws ConfigError with one sentence when a setting is wrong or half given. */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  for (const name of Object.keys(environment))
    for (const { prefix, sentence } of NOT_YET) if (prefix.test(name)) throw new ConfigError(`${name} is set, but ${sentence}`);
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = Environment.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigError(`${String(issue?.path[0])} is not valid: ${issue?.message ?? 'wrong value'}.`);
  }
  const env = parsed.data;
  const dataDir = resolve(env.DATA_DIR);
  return Object.freeze({
    root: packageRoot(),
    port: env.PORT,
    host: env.HOST,
    adminPort: env.ADMIN_PORT,
    dataDir,
    databaseUrl: env.DATABASE_URL,
    baseUrl: env.BASE_URL?.replace(/\/$/, ''),
    // somebody else's Postgres gets sample people only when asked for
    sampleData: env.SAMPLE_DATA ?? env.DATABASE_URL === undefined,
    worker: env.WORKER,
    logLevel: env.LOG_LEVEL,
    duckdb: { threads: env.DUCKDB_THREADS ?? availableParallelism(), memoryMb: env.DUCKDB_MEMORY_MB ?? halfOfMemoryMb() },
    limits: {
      callerStatements: env.CALLER_STATEMENTS,
      organizationStatements: env.ORGANIZATION_STATEMENTS,
      statementTimeoutMs: env.STATEMENT_TIMEOUT_SECONDS * 1000,
    },
    places: env.PLACES_URL === undefined ? undefined : { url: env.PLACES_URL.replace(/\/$/, ''), kind: env.PLACES_KIND },
    secret: readSecret(dataDir),
  });
}
