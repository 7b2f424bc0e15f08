import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { createUser, findUserByEmail } from './api/account/account.service.ts';
import { makeBackup, readBackup, requireFresh, restoreBackup } from './operator/backup.service.ts';
import { createApiKey, revokeKey } from './api/credentials/credentials.service.ts';
import { importProjectFile, type ImportTools } from './api/imports/imports.service.ts';
import { listOpenRequests } from './api/imports/requests.service.ts';
import { readQuickstart } from './operator/sample/sample.service.ts';
import { loadSeason, SEASON_ROWS } from './operator/sample/season.service.ts';
import { compactTables } from './api/data/compaction.service.ts';
import { checkDatabricks, registerTables } from './operator/databricks.service.ts';
import { loadLakeStatus, migrateLake, replayLake, verifyLake, type LakeTools } from './operator/lake.service.ts';
import { readConfig, type Config } from './config.ts';
import { openDatabase, type Database } from './database/database.ts';
import { startEmbeddedPostgres } from './database/embedded.ts';
import { APPLICATION_ROLE, migrate } from './database/migrate.ts';
import { ApiError, StartError } from './errors.ts';
import { openJobQueue } from './jobs/queue.ts';
import { useDatabricks, useLake, useLakeStore } from './with-lake.ts';

const USAGE = `\
  npm run user -- create --email ADDRESS --first-name NAME --last-name NAME [--rate-limit N] [--key-name NAME] [--days N]
  npm run user -- create-key --email ADDRESS [--rate-limit N] [--key-name NAME] [--days N]
                                      (requests a minute, 100 unless said; days that the key lives, for ever unless said)
  npm run user -- revoke-key KEY_OR_ID
  npm run sample -- [--rows N]        (the server must be running)
  npm run lake -- status
  npm run lake -- compact
  npm run lake -- verify
  npm run lake -- migrate             (a lake of before tables had logs, or one that LAKE or S3_BUCKET want elsewhere; no server runs then)
  npm run lake -- register [--schema NAME]   (names for the tables in DATABRICKS_CATALOG)
  npm run lake -- check-databricks
  npm run lake -- replay [--experiment ID] (--day YYYY-MM-DD | --from TIME --to TIME)
  npm run import -- FILE [--owner ADDRESS]
  npm run import -- --requests        (which projects people wait for)
  npm run backup -- DIR               (beside a running server)
  npm run restore -- DIR              (into an empty DATA_DIR)
`;

/** The lines of a command, or of all where there is none of that name. */
function printUsage(command = ''): string {
  const entries = USAGE.split(/^(?=  npm)/m).filter((entry) => entry.startsWith(`  npm run ${command} `));
  return `usage:\n${entries.length === 0 ? USAGE : entries.join('')}`;
}

class UsageError extends Error {}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const tell = (answer: unknown) => say(JSON.stringify(answer, null, 2));

function needed(value: string | undefined, name: string): string {
  if (value === undefined || value.trim() === '') throw new UsageError(`${name} is missing`);
  return value.trim();
}

/** The number of an option that may be left out. */
function wholeNumber(value: string | undefined, name: string, most: number): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > most)
    throw new UsageError(`${name} is a whole number from 1 to ${most.toLocaleString('en')}`);
  return number;
}

/** What a command was given: options, and `most` words at most. */
function readArguments<O extends ParseArgsOptionsConfig>(args: string[], most: number, options: O) {
  const read = parseArgs({ args, allowPositionals: true, options });
  const extra = read.positionals[most];
  if (extra !== undefined) throw new UsageError(`'${extra}' is one word too many`);
  return read;
}

/** The folder that a command names, and nothing else. */
const folderOf = (args: string[]) => resolve(needed(readArguments(args, 1, {}).positionals[0], 'DIR'));

interface Site {
  config: Config;
  db: Database;
  url: string;
}

/** A command whose arguments were read, and are good. */
type Work = (site: Site) => Promise<void>;

const KEY_OPTIONS = {
  email: { type: 'string' },
  'rate-limit': { type: 'string' },
  'key-name': { type: 'string', default: 'command line' },
  days: { type: 'string' },
} as const;

/** What the options of a key ask for. */
function keyOf(values: { 'key-name': string; 'rate-limit'?: string; days?: string }) {
  const days = wholeNumber(values.days, '--days', 365);
  return {
    name: values['key-name'],
    rateLimit: wholeNumber(values['rate-limit'], '--rate-limit', 1_000_000),
    expiresAt: days === undefined ? undefined : new Date(Date.now() + days * 86_400_000),
  };
}

