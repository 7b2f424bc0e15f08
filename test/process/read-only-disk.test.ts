/** A disk that turns read-only while the service runs, as Linux makes one after an error of it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type Call, type TestServer } from '../support/server.ts';
import { uploadTable } from '../support/uploads.ts';

describe.runIf(process.getuid?.() === 0)('on a file system of its own, which only root can mount', () => {
  let folder: string;
  let site: TestServer;
  let owner: Call;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fieldlake-read-only-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=700', 'tmpfs', folder]);
    site = await startTestServer({ DATA_DIR: join(folder, 'data') });
    owner = site.as(site.cast.owner);
  });
  afterAll(async () => {
    await site?.stop();
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  });

  /** Linux refuses to make a disk read-only while a file of it is open to be written, as those of the rows that were just sent. */
  const turn = (how: 'ro' | 'rw') => expect.poll(() => spawnSync('mount', ['-o', `remount,${how}`, folder]).status).toBe(0);

  test('what must write is 503, operators read why, and all goes on once the disk may be written', async () => {
    const { id } = (await owner('POST', '/api/v1/experiments', { body: { name: 'Kept', organizationId: site.cast.leafLab } })).body;
    const uploadTableId = await uploadTable(owner, id, 'small', 'n\n1\n');
    const upload = (n: number) => {
      const form = new FormData();
      for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'existing', uploadTableId })) form.append(field, value);
      form.append('files', new Blob([`n\n${n}\n`]), 'more.csv');
      return owner('POST', `/api/v1/experiments/${id}/data/uploads`, { body: form });
    };
    const details = async () =>
      ((await (await fetch(`${site.server.adminUrl}/health/ready`)).json()) as { details: { objects: object } }).details.objects;
    const exported = async (exportId: string) => (await owner('GET', `/api/v1/experiments/${id}/data/exports/${exportId}/status`)).body;
    expect((await upload(2)).status).toBe(201);
    expect(await details()).toMatchObject({ ok: true });
    await turn('ro');
    const refused = await upload(3);
    expect([refused.status, refused.body.code]).toEqual([503, 'STORAGE_FULL']);
    expect(await details()).toMatchObject({ ok: false, reason: expect.stringContaining('read-only') });
    const { exportId } = (
      await owner('POST', `/api/v1/experiments/${id}/data/exports`, { body: { tableName: uploadTableId, format: 'csv' } })
    ).body;
    await turn('rw');
    expect(await details()).toMatchObject({ ok: true });
    expect((await upload(4)).status).toBe(201);
    await expect.poll(async () => (await exported(exportId)).status, { timeout: 60_000 }).toBe('completed');
  });
});
