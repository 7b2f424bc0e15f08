import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { StartError } from '../../src/errors.ts';
import { readSecret } from '../../src/storage/secret.ts';

const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-secret-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

test('a secret is made once, for its owner alone, and read the same again', () => {
  const folder = makeFolder();
  const made = readSecret(folder);
  expect(made).toHaveLength(32);
  expect(readSecret(folder)).toEqual(made);
  expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe(made.toString('hex'));
  expect(statSync(join(folder, 'secret')).mode & 0o777).toBe(0o600);
});

test('one that another process is writing is waited for, and one that stays empty is refused in a sentence', () => {
  const folder = makeFolder();
  const file = join(folder, 'secret');
  writeFileSync(file, '');
  const digits = 'ab'.repeat(32);
  spawn('sh', ['-c', `sleep 0.3; printf ${digits} > '${file}'`], { stdio: 'ignore' });
  expect(readSecret(folder).toString('hex')).toBe(digits);
  writeFileSync(file, 'ab');
  expect(() => readSecret(folder)).toThrow(StartError);
  expect(() => readSecret(folder)).toThrow(file);
  // a file that is deleted is made anew, and what the old one had sealed refuses the next start
  expect(() => readSecret(folder)).not.toThrow('delete');
});

test('one that is not written in hexadecimal digits is refused: most of its bytes would not count', () => {
  const folder = makeFolder();
  const file = join(folder, 'secret');
  writeFileSync(file, `${'AB'.repeat(32)}\n`);
  expect(readSecret(folder).toString('hex')).toBe('ab'.repeat(32));
  writeFileSync(file, Buffer.alloc(48, 0xf0).toString('base64'));
  expect(() => readSecret(folder)).toThrow(StartError);
});
