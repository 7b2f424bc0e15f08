import { hash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/database/embedded.ts';
import { migrate } from '../../src/database/migrate.ts';
import { forgetSecrets, searchLogs } from './canaries.ts';
import { keepOnly } from './kept-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

const ROOT = join(import.meta.dirname, '..', '..');
const KEPT = join(ROOT, 'build', 'test-postgres');
const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '300' };

/** Names the cluster that these migrations, views and binaries make. */
function nameOfCluster(): string {
  const sql = join(ROOT, 'sql');
  const texts = readdirSync(sql, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => [name, readFileSync(join(sql, name), 'utf8')]);
  const made = ['package-lock.json', 'src/database/embedded.ts', 'src/database/migrate.ts', 'test/support/global.ts'].map((path) =>
    readFileSync(join(ROOT, path), 'utf8'),
  );
  return hash('sha256', JSON.stringify([made, texts])).slice(0, 16);
}

/** Makes a cluster with the migrated template in a data folder, and leaves it stopped. */
async function makeCluster(dataDir: string): Promise<void> {
  const postgres = await startEmbeddedPostgres({ dataDir, settings });
  const admin = new pg.Client({ connectionString: postgres.urlOf('postgres') });
  await admin.connect();
  await admin.query('create database template_fieldlake');
  await admin.end();
  const release = await migrate({ url: postgres.urlOf('template_fieldlake'), folder: join(ROOT, 'sql') });
  await release();
  await postgres.stop();
}

/** Fills a data folder with the migrated cluster: a copy of the one kept, which is made anew when a migration has changed. */
async function fillDataFolder(dataDir: string): Promise<void> {
  const kept = join(KEPT, nameOfCluster());
  if (existsSync(kept)) {
    cpSync(kept, join(dataDir, 'postgres'), { recursive: true });
    return;
  }
  await makeCluster(dataDir);
  // run by root without user namespaces, a cluster lies elsewhere and belongs to another account: it is not kept
  if (!existsSync(join(dataDir, 'postgres'))) return;
  const begun = join(KEPT, `begun-${process.pid}`);
  mkdirSync(KEPT, { recursive: true });
  cpSync(join(dataDir, 'postgres'), begun, { recursive: true });
  keepOnly(begun, kept);
}

/** One real Postgres for the whole run, with a migrated template that every test file clones. */
export default async function setup(project: TestProject) {
  forgetSecrets();
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-test-'));
  await fillDataFolder(folder);
  const postgres = await startEmbeddedPostgres({ dataDir: folder, settings });
  project.provide('postgresUrl', postgres.urlOf('postgres'));
  return async () => {
    const searched = searchLogs();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
    process.stdout.write(`${searched.secrets} secrets searched in ${searched.lines} log lines: ${searched.leaks.length} found\n`);
    if (searched.leaks.length > 0) throw new Error(`a secret stands in the log:\n${searched.leaks.join('\n')}`);
  };
}
