import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { ingestMessages, listPending, storeMessages } from '../../src/ingest/messages/store.ts';
import { replayMessages } from '../../src/ingest/messages/replay.ts';
import { listHandled } from '../../src/ingest/messages/messages.queries.ts';
import { decodePayload, readPayload } from '../../src/ingest/messages/decode/payload.ts';
import { findTable, findTableById, listFiles } from '../../src/lakehouse/tables/manifest.queries.ts';
import { seeded, seedOf } from '../support/crashes.ts';
import { MACROS, payloads } from './payloads.ts';
import { openLake, type Lake } from './setup.ts';

/** 10,000 messages with MESSAGES=10000; a tenth otherwise. */
const MESSAGES = Number(process.env['MESSAGES'] ?? 1_000);

let lake: Lake;
let rebuilt: Lake;
beforeAll(async () => {
  lake = await openLake();
  rebuilt = await openLake();
});
afterAll(async () => {
  await lake.close();
  await rebuilt.close();
});

const experimentId = randomUUID();
const EVERY = { messages: 250, bytes: 50_000_000 };

async function handle(one: Lake): Promise<void> {
  for (;;) {
    const pending = await listPending(one.db, experimentId, EVERY);
    if (pending.length === 0) return;
    await ingestMessages(
      one.deps,
      experimentId,
      pending.map((message) => ({ id: message.id, arrival: message, decoded: readPayload(message.body ?? Buffer.alloc(0)) })),
    );
  }
}

const versions = (one: Lake) =>
  one.db.rows<{ identifier: string; version: number; rowCount: number }>(
    sql(
      'test',
    )`select identifier, version, row_count as "rowCount" from lake_tables where experiment_id = ${experimentId} order by identifier`,
  );

async function relation(one: Lake, identifier: string): Promise<string> {
  const table = (await findTable(one.db, experimentId, identifier))!;
  const files = await listFiles(one.db, table.id, (await findTableById(one.db, table.id))!.version);
  return `read_parquet([${files.map(({ path }) => `'${join(one.folder, 'lake', path)}'`).join(', ')}], union_by_name = true)`;
}

/** Rows that one of two tables has and the other has not, over all columns but the time of processing. */
async function differences(identifier: string, [a, b]: readonly [Lake, Lake]): Promise<number> {
  const left = await relation(a, identifier);
  const right = await relation(b, identifier);
  const named = await a.reader.runAndReadAll(`select column_name from (describe select * from ${left})`);
  const columns = named
    .getRowObjectsJson()
    .map((row) => row['column_name'] as string)
    .filter((name) => name !== 'processed_timestamp');
  const list = columns.map((name) => `"${name.replaceAll('"', '""')}"::varchar`).join(', ');
  const result = await a.reader.runAndReadAll(`select
    (select count(*) from (select ${list} from ${left} except all select ${list} from ${right})) +
    (select count(*) from (select ${list} from ${right} except all select ${list} from ${left})) as differing`);
  return Number(result.getRowObjectsJson()[0]?.['differing']);
}

test(
  `${MESSAGES} generated messages reconcile, a second delivery changes nothing, and replays from bronze give the same gold`,
  async () => {
    const random = seeded(seedOf('reconciliation'));
    const arrivals = payloads(random, MESSAGES).map((body, n) => ({ experimentId, clientId: `multispeq_${n % 3}`, body }));
    const added = new Set<string>();
    for (let at = 0; at < arrivals.length; at += 500)
      for (const id of await storeMessages(lake.db, arrivals.slice(at, at + 500))) added.add(id);
    await handle(lake);

    // rows in, counted from the bytes alone
    const messages = await lake.db.rows<{
      id: string;
      body: Buffer;
      stored: number;
      quarantined: number;
      there: number;
      reasons: Record<string, number>;
      status: string;
    }>(
      sql(
        'test',
      )`select id, body, stored, quarantined, already_there as there, reasons, status from messages where experiment_id = ${experimentId}`,
    );
    expect(messages).toHaveLength(added.size);
    const outcomes = new Set<string>();
    for (const { body, stored, quarantined, there, reasons, status } of messages) {
      const rowsIn = decodePayload(body).reduce((sum, one) => sum + (one.kind === 'measurement' ? Math.max(1, one.samples.length) : 1), 0);
      expect(stored + quarantined + there).toBe(rowsIn);
      expect(Object.values(reasons).reduce((sum, count) => sum + count, 0)).toBe(quarantined);
      outcomes.add(status);
    }
    expect([...outcomes].sort()).toEqual(['partial', 'quarantined', 'stored']);
    const total = messages.reduce((sum, { stored }) => sum + stored, 0);
    const before = await versions(lake);
    expect(before.find(({ identifier }) => identifier === 'raw_data')?.rowCount).toBe(total);
    const sources = await lake.db.one<{ rows: number }>(
      sql('test')`select sum(s.row_count)::bigint as rows from lake_sources s join lake_tables t on t.id = s.table_id
        where t.experiment_id = ${experimentId} and t.identifier = 'raw_data'`,
    );
    expect(sources?.rows).toBe(total);
    const devices = await lake.reader.runAndReadAll(
      `select sum(total_measurements)::bigint::varchar as rows from ${await relation(lake, 'device')}`,
    );
    expect(Number(devices.getRowObjectsJson()[0]?.['rows'])).toBe(total);

    for (let at = 0; at < arrivals.length; at += 500) expect(await storeMessages(lake.db, arrivals.slice(at, at + 500))).toEqual([]);
    await handle(lake);
    expect(await versions(lake)).toEqual(before);

    // bronze alone, into a lake that has nothing
    const bronze = await lake.db.rows<{ id: string; client: string; body: Buffer; at: Date; source: Buffer }>(
      sql(
        'test',
      )`select id, client_id as client, body, arrived_at as at, source from messages where experiment_id = ${experimentId} order by ordinal`,
    );
    for (const { id, client, body, at, source } of bronze)
      await rebuilt.db.run(sql('test')`with put as (
          insert into inbox (id, experiment_id, source, client_id, arrived_at, byte_count, body)
          values (${id}, ${experimentId}, ${source}, ${client}, ${at}, ${body.length}, ${body}) returning id, experiment_id, ordinal, byte_count
        ) insert into pending_messages (message_id, experiment_id, ordinal, byte_count) select * from put`);
    await handle(rebuilt);
    const tables = before.map(({ identifier }) => identifier);
    expect((await versions(rebuilt)).map(({ identifier }) => identifier)).toEqual(tables);
    expect(tables.length).toBe(2 + MACROS.length);
    for (const identifier of tables) expect(await differences(identifier, [lake, rebuilt]), identifier).toBe(0);

    // in place, while the first rows are there
    const again = await listHandled(lake.db, experimentId, { from: '2020-01-01', to: '2100-01-01', after: -1, limit: MESSAGES });
    const read = again.map((message) => ({ id: message.id, arrival: message, decoded: readPayload(message.body ?? Buffer.alloc(0)) }));
    expect(await replayMessages(lake.deps, experimentId, read)).toBe(total);
    for (const identifier of tables) expect(await differences(identifier, [lake, rebuilt]), identifier).toBe(0);
  },
  300_000 + MESSAGES * 60,
);
