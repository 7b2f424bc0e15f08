import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { splitOrigins, checkRelyingParty, checkSharedDomain, isLoopback } from './auth/web-settings.ts';
import { StartError } from './errors.ts';
import { MAIL_ENVIRONMENT } from './mail/settings.ts';
import { measureMemory } from './memory.ts';
import { describeMisspelled } from './misspelled.ts';
import { IOT_ENVIRONMENT, readIotSettings } from './iot/settings.ts';
import { readSecret } from './storage/secret.ts';
import { S3_ENVIRONMENT, readS3Settings } from './storage/s3-settings.ts';
import { ENGINE_ENVIRONMENT, readEngineSettings } from './lakehouse/engines/settings.ts';
import { LAKE_ENVIRONMENT, readLakeSettings } from './lakehouse/tables/files/lake-settings.ts';

/** A setting that is wrong. */
export class ConfigError extends StartError {}

/** Where the API listens when nobody says otherwise. */
export const USUAL_PORT = 3_000;

const number = (least: number, most: number) => z.coerce.number().int().min(least).max(most);
const secretHex = z.string().regex(/^[0-9a-f]{64}$/i, 'it must be 64 hexadecimal digits');
const onOff = z.enum(['on', 'off']).transform((text) => text === 'on');

const repository = z.string().regex(/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/, 'it must be owner/name');

