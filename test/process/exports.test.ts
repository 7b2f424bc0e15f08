import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, type Person } from '../support/cast.ts';
import { eventually, getJson, momentsOf, seeded, seedOf, sendCsv } from '../support/crashes.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';

const KILLS = Number(process.env['KILLS'] ?? 2);
const ROWS = 150_000;

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let owner: Person;
let base: string;

beforeAll(async () => {
  site = await sharedSite();
  server = await spawnServer(site.environment);
  owner = await makePerson(site.database.db, 'owner');
  const response = await fetch(`${server.baseUrl}/api/v1/experiments`, {
    method: 'POST',
    headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Long files' }),
  });
  const { id } = (await response.json()) as { id: string };
  base = `/api/v1/experiments/${id}/data`;
  const csv = `row,note\n${Array.from({ length: ROWS }, (_, row) => `${row},note of row ${row * 7}`).join('\n')}\n`;
  await sendCsv(server, owner, { experimentId: id, fields: { targetKind: 'new', targetName: 'numbers' } }, 'numbers.csv', csv);
  const uploads = await eventually(
    async () => (await getJson(server, owner, `${base}/uploads`)).uploads as { status: string }[],
    ([upload]) => upload?.status === 'completed',
    60_000,
  );
  expect(uploads).toMatchObject([{ status: 'completed', rowCount: ROWS }]);
});
afterAll(async () => {
  await server.kill('SIGTERM');
  await site.remove();
});

test(
  `an export survives kill -9 at ${KILLS} moments, and no partial file is ever seen`,
  { timeout: 300_000 + KILLS * 40_000 },
  async () => {
    const moments = momentsOf(KILLS, seeded(seedOf('exports')));
    const expected: string[] = [];
    for (let row = 0; row < ROWS; row += 1) expected.push(`${row},note of row ${row * 7}`);
    const digest = createHash('sha256')
      .update(`row,note\n${expected.join('\n')}\n`)
      .digest('hex');
    for (const moment of moments) {
      const made = await fetch(`${server.baseUrl}${base}/exports`, {
        method: 'POST',
        headers: { 'x-api-key': owner.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ tableName: 'numbers', format: 'csv', columns: 'row,note', orderBy: 'row' }),
      });
      expect(made.status).toBe(201);
      const { exportId } = (await made.json()) as { exportId: string };
      const path = `${base}/exports/${exportId}`;
      const states = async () => ((await getJson(server, owner, `${path}/status`)) as { status: string }).status;
      await sleep(moment * 600);
      await server.kill('SIGKILL');
      server = await spawnServer(site.environment);
      const restarted = Date.now();
      const seen = new Set<string>();
      const last = await eventually(
        async () => {
          const file = await fetch(`${server.baseUrl}${path}`, { headers: { 'x-api-key': owner.apiKey } });
          const bytes = Buffer.from(await file.arrayBuffer());
          seen.add(
            file.status === 200
              ? createHash('sha256').update(bytes).digest('hex')
              : `${file.status} ${(JSON.parse(bytes.toString()) as { code: string }).code}`,
          );
          return states();
        },
        (status) => status === 'completed',
        40_000,
      );
      expect(last).toBe('completed');
      process.stdout.write(`exports: complete ${Date.now() - restarted} ms after the restart\n`);
      const file = await fetch(`${server.baseUrl}${path}`, { headers: { 'x-api-key': owner.apiKey } });
      expect(
        createHash('sha256')
          .update(Buffer.from(await file.arrayBuffer()))
          .digest('hex'),
      ).toBe(digest);
      expect([...seen].filter((each) => each !== digest && each !== '409 EXPORT_NOT_READY')).toEqual([]);
      expect(readdirSync(join(site.folder, 'objects', 'exports', exportId))).toHaveLength(1);
    }
  },
);
