import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { spawnServer, type ServerProcess } from '../support/process.ts';
import { pythonWith } from '../support/python.ts';

let folder: string;
let server: ServerProcess;

const printed = (what: RegExp) => what.exec(server.output())?.[0];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-webkit-'));
  server = await spawnServer({ DATA_DIR: join(folder, 'data'), SAMPLE_DATA: 'on' });
  await vi.waitUntil(() => printed(/Try these/), { timeout: 120_000 });
});
afterAll(async () => {
  await server.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

interface Seen {
  filtered: boolean;
  cells: string[];
  wider: Record<string, number>;
}

test('the console works in WebKit, the engine of Safari, and no page is wider than a phone', { timeout: 600_000 }, async () => {
  const csv = join(folder, 'own.csv');
  writeFileSync(csv, 'plot,spad,seen\n1,3.5,2026-05-01\n2,4,2026-05-02\n3,,2026-05-03\n');
  const link = printed(/http:\S+\/sign-in\/link#[\w-]{43}/)!;
  const python = join(pythonWith('selenium==4.51.0'), 'python');
  // the browser's own sandbox wants namespaces that a container may not give; it opens nothing but this service
  const env = { ...process.env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' };
  const { stdout } = await promisify(execFile)('xvfb-run', ['-a', python, join(import.meta.dirname, 'webkit.py'), link, csv], { env });
  const { filtered, cells, wider } = JSON.parse(stdout) as Seen;
  expect(filtered).toBe(true);
  expect(cells).toEqual(expect.arrayContaining(['3.5', '2026-05-03']));
  expect(Object.keys(wider).length).toBeGreaterThanOrEqual(18);
  expect(Object.entries(wider).filter(([, pixels]) => pixels > 0)).toEqual([]);
});
