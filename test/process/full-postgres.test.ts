import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { makePerson } from '../support/cast.ts';
import { ask } from '../support/faulted.ts';
import { sharedSite, spawnServer } from '../support/process.ts';

/** Takes all the room of a file system. */
function fill(path: string): void {
  for (const bytes of [1_048_576, 4_096])
    for (;;)
      try {
        appendFileSync(path, Buffer.alloc(bytes));
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
        break;
      }
}

test.runIf(process.getuid?.() === 0)('a Postgres whose disk is full is said so, and written again once there is room', async () => {
  const site = await sharedSite();
  const mounted = mkdtempSync(join(tmpdir(), 'fieldlake-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=700', 'tmpfs', mounted]);
  const admin = new pg.Client({ connectionString: site.database.url });
  await admin.connect();
  const space = `small_${process.pid}`;
  const server = await spawnServer(site.environment);
  try {
    const owner = await makePerson(site.database.db, 'owner');
    const body = { name: 'Full', description: 'x'.repeat(1_000) };
    const create = () => ask(server.baseUrl, { name: 'create', method: 'POST', path: '/api/v1/experiments', body, person: owner });
    await admin.query(`create tablespace ${space} location '${mounted}'`);
    await admin.query(`alter table resources set tablespace ${space}`);
    await admin.query(`alter table experiments set tablespace ${space}`);
    expect((await create()).status).toBe(201);
    fill(join(mounted, 'ballast'));
    let answer = await create();
    for (let tries = 0; tries < 200 && answer.status === 201; tries += 1) answer = await create();
    expect([answer.status, answer.body.code]).toEqual([503, 'STORAGE_FULL']);
    expect(answer.headers.get('retry-after')).toBe('60');
    rmSync(join(mounted, 'ballast'));
    expect((await create()).status).toBe(201);
  } finally {
    await server.kill('SIGTERM');
    await admin.end();
    await site.remove();
    const last = new pg.Client({ connectionString: site.database.url.replace(/\/test_[^?]+\?/, '/postgres?') });
    await last.connect();
    await last.query(`drop tablespace if exists ${space}`).finally(() => last.end());
    execFileSync('umount', [mounted]);
    rmSync(mounted, { recursive: true });
  }
});
