/** A table of the lake whose commits Postgres refuses, as it does when something is wrong with it. */
import pg from 'pg';
import type { TestDatabase } from './database.ts';

/**
 * Has Postgres answer every new version of a table with a SQLSTATE: 53300 is that of a server with no connection left, XX000 that of a fault of its own.
 * Answers what ends that.
 */
export async function refuseCommits({ url }: TestDatabase, tableId: string, state: '53300' | 'XX000'): Promise<() => Promise<void>> {
  const run = async (text: string) => {
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query(text).finally(() => admin.end());
  };
  const name = `refuse_${tableId.replaceAll('-', '')}`;
  await run(`
    create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'refused' using errcode = '${state}'; end $$;
    create trigger ${name} before update of version on lake_tables for each row when (old.id = '${tableId}') execute function ${name}()`);
  return () => run(`drop function ${name}() cascade`);
}
