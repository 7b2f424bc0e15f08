/** One certificate authority for all processes of an installation, whichever machine is lost. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSharedAuthority } from '../../src/api/devices/authority.service.ts';
import { sql } from '../../src/database/sql.ts';
import { makeAuthority, openAuthority } from '../../src/iot/authority.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { spawnServer } from '../support/process.ts';

let database: TestDatabase;
const folders: string[] = [];
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-authority-'));
  folders.push(folder);
  return folder;
};
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(async () => {
  await database.drop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const secret = randomBytes(32);
const certificateIn = (dataDir: string) => readFileSync(join(dataDir, 'iot', 'ca.pem'), 'utf8').trim();

test('however many open it together on empty disks, there is one; its key lies nowhere in the clear', async () => {
  const dataDirs = Array.from({ length: 12 }, newFolder);
  const opened = await Promise.all(dataDirs.map((dataDir) => openSharedAuthority(database.db, { secret, dataDir })));
  expect(new Set(opened.map(({ certificatePem }) => certificatePem)).size).toBe(1);
  expect(new Set(dataDirs.map(certificateIn))).toEqual(new Set([opened[0]!.certificatePem]));
  expect(existsSync(join(dataDirs[0]!, 'iot', 'authority.pem'))).toBe(false);
  const kept = await database.db.one<{ sealed: string }>(sql('test')`select sealed from authority`);
  expect(Buffer.from(kept!.sealed, 'base64url').toString('latin1')).not.toContain('PRIVATE KEY');
});

test('a process with another secret does not start, and says what to give it', async () => {
  const settings = { DATABASE_URL: database.url, DATA_DIR: newFolder() };
  const right = await spawnServer({ ...settings, SECRET: secret.toString('hex') });
  expect(existsSync(join(settings.DATA_DIR, 'secret'))).toBe(false);
  await right.kill('SIGTERM');
  await expect(spawnServer({ ...settings, SECRET: randomBytes(32).toString('hex') })).rejects.toThrow('sealed with another secret');
  await expect(spawnServer({ ...settings, SECRET: 'short' })).rejects.toThrow('64 hexadecimal digits');
});

test('the authority of an installation of before goes on, and its file goes', async () => {
  const own = await cloneDatabase();
  try {
    const dataDir = newFolder();
    const former = join(dataDir, 'iot', 'authority.pem');
    mkdirSync(join(dataDir, 'iot'));
    writeFileSync(former, await makeAuthority(), { mode: 0o600 });
    const before = await openAuthority(readFileSync(former, 'utf8'));
    const { certificatePem } = await openSharedAuthority(own.db, { secret, dataDir });
    expect(certificatePem).toBe(before.certificatePem);
    expect(existsSync(former)).toBe(false);
    expect((await openSharedAuthority(own.db, { secret, dataDir: newFolder() })).certificatePem).toBe(certificatePem);
  } finally {
    await own.drop();
  }
});

test('an installation whose secret is lost starts with a new one, by what docs/operations.md says', async () => {
  const dataDir = newFolder();
  const settings = { DATA_DIR: dataDir };
  await (await spawnServer(settings)).kill('SIGTERM');
  const before = certificateIn(dataDir);
  rmSync(join(dataDir, 'secret'));
  await expect(spawnServer(settings)).rejects.toThrow('sealed with another secret');
  const page = readFileSync('docs/operations.md', 'utf8');
  const line = /^echo .*--single.*$/m.exec(page)![0].replace('.data', dataDir);
  const forRoot = /`(unshare [^`]+)`/.exec(page)![1]!;
  execFileSync('bash', ['-c', process.getuid?.() === 0 ? line.replace('| ', `| ${forRoot} `) : line], { stdio: 'pipe' });
  await (await spawnServer(settings)).kill('SIGTERM');
  expect(certificateIn(dataDir)).not.toBe(before);
});
