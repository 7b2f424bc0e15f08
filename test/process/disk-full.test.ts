import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { eventually } from '../support/crashes.ts';
import { startTestServer, type Answer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

let site: TestServer;
let owner: Call;
let folder: string;
let base: string;
let tableId: string;
let rowId: string;

describe.runIf(process.getuid?.() === 0)('on a file system of its own, which only root can mount', () => {
  beforeAll(async () => {
    // a file system of its own, whose end is soon met; Postgres lies elsewhere
    folder = mkdtempSync(join(tmpdir(), 'fieldlake-small-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'tmpfs', folder]);
    site = await startTestServer({ DATA_DIR: join(folder, 'data') });
    owner = site.as(site.cast.owner);
    const { id } = (await owner('POST', '/api/v1/experiments', { body: { name: 'Full', organizationId: site.cast.leafLab } })).body;
    base = `/api/v1/experiments/${id}`;
    const rows = Array.from({ length: 20_000 }, (_, at) => `${at},${Math.sin(at)}`);
    tableId = await uploadTable(owner, id, 'waves', `at,sine\n${rows.join('\n')}\n`);
    rowId = (await owner('GET', `${base}/data`, { query: { tableName: tableId } })).body[0].data.rows[0].id;
  }, 60_000);
  afterAll(async () => {
    await site.stop();
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  });

  const ballast = () => join(folder, 'ballast');

  /** Takes all the room there is. */
  function fill(): void {
    writeFileSync(ballast(), '');
    for (const bytes of [1_048_576, 4_096])
      for (;;)
        try {
          appendFileSync(ballast(), Buffer.alloc(bytes));
        } catch (error) {
          expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
          break;
        }
  }

  const filesIn = (name: string): string[] => {
    const path = join(folder, 'data', name);
    mkdirSync(path, { recursive: true });
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name: file }) => join(parentPath, file))
      .sort();
  };
  const kept = () => ['lake', 'objects', 'work/ingest'].flatMap(filesIn);

  const upload = (kind: string, text: string) => {
    const form = new FormData();
    for (const [field, value] of Object.entries({
      sourceKind: kind,
      targetKind: 'new',
      targetName: `t_${Math.random().toString(36).slice(2)}`,
    }))
      form.append(field, value);
    form.append('files', new Blob([text]), `rows.${kind}`);
    return owner('POST', `${base}/data/uploads`, { body: form });
  };

  const WRITES: Record<string, () => Promise<Answer>> = {
    'a CSV upload': () => upload('csv', `a,b\n${'1,2\n'.repeat(5_000)}`),
    'a JSON upload': () => upload('json', JSON.stringify(Array.from({ length: 2_000 }, (_, at) => ({ at })))),
    'an annotation': () =>
      owner('POST', `${base}/data/annotations`, {
        body: { tableName: tableId, rowId, annotation: { type: 'comment', content: { type: 'comment', text: 'seen' } } },
      }),
    'a Parquet download': () =>
      owner('GET', `${base}/data`, { query: { tableName: tableId }, headers: { accept: 'application/vnd.apache.parquet' } }),
  };
  const settled = async () => {
    const { body } = await owner('GET', `${base}/data/uploads`, {});
    return !JSON.stringify(body).match(/"status":"(pending|running)"/);
  };

  test.each(Object.keys(WRITES))(
    '%s without room is 503, leaves nothing, and succeeds with room again',
    async (name) => {
      const write = WRITES[name]!;
      const first = await write();
      expect(first.status, first.text).toBeLessThan(300);
      await eventually(settled, (is) => is, 20_000);
      const before = kept();
      fill();
      try {
        const refused = await write();
        expect([refused.status, refused.body?.code]).toEqual([503, 'STORAGE_FULL']);
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
        expect(kept()).toEqual(before);
        expect((await owner('GET', '/health/live')).status).toBe(200);
      } finally {
        rmSync(ballast());
      }
      const again = await write();
      expect(again.status, again.text).toBeLessThan(300);
      await eventually(settled, (is) => is, 20_000);
    },
    60_000,
  );

  test('an export without room stays waiting, is tried again, and ends whole with room', async () => {
    const start = async () =>
      String((await owner('POST', `${base}/data/exports`, { body: { tableName: tableId, format: 'csv' } })).body.exportId);
    const statusOf = async (id: string) => String((await owner('GET', `${base}/data/exports/${id}/status`)).body.status);
    const ended = (id: string) =>
      eventually(
        () => statusOf(id),
        (status) => status === 'completed' || status === 'failed',
        40_000,
      );
    const first = await start();
    expect(await ended(first)).toBe('completed');
    const whole = await owner('GET', `${base}/data/exports/${first}`);
    const before = kept();
    fill();
    let id: string;
    try {
      id = await start();
      const row = () => site.db.one<{ errors: number }>(sql('test')`select errors from exports where id = ${id}`);
      expect((await eventually(row, (found) => (found?.errors ?? 0) > 0, 20_000))?.errors).toBeGreaterThan(0);
      expect(await statusOf(id)).not.toBe('completed');
      expect(kept()).toEqual(before);
    } finally {
      rmSync(ballast());
    }
    expect(await ended(id)).toBe('completed');
    expect((await owner('GET', `${base}/data/exports/${id}`)).text).toBe(whole.text);
  }, 90_000);
});
