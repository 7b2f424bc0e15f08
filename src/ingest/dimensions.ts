import type { Database } from '../database/database.ts';
import { commit, createTable, filesAt, findTable } from '../lakehouse/manifest.ts';
import type { StagingArea } from '../lakehouse/staging.ts';

export interface IdentityRow {
  userId: string;
  name: string;
  avatar: string | null;
  pseudonym: string;
}

interface DimensionDeps {
  db: Database;
  staging: StagingArea;
}

const TRIES = 10;

const isStale = (error: unknown) => (error as { code?: unknown }).code === 'SOURCE_CHANGED';

const stageRows = (staging: StagingArea, tableId: string, experimentId: string, rows: readonly IdentityRow[]) =>
  staging.stage({
    tableId,
    experimentId,
    select: {
      sql: `select $1 as experiment_id, person."userId" as user_id, person.name, person.avatar, person.pseudonym, person."userId" as id, now() as replaced_at
        from (select unnest(from_json($2, '[{"userId":"VARCHAR","name":"VARCHAR","avatar":"VARCHAR","pseudonym":"VARCHAR"}]')) as person)`,
      values: [
        { type: { kind: 'string' }, value: experimentId },
        { type: { kind: 'string' }, value: JSON.stringify(rows) },
      ],
    },
    sortColumn: 'replaced_at',
  });

/**
 * Replaces the identity dimension of an experiment as a whole, as a new version; nobody to name is nothing to do. The people are read after the version
 * that is replaced: whoever finds that version gone reads again, so that a name read before a change is never written after it.
 */
export async function replaceIdentity(
  { db, staging }: DimensionDeps,
  experimentId: string,
  readPeople: () => Promise<readonly IdentityRow[]>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const before = (await findTable(db, experimentId, 'identity'))?.version ?? 0;
    const rows = await readPeople();
    if (rows.length === 0) return;
    const table = await createTable(db, { experimentId, kind: 'identity' });
    const staged = await stageRows(staging, table.id, experimentId, rows);
    try {
      await db.transaction(async (tx) => {
        const live = await filesAt(tx, table.id, before);
        await commit(tx, { tableId: table.id, cause: 'replace', basedOn: before, files: staged.files, retire: live.map(({ id }) => id) });
      });
      return;
    } catch (error) {
      await staging.remove(staged.files.map(({ path }) => path));
      if (!isStale(error) || tries === TRIES) throw error;
    }
  }
}