function planUser([verb, ...args]: string[]): Work {
  if (verb === 'create') {
    const { values } = readArguments(args, 0, { ...KEY_OPTIONS, 'first-name': { type: 'string' }, 'last-name': { type: 'string' } });
    const key = keyOf(values);
    const email = needed(values.email, '--email');
    const firstName = needed(values['first-name'], '--first-name');
    const lastName = needed(values['last-name'], '--last-name');
    return async ({ db }) => {
      const made = await createUser(db, { email, firstName, lastName, verified: true });
      const { key: apiKey } = await createApiKey(db, { userId: made.id, ...key });
      tell({ userId: made.id, organizationId: made.organizationId, email, apiKey });
    };
  }
  if (verb === 'create-key') {
    const { values } = readArguments(args, 0, KEY_OPTIONS);
    const key = keyOf(values);
    const email = needed(values.email, '--email');
    return async ({ db }) => {
      const userId = await findUserByEmail(db, email);
      if (userId === undefined) throw new UsageError('there is no account with that address');
      tell({ userId, apiKey: (await createApiKey(db, { userId, ...key })).key });
    };
  }
  if (verb !== 'revoke-key') throw new UsageError('say create, create-key or revoke-key');
  const target = needed(readArguments(args, 1, {}).positionals[0], 'KEY_OR_ID');
  return async ({ db }) => say(JSON.stringify({ revoked: (await revokeKey(db, target)).id }));
}

/** How many measurements the sample is to have. */
function rowsOf(args: string[]): number {
  const rows = Number(readArguments(args, 0, { rows: { type: 'string', default: String(SEASON_ROWS) } }).values.rows);
  if (!Number.isSafeInteger(rows) || rows < 1) throw new UsageError('--rows is a whole number, 1 at least');
  return rows;
}

/** Loads the sample season into a server that is running, with what its `quickstart.json` says. */
async function season(dataDir: string, rows: number): Promise<void> {
  const quickstart = readQuickstart(dataDir);
  if (quickstart === undefined)
    throw new UsageError('there is no quickstart.json in the data folder: start the server with SAMPLE_DATA=on first');
  await loadSeason(quickstart, { rows, say });
  say(`The sample has ${rows.toLocaleString('en')} measurements or more.`);
}

