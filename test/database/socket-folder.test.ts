import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { EmbeddedPostgresError, makeSocketFolder, removeSocketFolder } from '../../src/database/cluster.ts';

const root = mkdtempSync(join(tmpdir(), 'socket-folder-'));
afterAll(() => rmSync(root, { recursive: true }));
const binaries = { folder: root, prefix: [] };

test('the folder of the socket goes when it is empty, and stays with what is in it', () => {
  const folder = join(root, 'ours');
  makeSocketFolder(folder, binaries);
  writeFileSync(join(folder, '.s.PGSQL.5432.lock'), '');
  removeSocketFolder(folder, binaries);
  expect(existsSync(folder)).toBe(true);
  rmSync(join(folder, '.s.PGSQL.5432.lock'));
  removeSocketFolder(folder, binaries);
  expect(existsSync(folder)).toBe(false);
  removeSocketFolder(folder, binaries);
  makeSocketFolder(folder, binaries);
  expect(existsSync(folder)).toBe(true);
});

test('a link in its place is not followed', () => {
  const [target, link] = [join(root, 'target'), join(root, 'link')];
  mkdirSync(target, { mode: 0o755 });
  symlinkSync(target, link);
  expect(() => makeSocketFolder(link, binaries)).toThrow(EmbeddedPostgresError);
  expect(lstatSync(target).mode & 0o777).toBe(0o755);
  removeSocketFolder(link, binaries);
  expect([lstatSync(link).isSymbolicLink(), existsSync(target)]).toEqual([true, true]);
  makeSocketFolder(target, binaries);
  expect(lstatSync(target).mode & 0o777).toBe(0o700);
});
