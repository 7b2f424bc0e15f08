/** Rows that Postgres refuses to write, as it does when something is wrong with it. */
import pg from 'pg';
import type { TestDatabase } from './database.ts';

/** 53300 is the answer of a server with no connection left, XX000 that of a fault of its own. */
type State = '53300' | 'XX000';

/** Has Postgres answer some updates with a SQLSTATE. Answers what ends that. */
async function refuse({ url }: TestDatabase, id: string, updates: string, state: State): Promise<() => Promise<void>> {
  const run = async (text: string) => {
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query(text).finally(() => admin.end());
  };
  const name = `refuse_${id.replaceAll('-', '')}`;
  await run(`
    create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'refused' using errcode = '${state}'; end $$;
    create trigger ${name} before update of ${updates} execute function ${name}()`);
  return () => run(`drop function ${name}() cascade`);
}

/** Refuses every new version of a table of the lake. */
export const refuseCommits = (database: TestDatabase, tableId: string, state: State) =>
  refuse(database, tableId, `version on lake_tables for each row when (old.id = '${tableId}')`, state);

/** Refuses the completion of an export. */
export const refuseCompletion = (database: TestDatabase, exportId: string, state: State) =>
  refuse(database, exportId, `status on exports for each row when (old.id = '${exportId}' and new.status = 'completed')`, state);
