import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { job, open } from './machine.ts';

it('nothing is started once it is closed: what is left of a batch is refused', async () => {
  const sandbox = await open({ level: 'embedded', languages: ['javascript'], warm: 0 });
  const slow = 'const end = Date.now() + 400; while (Date.now() < end); return {}';
  const run = sandbox.run(job('javascript', slow, [1, 2, 3, 4, 5, 6, 7, 8])).then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );
  while (sandbox.load().processes === 0) await pause(10);
  await pause(600);
  await sandbox.close();
  expect(await run).toBe('SHUTTING_DOWN');
  expect(sandbox.load().processes).toBe(0);
});

it('starts no interpreter before one is used, keeps the next one ready, and ends it when nobody uses it', async () => {
  const sandbox = await open({ level: 'embedded', languages: ['javascript'], unusedMs: 12_000 });
  try {
    expect(sandbox.load().processes).toBe(0);
    expect((await sandbox.run(job('javascript', 'return { a: 1 }', [1]))).results).toMatchObject([{ success: true }]);
    // the one that was used waits ten seconds for its caller, and one is ready for anybody
    await expect.poll(() => sandbox.load().processes, { timeout: 10_000 }).toBe(2);
    await expect.poll(() => sandbox.load().processes, { timeout: 30_000 }).toBe(0);
    expect((await sandbox.run(job('javascript', 'return { a: 1 }', [1]))).results).toMatchObject([{ success: true }]);
  } finally {
    await sandbox.close();
  }
});

describe('an interpreter that is broken', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-broken-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('keeps no other language from running', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    // nothing can be kept below a file
    const sandbox = await open({ level: 'embedded', languages: ['python', 'javascript'], keepIn: join(file, 'below') });
    try {
      expect(sandbox.level('javascript').level).toBe('embedded');
      expect(sandbox.level('python')).toMatchObject({ level: 'unavailable', reason: expect.stringContaining('ENOTDIR') });
      expect((await sandbox.run(job('javascript', 'return { a: 1 }', [1]))).results).toMatchObject([{ success: true }]);
    } finally {
      await sandbox.close();
    }
  });

  it('is replaced by the one that comes along', async () => {
    const sandbox = await open({ languages: ['python', 'javascript'], python: '/bin/false' });
    try {
      expect(sandbox.level('javascript').level).not.toBe('unavailable');
      expect(sandbox.level('python').level).toBe('embedded');
    } finally {
      await sandbox.close();
    }
  });
});
