import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/database/sql.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

test('audit events can be added and never changed', async () => {
  await database.db.run(sql('t')`insert into audit_events (id, action) values (gen_random_uuid(), 'test')`);
  expect(await database.db.rows(sql('t')`select action from audit_events`)).toEqual([{ action: 'test' }]);
  await expect(database.db.run(sql('t')`update audit_events set action = 'x'`)).rejects.toMatchObject({ code: 'INTERNAL' });
  await expect(database.db.run(sql('t')`delete from audit_events`)).rejects.toMatchObject({ code: 'INTERNAL' });
});