/** The span of a replay: a day in UTC, or from one time to another. */
function spanOf({ day, from, to }: { day?: string; from?: string; to?: string }): { from: string; to: string } {
  const start = Date.parse(day === undefined ? needed(from, '--from') : `${day}T00:00:00Z`);
  const end = day === undefined ? Date.parse(needed(to, '--to')) : start + 86_400_000;
  if (Number.isNaN(start) || Number.isNaN(end) || start >= end)
    throw new UsageError('--day is YYYY-MM-DD; --from and --to are times, the first before the second');
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

/** What each command of the lake does. */
function planLakeWork([verb, ...args]: string[]): (config: Config, tools: LakeTools) => Promise<void> {
  const text = { type: 'string' } as const;
  if (verb === 'replay') {
    const { values } = readArguments(args, 0, { experiment: text, day: text, from: text, to: text });
    const span = spanOf(values);
    return async (_config, tools) => tell(await replayLake(tools, { ...span, experimentId: values.experiment }));
  }
  if (verb === 'register') {
    const { schema } = readArguments(args, 0, { schema: { ...text, default: 'fieldlake' } }).values;
    return async (config, tools) => {
      const catalog = config.engines.databricks?.catalog;
      tell(await useDatabricks(config, (warehouse, lakeUrl) => registerTables(tools, warehouse, { catalog, schema, lakeUrl })));
    };
  }
  readArguments(args, 0, {});
  if (verb === 'status') return async (_config, tools) => tell(await loadLakeStatus(tools));
  if (verb === 'migrate') return async (_config, tools) => tell(await migrateLake(tools));
  if (verb === 'compact') {
    const onFailure = (tableId: string, error: unknown) => {
      process.exitCode = 1;
      process.stderr.write(`The table ${tableId} could not be compacted: ${error instanceof Error ? error.message : String(error)}\n`);
    };
    return async (_config, tools) => tell(await compactTables(tools, { atLeast: 2, limit: 100_000, onFailure }));
  }
  if (verb === 'verify')
    return async (_config, tools) => {
      const found = await verifyLake(tools);
      tell(found);
      if (found.problems.length > 0) process.exitCode = 1;
    };
  if (verb === 'check-databricks')
    return async (config, tools) => {
      const findings = await useDatabricks(config, (warehouse) => checkDatabricks(tools, warehouse));
      for (const { what, holds, found } of findings)
        say(`${holds ? 'holds' : 'DOES NOT HOLD'}: ${what}${holds ? '' : `, but: ${found ?? ''}`}`);
      if (findings.some(({ holds }) => !holds)) process.exitCode = 1;
    };
  throw new UsageError('say status, compact, verify, migrate, replay, register or check-databricks');
}

function planLake(args: string[]): Work {
  const work = planLakeWork(args);
  return ({ config, db }) => useLake(config, db, (tools) => work(config, tools));
}

/** The text of a file of JSON. */
async function readText(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Does work that leaves jobs for the service to do, with a queue to put them in. */
async function withJobs({ config, db, url }: Site, work: (tools: ImportTools) => Promise<void>): Promise<void> {
  const jobs = await openJobQueue({ url, role: APPLICATION_ROLE, onError: () => undefined });
  try {
    await work({ db, jobs, config });
  } finally {
    await jobs.stop();
  }
}

/** Imports the file of an exported project and says what was made. A file that was imported before makes nothing; what it made then is said again. */
async function importFile(tools: ImportTools, text: string, owner: string | undefined): Promise<void> {
  const ownerId = owner === undefined ? undefined : await findUserByEmail(tools.db, owner);
  if (owner !== undefined && ownerId === undefined) throw new UsageError('there is no account with that address');
  try {
    tell(await importProjectFile(tools, text, ownerId));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (ownerId === undefined && error.details.problems?.some(({ path }) => path.endsWith('/createdBy')))
      throw new UsageError('the file does not name an account of this installation for its owner: say --owner ADDRESS', { cause: error });
    if (error.code !== 'WEBHOOK_REPLAYED') throw error;
    const made = error.details.members?.['result'] ?? {};
    tell({ ...made, message: 'This file was imported before.' });
  }
}

/** An import; with `--requests` it says instead which projects people have asked for. */
async function planImport(args: string[]): Promise<Work> {
  const { values, positionals } = readArguments(args, 1, { owner: { type: 'string' }, requests: { type: 'boolean' } });
  if (values.requests === true) return async ({ db }) => tell(await listOpenRequests(db));
  const owner = values.owner === undefined ? undefined : needed(values.owner, '--owner');
  const text = await readText(resolve(needed(positionals[0], 'FILE')));
  return (site) => withJobs(site, (tools) => importFile(tools, text, owner));
}

function planBackup(args: string[]): Work {
  const folder = folderOf(args);
  return ({ config, db, url }) =>
    useLakeStore(config, db, async (lake) => {
      const { madeAt, tables, lakeFiles, otherFiles, missing } = await makeBackup({ url, dataDir: config.dataDir, lake }, folder);
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      tell({ madeAt, tables: tables.length, rows, lakeFiles, otherFiles, missing });
    });
}

async function planRestore(args: string[]): Promise<Work> {
  const folder = folderOf(args);
  await readBackup(folder);
  return async ({ config: { dataDir }, db, url }) => {
    // opening the queue makes its tables
    await (await openJobQueue({ url, role: APPLICATION_ROLE, onError: () => undefined })).stop();
    const { madeAt } = await restoreBackup({ url, dataDir, db }, folder);
    tell({ restored: madeAt, dataDir });
  };
}

/** What a command will do once it has a database. */
async function plan(command: string | undefined, args: string[]): Promise<Work> {
  if (command === 'user') return planUser(args);
  if (command === 'import') return planImport(args);
  if (command === 'lake') return planLake(args);
  if (command === 'backup') return planBackup(args);
  if (command === 'restore') return planRestore(args);
  throw new UsageError(`there is no command ${command ?? ''}`);
}

async function main([command, ...args]: string[]): Promise<void> {
  if ([command, ...args].some((word) => word === '--help' || word === '-h')) return void process.stdout.write(printUsage(command));
  // as in the service: files that are made here belong to their owner alone
  process.umask(0o077);
  // settings make a data folder and the database more of it, so words are read first
  const work = command === 'sample' ? rowsOf(args) : await plan(command, args);
  const config = readConfig();
  if (config.misspelled !== undefined) process.stderr.write(`${config.misspelled}\n`);
  if (typeof work === 'number') return season(config.dataDir, work);
  if (command === 'restore') await requireFresh(config.dataDir);
  const postgres = config.databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir: config.dataDir, beside: true }) : undefined;
  const url = config.databaseUrl ?? postgres?.url ?? '';
  const onOvertaken = ({ message }: StartError) => {
    process.stderr.write(`${message}\n`);
    process.exit(1);
  };
  const release = await migrate({ url, folder: `${config.root}/sql`, onOvertaken });
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 2 });
  try {
    await work({ config, db, url });
  } finally {
    await db.close();
    await release();
    await postgres?.stop();
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  // parseArgs throws such a TypeError for an option that it does not know
  const misused =
    error instanceof UsageError || (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  const expected = misused || error instanceof StartError || error instanceof ApiError;
  const detail =
    error instanceof ApiError ? (error.details.problems ?? []).map(({ path, message }) => `${path}: ${message}`).join('; ') : '';
  process.stderr.write(
    expected
      ? `${[error.message, detail].join(' ').trim()}\n${misused ? printUsage(process.argv[2]) : ''}`
      : `${error instanceof Error ? (error.stack ?? '') : String(error)}\n`,
  );
  process.exitCode = 1;
});
