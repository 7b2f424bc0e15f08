import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { filesOf, tablesOf } from '../support/backups.ts';
import { runCommand } from '../support/command.ts';
import { eventually } from '../support/crashes.ts';
import { spawnServer, type ServerProcess } from '../support/process.ts';

const root = mkdtempSync(join(tmpdir(), 'fieldlake-laptop-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const CSV_ROWS = 500;

test('a laptop is backed up while it is at work and restored into an empty folder, each with the Postgres of its own', async () => {
  const [dataDir, restored] = [join(root, 'laptop'), join(root, 'another')];
  const environment = { MACRO_LANGUAGES: 'javascript' };
  const server = await spawnServer({ ...environment, DATA_DIR: dataDir });
  let apiKey = '';
  const call = async (at: ServerProcess, method: string, path: string, body?: object | FormData) => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${at.baseUrl}/api/v1${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(isForm ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.ok, `${method} ${path}: ${response.status} ${text}`).toBe(true);
    return JSON.parse(text);
  };
  let isBusy = true;
  let load: Promise<void> | undefined;
  try {
    const made = await runCommand({ dataDir }, 'user', 'create', '--email', 'owner@example.org', '--first-name', 'O', '--last-name', 'W');
    expect(made.code, made.problem).toBe(0);
    apiKey = made.json.apiKey;
    const experimentId = (await call(server, 'POST', '/experiments', { name: 'Kept' })).id as string;
    const code = 'return { twice: json.n * 2 };';
    const macroId = (await call(server, 'POST', '/macros', { name: 'twice', language: 'javascript', code })).id as string;
    const experiment = `/experiments/${experimentId}`;
    const tables = async (at: ServerProcess) =>
      Object.fromEntries(
        ((await call(at, 'GET', `${experiment}/tables`)) as { identifier: string; totalRows: number }[]).map((table) => [
          table.identifier,
          table.totalRows,
        ]),
      );
    const upload = async (name: string, target: Record<string, string>) => {
      const form = new FormData();
      for (const [field, value] of Object.entries({ sourceKind: 'csv', ...target })) form.append(field, value);
      const lines = Array.from({ length: CSV_ROWS }, (_, row) => `${name},${row},"a ""b"", ü"`);
      form.append('files', new Blob([`file,row,note\n${lines.join('\n')}\n`]), `${name}.csv`);
      return (await call(server, 'POST', `${experiment}/data/uploads`, form)).uploadTableId as string;
    };
    const tableId = await upload('first', { targetKind: 'new', targetName: 'plots' });
    load = (async () => {
      for (let sent = 0; isBusy; sent += 1) {
        const { uploadUrl, headers } = await call(server, 'POST', '/iot/upload-url', { experimentId });
        const lines = Array.from({ length: 20 }, (_, at) =>
          JSON.stringify({
            timestamp: new Date(Date.UTC(2026, 4, 1, 0, sent, at)).toISOString(),
            device_id: 'd\t\\N"\n',
            sample: { n: sent * 20 + at },
            macros: [{ id: macroId }],
          }),
        );
        await fetch(uploadUrl, { method: 'PUT', headers, body: lines.join('\n') });
        if (sent % 5 === 0) await upload(`more-${sent}`, { targetKind: 'existing', uploadTableId: tableId });
      }
    })();
    // macros have run, files have come, and both go on
    const early = await eventually(
      () => tables(server),
      (rows) => (rows[macroId] ?? 0) >= 20 && (rows[tableId] ?? 0) >= 2 * CSV_ROWS,
      60_000,
    );
    expect(early[macroId]).toBeGreaterThan(0);
    const first = join(root, 'first');
    const backedUp = await runCommand({ dataDir }, 'backup', first);
    expect(backedUp.code, backedUp.problem).toBe(0);
    expect(backedUp.json).toMatchObject({ missing: [] });
    isBusy = false;
    await load;

    const [back] = await Promise.all([runCommand({ dataDir: restored }, 'restore', first), server.kill('SIGTERM')]);
    expect(back.code, back.problem).toBe(0);
    const second = join(root, 'second');
    const again = await runCommand({ dataDir: restored }, 'backup', second);
    expect(again.code, again.problem).toBe(0);
    expect(tablesOf(second)).toEqual(tablesOf(first));
    expect(Object.keys(tablesOf(first)).length).toBeGreaterThan(60);
    expect(filesOf(join(second, 'files'))).toEqual(filesOf(join(first, 'files')));

    // the key still opens it, and what was under way at that moment is finished there
    const other = await spawnServer({ ...environment, DATA_DIR: restored });
    try {
      const verifying = runCommand({ dataDir: restored }, 'lake', 'verify');
      const done = await eventually(
        () => tables(other),
        (rows) => (rows['raw_data'] ?? 0) > 0 && rows[macroId] === rows['raw_data'] && (rows[tableId] ?? 0) % CSV_ROWS === 0,
        60_000,
      );
      expect(done['raw_data']).toBeGreaterThanOrEqual(early['raw_data'] ?? 0);
      expect(done[macroId]).toBe(done['raw_data']);
      expect(done[tableId]).toBeGreaterThanOrEqual(2 * CSV_ROWS);
      const verified = await verifying;
      expect(verified.code, verified.text).toBe(0);
    } finally {
      await other.kill('SIGTERM');
    }
  } finally {
    isBusy = false;
    await load?.catch(() => undefined);
    await server.kill('SIGTERM');
  }
});
