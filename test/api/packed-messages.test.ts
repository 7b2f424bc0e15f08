import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { storeMessages } from '../../src/ingest/messages/store.ts';
import { runCommand } from '../support/command.ts';
import { startTestServer } from '../support/server.ts';

const MESSAGES = 24;

test('messages that are small, and large once unpacked, are stored and replayed in batches that fit the memory of the engine', async () => {
  const site = await startTestServer({ MACRO_LANGUAGES: 'none', DUCKDB_MEMORY_MB: '256' });
  try {
    const { body: experiment } = await site.as(site.cast.owner)('POST', '/api/v1/experiments', { body: { name: 'Packed' } });
    const messages = Array.from({ length: MESSAGES }, (_, n) => ({
      timestamp: new Date(Date.UTC(2026, 4, 1, 10, 0, n)).toISOString(),
      device_id: `d-${n}`,
      sample: gzipSync(JSON.stringify({ text: String.fromCodePoint(97 + n).repeat(8_000_000) })).toString('base64'),
      _sample_encoding: 'gzip+base64',
    }));
    await storeMessages(
      site.db,
      messages.map((message) => ({
        experimentId: experiment.id,
        userId: site.cast.owner.id,
        body: Buffer.from(JSON.stringify(message)),
      })),
    );
    const reports = () =>
      site.db.rows(sql('test')`select status, count(*)::integer as messages, sum(stored)::integer as stored from messages group by status`);
    await expect.poll(reports, { timeout: 90_000, interval: 200 }).toEqual([{ status: 'stored', messages: MESSAGES, stored: MESSAGES }]);
    expect(site.server.output()).not.toContain('messages could not be stored yet');

    const { dataDir, database } = site;
    const today = new Date().toISOString().slice(0, 10);
    const replayed = await runCommand({ url: database.url, dataDir }, 'lake', 'replay', '--day', today);
    expect(replayed.json, replayed.problem).toEqual({ messages: MESSAGES, rows: MESSAGES, reopened: 0 });
  } finally {
    await site.stop();
  }
});
