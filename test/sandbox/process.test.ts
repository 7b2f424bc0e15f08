import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepare, type Prepared } from '../../src/sandbox/probe.ts';
import { MacroProcess } from '../../src/sandbox/process.ts';
import { findRuntimes } from '../../src/sandbox/runtimes.ts';
import { LEVELS, titleOf } from './machine.ts';

describe.runIf(LEVELS.bubblewrap.runs)(`a process ${titleOf('bubblewrap')}`, () => {
  let folder: string;
  let javascript: Prepared;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fieldlake-process-'));
    chmodSync(folder, 0o755);
    const limits = { memoryMb: 1536, cpuSeconds: 600, fileMb: 32 };
    const programs = { bwrap: '/usr/bin/bwrap', python: '/usr/bin/python3', rHome: '/usr/lib/R', node: process.execPath };
    const runtimes = findRuntimes(join(import.meta.dirname, '..', '..', 'src', 'sandbox', 'runtimes'));
    const prepared = await prepare({ runtimes, folder, level: 'bubblewrap', acceptRoot: false, ...programs, limits, firstUid: 64_000 }, [
      'javascript',
    ]);
    javascript = prepared.get('javascript')!;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('ends whenever it is told to, also while its box is being built', async () => {
    for (let turn = 0; turn < 40; turn += 1) {
      const started = new MacroProcess(javascript.launch!(true));
      await pause(turn % 20);
      started.kill();
      expect(await Promise.race([started.ended, pause(10_000, 'still there')])).toBe('killed by SIGKILL');
    }
  });
});
