import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFreePort } from '../support/free-port.ts';
import { failing, sharedSite, spawnServer } from '../support/process.ts';

/** PgBouncer does not run as root. */
const PREFIX = process.getuid?.() === 0 ? ['unshare', '--user', '--map-user=1000', '--map-group=1000'] : [];

async function connects(port: number): Promise<boolean> {
  const socket = createConnection({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Starts PgBouncer, of the Debian package, in front of a database; it drops what it does not know of a session, as is usual. */
async function startPooler(databaseUrl: string, mode: 'transaction' | 'session') {
  const [, name = '', socket = ''] = /\/([^/?]+)\?host=(.+)$/.exec(databaseUrl) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-pooler-'));
  const port = await findFreePort();
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${name} = host=${decodeURIComponent(socket)} port=5432 user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
ignore_startup_parameters = options
`,
  );
  const child = spawn('env', [...PREFIX, '/usr/sbin/pgbouncer', join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
  await expect.poll(() => connects(port), { timeout: 10_000 }).toBe(true);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/${name}`,
    stop: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGINT');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

test.each(['transaction', 'session'] as const)('a start over a pooler in %s mode is refused in one sentence', async (mode) => {
  const site = await sharedSite();
  const pooler = await startPooler(site.database.url, mode);
  try {
    await (await spawnServer(site.environment)).kill('SIGTERM');
    const refused = await failing({ ...site.environment, DATABASE_URL: pooler.url, SAMPLE_DATA: 'off', MACRO_LANGUAGES: 'none' });
    expect(refused).toMatchObject({ code: 1, text: expect.stringMatching(/^fieldlake cannot start: .*pooler.*\n$/) });
    // nothing is left in the pooler that a start would wait for
    await (await spawnServer(site.environment)).kill('SIGTERM');
  } finally {
    await pooler.stop();
    await site.remove();
  }
});
