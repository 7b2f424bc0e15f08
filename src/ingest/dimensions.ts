import type { Database } from '../database/database.ts';
import { commit, createTable, filesAt } from '../lakehouse/manifest.ts';
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

const TRIES = 5;

const isStale = (error: unknown) => (error as { code?: unknown }).code === 'SOURCE_CHANGED';

/**
 * Replaces the identity dimension of an experiment as a whole, as a new version. Two at once: the later one is tried again, so that what was asked
 * last is what stays.
 */
export async function replaceIdentity({ db, staging }: DimensionDeps, experimentId: string, rows: readonly IdentityRow[]): Promise<void> {
  const table = await createTable(db, { experimentId, kind: 'identity' });
  const staged = await staging.stage({
    tableId: table.id,
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
  for (let tries = 1; ; tries += 1) {
    try {
      await db.transaction(async (tx) => {
        const current = await createTable(tx, { experimentId, kind: 'identity' });
        const live = await filesAt(tx, current.id, current.version);
        await commit(tx, { tableId: table.id, cause: 'replace', files: staged.files, retire: live.map(({ id }) => id) });
      });
      return;
    } catch (error) {
      if (isStale(error) && tries < TRIES) continue;
      await staging.remove(staged.files.map(({ path }) => path));
      throw error;
    }
  }
}
