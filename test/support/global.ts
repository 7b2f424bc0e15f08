import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/database/embedded.ts';
import { migrate } from '../../src/database/migrate.ts';
import { forgetSecrets, searchLogs } from './canaries.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

const ROOT = join(import.meta.dirname, '..', '..');

/** One real Postgres for the whole run, with a migrated template that every test file clones. */
export default async function setup(project: TestProject) {
  forgetSecrets();
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-test-'));
  const postgres = await startEmbeddedPostgres({
    dataDir: folder,
    settings: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '300' },
  });
  const admin = new pg.Client({ connectionString: postgres.urlOf('postgres') });
  await admin.connect();
  await admin.query('create database template_fieldlake');
  await admin.end();
  await migrate({ url: postgres.urlOf('template_fieldlake'), folder: join(ROOT, 'sql') });
  project.provide('postgresUrl', postgres.urlOf('postgres'));
  return async () => {
    const searched = searchLogs();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
    process.stdout.write(`${searched.secrets} secrets searched in ${searched.lines} log lines: ${searched.leaks.length} found\n`);
    if (searched.leaks.length > 0) throw new Error(`a secret stands in the log:\n${searched.leaks.join('\n')}`);
  };
}
