import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { APPLICATION_ROLE } from '../../src/database/migrate.ts';
import { cloneDatabase } from '../support/database.ts';

const SHOWN = ['role', 'timezone', 'statement_timeout', 'search_path', 'work_mem'];

async function readSettings(url: string): Promise<Record<string, string> | undefined> {
  const db = openDatabase({ url, role: APPLICATION_ROLE, statementTimeoutMs: 7_000 });
  try {
    return await db.value(sql('settings')`select json_object_agg(name, current_setting(name)) from unnest(${SHOWN}::text[]) name`);
  } finally {
    await db.close();
  }
}

test('options of the address hold where they are none of ours, and ours hold with them', async () => {
  const database = await cloneDatabase();
  const { url } = database;
  const ours = { role: APPLICATION_ROLE, timezone: 'UTC', statement_timeout: '7s', search_path: 'public' };
  const options = '-c work_mem=3MB -c timezone=Asia/Tokyo -c role=none -c search_path=nowhere -c statement_timeout=1';
  try {
    expect(await readSettings(url)).toEqual({ ...ours, work_mem: '4MB' });
    expect(await readSettings(`${url}&options=${encodeURIComponent(options)}`)).toEqual({ ...ours, work_mem: '3MB' });
  } finally {
    await database.drop();
  }
});
