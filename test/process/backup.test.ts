import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { snapshotAt, versionsIn } from '../lakehouse/log-reader.ts';
import { filesOf, tablesOf } from '../support/backups.ts';
import { listen } from '../support/listeners.ts';
import { makePerson, type Person } from '../support/cast.ts';
import { runCommand } from '../support/command.ts';
import { eventually, getJson } from '../support/crashes.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let owner: Person;
let experimentId: string;
let target: TestDatabase;
const folder = mkdtempSync(join(tmpdir(), 'fieldlake-backup-'));

beforeAll(async () => {
  site = await sharedSite();
  target = await cloneDatabase();
  server = await spawnServer({ ...site.environment, MACRO_LANGUAGES: 'javascript' });
  owner = await makePerson(site.database.db, 'owner');
  const response = await fetch(`${server.baseUrl}/api/v1/experiments`, {
    method: 'POST',
    headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Kept' }),
  });
  experimentId = ((await response.json()) as { id: string }).id;
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await target.drop();
  await site.remove();
  rmSync(folder, { recursive: true, force: true });
});

test('a backup into the data folder itself is refused, also by way of a link', async () => {
  symlinkSync(site.folder, join(folder, 'link'));
  for (const inside of [join(site.folder, 'backups', 'today'), join(folder, 'link', 'today')]) {
    const refused = await runCommand({ url: site.database.url, dataDir: site.folder }, 'backup', inside);
    expect(refused.code).not.toBe(0);
    expect(refused.problem).toContain('is in the data folder');
    expect(existsSync(inside)).toBe(false);
  }
});

test.runIf(process.getuid?.() === 0)('a backup without room says which folder has none', async () => {
  const small = mkdtempSync(join(tmpdir(), 'fieldlake-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small]);
  try {
    const refused = await runCommand({ url: site.database.url, dataDir: site.folder }, 'backup', join(small, 'today'));
    expect([refused.code, refused.problem]).toEqual([1, expect.stringContaining(`no room for the backup in ${join(small, 'today')}`)]);
  } finally {
    execFileSync('umount', [small]);
    rmSync(small, { recursive: true });
  }
});

test('a backup that is made under load is restored into an empty folder, every table and file equal', async () => {
  let busy = true;
  let sent = 0;
  const load = (async () => {
    while (busy) {
      const message = {
        timestamp: new Date(Date.UTC(2026, 4, 1, 0, 0, sent)).toISOString(),
        device_id: 'd\t\\N"\n',
        sample: [{ n: sent }, { n: -sent }],
      };
      await storeMessages(site.database.db, [{ experimentId, clientId: 'multispeq_1', body: Buffer.from(JSON.stringify(message)) }]);
      sent += 1;
      await sleep(5);
    }
  })();
  const count = async (base: string) =>
    (await getJson({ ...server, baseUrl: base }, owner, `/api/v1/experiments/${experimentId}/tables`)) as {
      identifier: string;
      totalRows: number;
    }[];
  await eventually(
    () => count(server.baseUrl),
    (tables) => (tables.find(({ identifier }) => identifier === 'raw_data')?.totalRows ?? 0) > 100,
    30_000,
  );
  const changes = `/api/v1/experiments/${experimentId}/changes`;
  const listener = listen(`${server.baseUrl}${changes}`, { 'x-api-key': owner.apiKey });
  const { id: lastEventId } = await listener.until(({ kind }) => kind === 'table');
  listener.close();
  const first = join(folder, 'first');
  const made = await runCommand({ url: site.database.url, dataDir: site.folder }, 'backup', first);
  busy = false;
  await load;
  expect(made.code, made.problem).toBe(0);
  expect(made.json).toMatchObject({ missing: [] });
  expect(made.json.lakeFiles).toBeGreaterThan(0);

  const restored = join(folder, 'restored');
  const back = await runCommand({ url: target.url, dataDir: restored }, 'restore', first);
  expect(back.code, back.problem).toBe(0);
  const second = join(folder, 'second');
  const [again, verified] = await Promise.all([
    runCommand({ url: target.url, dataDir: restored }, 'backup', second),
    runCommand({ url: target.url, dataDir: restored }, 'lake', 'verify'),
  ]);
  expect(again.code, again.problem).toBe(0);
  expect(verified.code, verified.text).toBe(0);
  expect(tablesOf(second)).toEqual(tablesOf(first));
  expect(Object.keys(tablesOf(first)).length).toBeGreaterThan(60);
  expect(filesOf(join(second, 'files'))).toEqual(filesOf(join(first, 'files')));
  const about = (backup: string) => JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8')) as { sequences: object };
  expect(about(second).sequences).toEqual(about(first).sequences);

  // what was acknowledged at that moment is there, and the service goes on with it
  const heir = await spawnServer({ DATABASE_URL: target.url, DATA_DIR: restored, MACRO_LANGUAGES: 'javascript' });
  try {
    const inbox = Number(tablesOf(first)['public.inbox.copy']?.split(' ')[0]);
    expect(inbox).toBeGreaterThan(50);
    const rows = await eventually(
      async () => (await count(heir.baseUrl)).find(({ identifier }) => identifier === 'raw_data')?.totalRows,
      (total) => total === inbox * 2,
      30_000,
    );
    expect(rows).toBe(inbox * 2);
    // readers of Delta tables find every version, those of before the backup and those of after it
    const tables = join(restored, 'lake', 'tables', experimentId);
    const countLogged = (id: string) => {
      const { files } = snapshotAt(join(tables, id), versionsIn(join(tables, id)).at(-1) ?? 0);
      return [...files.values()].reduce((sum, { stats }) => sum + stats.numRecords, 0);
    };
    const logged = await eventually(
      async () => readdirSync(tables).map(countLogged),
      (sums) => sums.includes(inbox * 2),
      30_000,
    );
    expect(logged).toContain(inbox * 2);
    // who listened before must read anew: what followed in the other database did not happen here
    const resumed = listen(`${heir.baseUrl}${changes}`, { 'x-api-key': owner.apiKey, 'last-event-id': lastEventId });
    expect((await resumed.until(() => true)).data).toEqual({ reason: 'forgotten' });
    resumed.close();
  } finally {
    await heir.kill('SIGTERM');
  }
});

test('restore refuses what is in use, what is no backup, and what another version made', async () => {
  const first = join(folder, 'first');
  const refused = async (dataDir: string, from: string, url = target.url) => {
    const { code, problem } = await runCommand({ url, dataDir }, 'restore', from);
    expect(code).toBe(1);
    return problem;
  };
  const [here, nothing, there, onto] = await Promise.all([
    refused(site.folder, first),
    refused(join(folder, 'empty-1'), join(folder, 'nothing')),
    refused(join(folder, 'empty-2'), first),
    runCommand({ url: site.database.url, dataDir: site.folder }, 'backup', first),
  ]);
  expect(here).toContain('is in use');
  expect(nothing).toContain('holds no whole backup');
  expect(there).toContain('The database is in use');
  expect([onto.code, onto.problem]).toEqual([1, expect.stringContaining('is not empty')]);
  expect(existsSync(join(first, 'backup.json'))).toBe(true);
  const other = await cloneDatabase();
  try {
    const about = join(first, 'backup.json');
    const text = readFileSync(about, 'utf8');
    writeFileSync(about, text.replace('012_macro_runs', '012_other'));
    expect(await refused(join(folder, 'empty-3'), first, other.url)).toContain('another version');
    writeFileSync(about, text);
  } finally {
    await other.drop();
  }
});
