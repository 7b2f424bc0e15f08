import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
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

const say = (text: string) => process.stdout.write(`${text}\n`);

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

/** The folder that a command names, and nothing else. */
const folderOf = (args: string[]) => resolve(needed(parseArgs({ args, allowPositionals: true }).positionals[0], 'DIR'));

async function user(db: Database, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      'first-name': { type: 'string' },
      'last-name': { type: 'string' },
      'rate-limit': { type: 'string' },
      'key-name': { type: 'string', default: 'command line' },
      days: { type: 'string' },
    },
  });
  const days = wholeNumber(values.days, '--days', 365);
  const key = {
    name: values['key-name'],
    rateLimit: wholeNumber(values['rate-limit'], '--rate-limit', 1_000_000),
    expiresAt: days === undefined ? undefined : new Date(Date.now() + days * 86_400_000),
  };
  const [verb, target] = positionals;
  if (verb === 'create') {
    const email = needed(values.email, '--email');
    const made = await createUser(db, {
      email,
      firstName: needed(values['first-name'], '--first-name'),
      lastName: needed(values['last-name'], '--last-name'),
      verified: true,
    });
    const { key: secret } = await createApiKey(db, { userId: made.id, ...key });
    say(JSON.stringify({ userId: made.id, organizationId: made.organizationId, email, apiKey: secret }, null, 2));
  } else if (verb === 'create-key') {
    const userId = await findUserByEmail(db, needed(values.email, '--email'));
    if (userId === undefined) throw new UsageError('there is no account with that address');
    say(JSON.stringify({ userId, apiKey: (await createApiKey(db, { userId, ...key })).key }, null, 2));
  } else if (verb === 'revoke-key') {
    say(JSON.stringify({ revoked: (await revokeKey(db, needed(target, 'KEY_OR_ID'))).id }));
  } else throw new UsageError('say create, create-key or revoke-key');
}

/** Loads the sample season into a server that is running, with what its `quickstart.json` says. */
async function season(dataDir: string, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rows: { type: 'string', default: String(SEASON_ROWS) } } });
  const rows = Number(values.rows);
  if (!Number.isSafeInteger(rows) || rows < 1) throw new UsageError('--rows is a whole number, 1 at least');
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

async function lake(config: Config, tools: LakeTools, args: string[]): Promise<void> {
  const options = {
    experiment: { type: 'string' },
    day: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    schema: { type: 'string', default: 'fieldlake' },
  } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const [verb] = positionals;
  const tell = (answer: unknown) => say(JSON.stringify(answer, null, 2));
  if (verb === 'status') tell(await loadLakeStatus(tools));
  else if (verb === 'compact') {
    const onFailure = (tableId: string, error: unknown) => {
      process.exitCode = 1;
      process.stderr.write(`The table ${tableId} could not be compacted: ${error instanceof Error ? error.message : String(error)}\n`);
    };
    tell(await compactTables(tools, { atLeast: 2, limit: 100_000, onFailure }));
  } else if (verb === 'verify') {
    const found = await verifyLake(tools);
    tell(found);
    if (found.problems.length > 0) process.exitCode = 1;
  } else if (verb === 'migrate') tell(await migrateLake(tools));
  else if (verb === 'replay') tell(await replayLake(tools, { ...spanOf(values), experimentId: values.experiment }));
  else if (verb === 'register') {
    const catalog = config.engines.databricks?.catalog;
    tell(
      await useDatabricks(config, (warehouse, lakeUrl) => registerTables(tools, warehouse, { catalog, schema: values.schema, lakeUrl })),
    );
  } else if (verb === 'check-databricks') {
    const findings = await useDatabricks(config, (warehouse) => checkDatabricks(tools, warehouse));
    for (const { what, holds, found } of findings)
      say(`${holds ? 'holds' : 'DOES NOT HOLD'}: ${what}${holds ? '' : `, but: ${found ?? ''}`}`);
    if (findings.some(({ holds }) => !holds)) process.exitCode = 1;
  } else throw new UsageError('say status, compact, verify, migrate, replay, register or check-databricks');
}

/** The text of a file of JSON. */
async function readText(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Imports the file of an exported project and says what was made. A file that was imported before makes nothing; what it made then is said again. With
 * `--requests` it says instead which projects people have asked for.
 */
async function importFile(tools: ImportTools, args: string[]): Promise<void> {
  const options = { owner: { type: 'string' }, requests: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  if (values.requests === true) {
    say(JSON.stringify(await listOpenRequests(tools.db), null, 2));
    return;
  }
  const text = await readText(resolve(needed(positionals[0], 'FILE')));
  const ownerId = values.owner === undefined ? undefined : await findUserByEmail(tools.db, needed(values.owner, '--owner'));
  if (values.owner !== undefined && ownerId === undefined) throw new UsageError('there is no account with that address');
  try {
    say(JSON.stringify(await importProjectFile(tools, text, ownerId), null, 2));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (ownerId === undefined && error.details.problems?.some(({ path }) => path.endsWith('/createdBy')))
      throw new UsageError('the file does not name an account of this installation for its owner: say --owner ADDRESS', { cause: error });
    if (error.code !== 'WEBHOOK_REPLAYED') throw error;
    const made = error.details.members?.['result'] ?? {};
    say(JSON.stringify({ ...made, message: 'This file was imported before.' }, null, 2));
  }
}

/** Does work that leaves jobs for the service to do, with a queue to put them in. */
async function withJobs(config: Config, db: Database, url: string, work: (tools: ImportTools) => Promise<void>): Promise<void> {
  const jobs = await openJobQueue({ url, role: APPLICATION_ROLE, onError: () => undefined });
  try {
    await work({ db, jobs, config });
  } finally {
    await jobs.stop();
  }
}

async function main([command, ...args]: string[]): Promise<void> {
  if ([command, ...args].some((word) => word === '--help' || word === '-h')) return void process.stdout.write(printUsage(command));
  // as in the service: files that are made here belong to their owner alone
  process.umask(0o077);
  const config = readConfig();
  if (config.misspelled !== undefined) process.stderr.write(`${config.misspelled}\n`);
  if (command === 'sample') return season(config.dataDir, args);
  if (command === 'restore') {
    await requireFresh(config.dataDir);
    await readBackup(folderOf(args));
  }
  const postgres = config.databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir: config.dataDir, beside: true }) : undefined;
  const url = config.databaseUrl ?? postgres?.url ?? '';
  const release = await migrate({ url, folder: `${config.root}/sql` });
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 2 });
  try {
    if (command === 'user') await user(db, args);
    else if (command === 'import') await withJobs(config, db, url, (tools) => importFile(tools, args));
    else if (command === 'lake') await useLake(config, db, (tools) => lake(config, tools, args));
    else if (command === 'backup') {
      const { madeAt, tables, lakeFiles, otherFiles, missing } = await useLakeStore(config, db, (store) =>
        makeBackup({ url, dataDir: config.dataDir, lake: store }, folderOf(args)),
      );
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      say(JSON.stringify({ madeAt, tables: tables.length, rows, lakeFiles, otherFiles, missing }, null, 2));
    } else if (command === 'restore') {
      // opening the queue makes its tables
      await (await openJobQueue({ url, role: APPLICATION_ROLE, onError: () => undefined })).stop();
      const { madeAt } = await restoreBackup({ url, dataDir: config.dataDir, db }, folderOf(args));
      say(JSON.stringify({ restored: madeAt, dataDir: config.dataDir }, null, 2));
    } else throw new UsageError(`there is no command ${command ?? ''}`);
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
