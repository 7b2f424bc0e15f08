import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';
import { StartError } from '../../src/errors.ts';

const folder = join(import.meta.dirname, '..', '..', 'sql');

/** Begins with an empty database that is made with this encoding and locale. */
async function begin(letters: string): Promise<void> {
  const server = inject('postgresUrl');
  const name = `letters_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  try {
    await admin.query(`create database ${name} template template0 ${letters}`);
    const release = await migrate({ url: server.replace('/postgres?', `/${name}?`), folder });
    await release();
  } finally {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
  }
}

test('an empty database that lacks letters, or does not know small ones of large ones, is refused with how to make one', async () => {
  await begin("encoding 'UTF8' locale_provider builtin builtin_locale 'C.UTF-8'");
  const servers = ["encoding 'SQL_ASCII' locale 'C'", "encoding 'LATIN1' locale 'C'", "encoding 'UTF8' locale_provider libc locale 'C'"];
  for (const letters of servers) {
    const beginning = begin(letters);
    await expect(beginning).rejects.toThrow(StartError);
    await expect(beginning).rejects.toThrow("template template0 encoding 'UTF8' locale_provider builtin builtin_locale 'C.UTF-8'");
  }
});