const Environment = z.object({
  /** USUAL_PORT when unset, or a free one where that is taken and no BASE_URL says where others reach us. */
  PORT: number(0, 65_535).optional(),
  HOST: z.string().min(1).default('127.0.0.1'),
  ADMIN_PORT: number(0, 65_535).default(0),
  DATA_DIR: z.string().min(1).default('.data'),
  /** Signs object URLs and codes; made once and kept in the data folder when unset. It is never in the database. */
  SECRET: secretHex.optional(),
  /** The embedded Postgres in the data folder when unset. */
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'it must begin with postgres://')
    .optional(),
  /** Where others reach us, for links; derived from HOST and PORT when unset. */
  BASE_URL: z
    .url({ protocol: /^https?$/ })
    .regex(/^[^:]+:\/\/[^/?#@]+\/?$/, 'it must be an origin such as https://field.example.org, without a path')
    .optional(),
  SAMPLE_DATA: onOff.optional(),
  WORKER: onOff.default(true),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).optional(),
  /** Where log lines go instead of standard error. */
  LOG_FILE: z.string().min(1).optional(),
  DUCKDB_THREADS: number(1, 256).optional(),
  DUCKDB_MEMORY_MB: number(128, 1_000_000).optional(),
  /** Requests that are in work at once; one sender may have half of them. */
  REQUESTS_AT_ONCE: number(2, 100_000).default(256),
  /** Megabytes of bodies that are held at once; one sender may have half of them, and no body has more than 64. */
  BODIES_MB: number(128, 1_000_000).default(512),
  LISTENERS_AT_ONCE: number(1, 100_000).default(2_000),
  CALLER_STATEMENTS: number(1, 1_000).default(4),
  ORGANIZATION_STATEMENTS: number(1, 1_000).default(8),
  /** Megabytes of answers to reads that are kept in memory for callers who ask the same; 0 keeps none. */
  RESULT_CACHE_MB: number(0, 65_536).default(64),
  ...ENGINE_ENVIRONMENT,
  /** Languages that macros run in, or `none`. */
  MACRO_LANGUAGES: z
    .string()
    .default('python,r,javascript')
    .transform((text) => (text === 'none' ? [] : text.split(',').map((word) => word.trim())))
    .pipe(z.array(z.enum(['python', 'r', 'javascript']))),
  MACRO_LEVEL: z.enum(['best', 'bubblewrap', 'embedded']).default('best'),
  /** Accepts explicitly that embedded macros run as root. */
  MACRO_ACCEPT_ROOT: onOff.default(false),
  MACRO_RUNS: number(1, 256).default(2),
  MACRO_MEMORY_MB: number(256, 65_536).default(1536),
  /** Name of the platform that projects are brought over from. */
  TRANSFER_SOURCE: z.string().min(1).max(64).default('photosynq'),
  /** Secrets that sign project imports, separated by commas. There are several while one replaces another. Without any, every call is refused. */
  WEBHOOK_SECRETS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((word) => word.trim())
        .filter((word) => word !== ''),
    )
    .pipe(z.array(z.string().regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, 'each must be whsec_ and the base64 of at least 24 random bytes'))),
  /** `on` lets webhooks call this machine, over http too; for tests and laptops, never where strangers can register one. */
  WEBHOOK_ALLOW_LOOPBACK: onOff.default(false),
  WEBHOOK_TIMEOUT_SECONDS: number(1, 30).default(10),
  WEBHOOK_RETENTION_DAYS: number(1, 365).default(30),
  STATEMENT_TIMEOUT_SECONDS: number(1, 600).default(30),
  /** A body of which fewer than a thousand bytes come in this time is given up. */
  BODY_STALL_SECONDS: number(1, 3_600).default(60),
  /** A body that is no upload has this time for all of it. */
  BODY_SECONDS: number(1, 3_600).default(60),
  ...IOT_ENVIRONMENT,
  /** GitHub repositories (owner/name) whose releases are the firmware of a family. */
  FIRMWARE_AMBYTE_REPOSITORY: repository.optional(),
  FIRMWARE_MINIPAR_REPOSITORY: repository.optional(),
  FIRMWARE_AMBIT_REPOSITORY: repository.optional(),
  FIRMWARE_GITHUB_TOKEN: z.string().min(1).optional(),
  ...S3_ENVIRONMENT,
  UPLOAD_RECORD_KIB: number(1, 16_384).default(8_192),
  ...LAKE_ENVIRONMENT,
  /** Days that older versions of a table are kept, fewer than other readers are told (delta/schema.ts). LAKE_VERSIONS is how many of a table are kept. */
  LAKE_VERSION_DAYS: number(1, 50).default(30),
  LAKE_VERSIONS: number(100, 1_000_000).default(10_000),
  UPLOAD_FILE_MIB: number(1, 65_536).default(1_024),
  /** Rows for each byte of a file that an uploaded Parquet file of more than five million rows may have. */
  UPLOAD_PARQUET_EXPANSION: number(1, 1_000_000).default(20),
  EXPORTS_PER_CALLER: number(1, 100).default(2),
  EXPORT_RETENTION_DAYS: number(1, 3_650).default(30),
  /** Gigabytes of files that one person keeps, before exports of theirs are refused. */
  EXPORTS_KEPT_GB: number(1, 1_000_000).default(20),
  ...MAIL_ENVIRONMENT,
  /** Origins of web clients, separated by commas, besides our own. */
  TRUSTED_ORIGINS: z.string().default(''),
  /** Number of our own proxies between the internet and this process; only that many hops of X-Forwarded-For are believed. */
  TRUST_PROXY_HOPS: number(0, 10).default(0),
  /** Domain that passkeys belong to: the host of BASE_URL or a parent of it; the host that people reach us at when unset. */
  RP_ID: z.string().min(1).optional(),
  /** Domain that the API and its web pages share, such as example.org; unset: cookies stay with the host of the API. */
  COOKIE_DOMAIN: z
    .string()
    .regex(/^\.?([a-z0-9-]+\.)+[a-z0-9-]+$/i)
    .optional(),
  /** Codes asked for, and codes tried, per minute and place. */
  SIGN_INS_PER_MINUTE: number(1, 1_000_000).default(20),
  GITHUB_CLIENT_ID: z.string().min(1).optional(),
  GITHUB_CLIENT_SECRET: z.string().min(1).optional(),
  GITHUB_URL: z.url({ protocol: /^https?$/ }).default('https://github.com'),
  GITHUB_API_URL: z.url({ protocol: /^https?$/ }).default('https://api.github.com'),
  ORCID_CLIENT_ID: z.string().min(1).optional(),
  ORCID_CLIENT_SECRET: z.string().min(1).optional(),
  ORCID_URL: z.url({ protocol: /^https?$/ }).default('https://orcid.org'),
  ORCID_API_URL: z.url({ protocol: /^https?$/ }).default('https://pub.orcid.org/v3.0'),
  /** A Photon or Nominatim server; the GeoNames data in the package when unset. */
  PLACES_URL: z.url({ protocol: /^https?$/ }).optional(),
  PLACES_KIND: z.enum(['photon', 'nominatim']).default('photon'),
});

