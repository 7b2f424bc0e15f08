import { join } from 'node:path';
import { expect } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { printTableFolder } from '../../src/lakehouse/tables/delta/places.ts';
import { snapshotAt, versionsIn } from '../lakehouse/log-reader.ts';
import { eventually } from './crashes.ts';

/** Waits until everything is published, and holds the log of every table, version by version, against the manifest. Answers how many versions. */
export async function compareLogs({ db, dataDir }: { db: Database; dataDir: string }): Promise<number> {
  const waiting = () => db.one<{ left: number }>(sql('test')`select count(*) as left from lake_log`);
  expect((await eventually(waiting, (row) => row?.left === 0, 60_000))?.left, 'versions that are not published').toBe(0);
  let compared = 0;
  const tables = await db.rows<{ id: string; experimentId: string; kind: string; version: number; published: number | null }>(
    sql('test')`select id, experiment_id as "experimentId", kind, version, published_version as published from lake_tables`,
  );
  for (const { id, experimentId, kind, version, published } of tables) {
    const folder = join(dataDir, 'lake', printTableFolder(experimentId, id));
    const entries = versionsIn(folder);
    // a log begins with the first file
    if (published === null && entries.length === 0) continue;
    expect(entries, `${kind} ${id}`).toEqual(Array.from({ length: version + 1 }, (_, at) => at));
    expect(published).toBe(version);
    const files = await db.rows<{ id: string; since: number; until: number | null }>(
      sql('test')`select id, from_version as since, to_version as until from lake_files where table_id = ${id}`,
    );
    // each tenth, and the newest
    for (let at = version; at >= 0; at -= at % 10 === 0 ? 10 : at % 10 || 1) {
      const live = files.filter(({ since, until }) => since <= at && (until === null || until > at));
      expect([...snapshotAt(folder, at).files.keys()].sort(), `${kind} ${id} at ${at}`).toEqual(
        live.map((file) => `${file.id}.parquet`).sort(),
      );
      compared += 1;
    }
  }
  return compared;
}
