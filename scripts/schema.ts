// Writes sql/schema.sql from the catalogue of a database that was migrated just now, so that it never depends on anybody's data folder.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/database/database.ts';
import { startEmbeddedPostgres } from '../src/database/embedded.ts';
import { migrate } from '../src/database/migrate.ts';
import { printSchema } from './schema.queries.ts';

const root = join(import.meta.dirname, '..');
const dataDir = mkdtempSync(join(tmpdir(), 'fieldlake-schema-'));
const postgres = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
try {
  const release = await migrate({ url: postgres.url, folder: join(root, 'sql') });
  await release();
  const db = openDatabase({ url: postgres.url, max: 1 });
  writeFileSync(
    join(root, 'sql', 'schema.sql'),
    `-- Printed from the catalogue by npm run db:schema; do not edit.\n${await printSchema(db)}\n`,
  );
  await db.close();
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