const withoutSlash = (url: string) => url.replace(/\/$/, '');

/** `url`: where people sign in. `apiUrl`: where their public facts are read. */
function provider(name: string, id: string | undefined, secret: string | undefined, urls: { url: string; apiUrl: string }) {
  if (id === undefined && secret === undefined) return undefined;
  for (const url of [urls.url, urls.apiUrl])
    if (url.startsWith('http:') && !isLoopback(new URL(url).hostname))
      throw new ConfigError(`${name}_URL and ${name}_API_URL must be https; only a loopback address may be http.`);
  if (id === undefined || secret === undefined)
    throw new ConfigError(`${name}_CLIENT_ID and ${name}_CLIENT_SECRET must be given together.`);
  return { clientId: id, clientSecret: secret, url: withoutSlash(urls.url), apiUrl: withoutSlash(urls.apiUrl) };
}

/** Where sql/ and pipelines/ are. */
function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** Says what a setting must be, where its rule has no words of its own. */
function printIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `it must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_type') return 'it must be a whole number';
  if (issue.code === 'too_big' && issue.origin === 'number') return `it must be at most ${String(issue.maximum)}`;
  if (issue.code === 'too_small' && issue.origin === 'number') return `it must be at least ${String(issue.minimum)}`;
  if (issue.code === 'invalid_format' && issue.message === 'Invalid URL') return 'it must be a URL such as https://field.example.org';
  return issue.message;
}

const quarterOfMemoryMb = () => Math.max(512, Math.floor(measureMemory() / 1_048_576 / 4));

/** The settings. `misspelled`: one sentence on variables that look like settings and are none. */
export type Config = Readonly<ReturnType<typeof settle> & { misspelled: string | undefined }>;

/** Reads the environment, once. Throws StartError with one sentence when a setting is wrong or half given, and one more where a name may be misspelled. */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const misspelled = describeMisspelled(Object.keys(given), Object.keys(Environment.shape));
  try {
    return Object.freeze({ misspelled, ...settle(given) });
  } catch (error) {
    if (misspelled === undefined || !(error instanceof StartError)) throw error;
    throw new ConfigError(`${error.message} ${misspelled}`, { cause: error });
  }
}

function settle(given: Readonly<Record<string, string | undefined>>) {
  // files of settings that no shell reads keep quotes and the ends of Windows' lines: DATA_DIR would be another folder
  const wrapped = Object.keys(Environment.shape).find((name) => /^\s|\s$|^(["']).*\1$/.test(given[name] ?? ''));
  if (wrapped !== undefined)
    throw new ConfigError(`${wrapped} is not valid: it begins or ends with a blank or the end of a line, or stands in quotes.`);
  const parsed = Environment.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConfigError(`${String(issue?.path[0])} is not valid: ${issue === undefined ? 'wrong value' : printIssue(issue)}.`);
  }
  const env = parsed.data;
  const dataDir = resolve(env.DATA_DIR);
  const baseUrl = env.BASE_URL?.replace(/\/$/, '');
  const trustedOrigins = splitOrigins(env.TRUSTED_ORIGINS);
  const cookieDomain = checkSharedDomain(env.COOKIE_DOMAIN, baseUrl);
  const lake = readLakeSettings(env, env.S3_BUCKET);
  return {
    root: packageRoot(),
    port: env.PORT,
    host: env.HOST,
    adminPort: env.ADMIN_PORT,
    dataDir,
    databaseUrl: env.DATABASE_URL,
    baseUrl,
    // somebody else's Postgres gets sample people only when asked for
    sampleData: env.SAMPLE_DATA ?? env.DATABASE_URL === undefined,
    worker: env.WORKER,
    logLevel: env.LOG_LEVEL ?? (process.stderr.isTTY && env.LOG_FILE === undefined ? 'warn' : 'info'),
    logFile: env.LOG_FILE,
    duckdb: { threads: env.DUCKDB_THREADS ?? availableParallelism(), memoryMb: env.DUCKDB_MEMORY_MB ?? quarterOfMemoryMb() },
    // undefined: the object folder
    s3: readS3Settings(env),
    engines: readEngineSettings(env, lake.place),
    iot: readIotSettings(env),
    firmware: {
      apiUrl: withoutSlash(env.GITHUB_API_URL),
      token: env.FIRMWARE_GITHUB_TOKEN,
      repositories: {
        ambyte: env.FIRMWARE_AMBYTE_REPOSITORY,
        minipar: env.FIRMWARE_MINIPAR_REPOSITORY,
        ambit: env.FIRMWARE_AMBIT_REPOSITORY,
      },
    },
    mail: { smtpUrl: env.SMTP_URL, from: env.MAIL_FROM },
    web: {
      trustedOrigins,
      trustProxyHops: env.TRUST_PROXY_HOPS,
      rpId: checkRelyingParty(env.RP_ID ?? cookieDomain, baseUrl, trustedOrigins),
      cookieDomain,
      signInsPerMinute: env.SIGN_INS_PER_MINUTE,
    },
    providers: {
      github: provider('GITHUB', env.GITHUB_CLIENT_ID, env.GITHUB_CLIENT_SECRET, { url: env.GITHUB_URL, apiUrl: env.GITHUB_API_URL }),
      orcid: provider('ORCID', env.ORCID_CLIENT_ID, env.ORCID_CLIENT_SECRET, { url: env.ORCID_URL, apiUrl: env.ORCID_API_URL }),
    },
    limits: {
      requestsAtOnce: env.REQUESTS_AT_ONCE,
      bodiesMegabytes: env.BODIES_MB,
      listenersAtOnce: env.LISTENERS_AT_ONCE,
      callerStatements: env.CALLER_STATEMENTS,
      organizationStatements: env.ORGANIZATION_STATEMENTS,
      statementTimeoutMs: env.STATEMENT_TIMEOUT_SECONDS * 1000,
      uploadRecordBytes: env.UPLOAD_RECORD_KIB * 1024,
      bodyStallMs: env.BODY_STALL_SECONDS * 1000,
      bodyMs: env.BODY_SECONDS * 1000,
      parquetExpansion: env.UPLOAD_PARQUET_EXPANSION,
      uploadFileBytes: env.UPLOAD_FILE_MIB * 1_048_576,
      cacheBytes: env.RESULT_CACHE_MB * 1_048_576,
    },
    macros: {
      languages: env.MACRO_LANGUAGES,
      level: env.MACRO_LEVEL,
      acceptRoot: env.MACRO_ACCEPT_ROOT,
      running: env.MACRO_RUNS,
      memoryMb: env.MACRO_MEMORY_MB,
    },
    transferSource: env.TRANSFER_SOURCE,
    webhookSecrets: env.WEBHOOK_SECRETS,
    webhooks: {
      allowLoopback: env.WEBHOOK_ALLOW_LOOPBACK,
      timeoutMs: env.WEBHOOK_TIMEOUT_SECONDS * 1000,
      keepDays: env.WEBHOOK_RETENTION_DAYS,
    },
    places: env.PLACES_URL === undefined ? undefined : { url: env.PLACES_URL.replace(/\/$/, ''), kind: env.PLACES_KIND },
    exports: { perCaller: env.EXPORTS_PER_CALLER, keepDays: env.EXPORT_RETENTION_DAYS, keptGigabytes: env.EXPORTS_KEPT_GB },
    lake,
    versions: { days: env.LAKE_VERSION_DAYS, most: env.LAKE_VERSIONS },
    secret: readSecret(dataDir, env.SECRET),
  };
}
