import type { Database, Transaction } from '../database/database.ts';
import { commit, createTable } from '../lakehouse/tables/manifest.ts';
import type { StagingArea } from '../lakehouse/tables/staging.ts';
import type { Staged } from '../lakehouse/terms/warehouse.ts';

/** One change of an annotation: the whole of it as it is from then on. Times are ISO 8601. */
export interface AnnotationChange {
  id: string;
  /** Identifier of the table. */
  tableId: string;
  rowId: string;
  /** Of two changes of one annotation the greater sequence is the later. */
  sequence: number;
  deleted: boolean;
  type: string;
  text: string | null;
  flagType: string | null;
  /** Null: nobody we know. */
  createdBy: string | null;
  createdAt: string;
  updatedAt: string;
}

interface LogDeps {
  db: Database;
  staging: StagingArea;
}

const SHAPE = JSON.stringify([
  {
    id: 'VARCHAR',
    tableId: 'VARCHAR',
    rowId: 'VARCHAR',
    sequence: 'BIGINT',
    deleted: 'BOOLEAN',
    type: 'VARCHAR',
    text: 'VARCHAR',
    flagType: 'VARCHAR',
    createdBy: 'VARCHAR',
    createdAt: 'TIMESTAMPTZ',
    updatedAt: 'TIMESTAMPTZ',
  },
]);

/**
 * Adds changes to the annotation log of an experiment: one file, and one transaction that makes it visible together with what `alongside` writes.
 * When that throws, nothing has happened.
 */
export async function appendAnnotationChanges<T>(
  { db, staging }: LogDeps,
  experimentId: string,
  changes: readonly AnnotationChange[],
  alongside: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const staged = await stageChanges({ db, staging }, experimentId, changes);
  try {
    return await db.transaction(async (tx) => {
      const answer = await alongside(tx);
      await commit(tx, { tableId: staged.tableId, cause: 'ingest', files: staged.files });
      return answer;
    });
  } catch (error) {
    await staging.remove(staged.files.map(({ path }) => path));
    throw error;
  }
}

/** Writes changes as a file of the log that nobody reads before it is committed. */
export async function stageChanges({ db, staging }: LogDeps, experimentId: string, changes: readonly AnnotationChange[]): Promise<Staged> {
  const table = await createTable(db, { experimentId, kind: 'annotation' });
  return staging.stage({
    tableId: table.id,
    experimentId,
    select: {
      sql: `select $1 as experiment_id, change."tableId" as table_id, change."rowId" as row_id, change.id, change.sequence, change.deleted, change.type,
          change.text as content_text, change."flagType" as flag_type, change."createdBy" as created_by, change."createdAt" as created_at, change."updatedAt" as updated_at
        from (select unnest(from_json($2, '${SHAPE}')) as change)`,
      values: [
        { type: { kind: 'string' }, value: experimentId },
        { type: { kind: 'string' }, value: JSON.stringify(changes) },
      ],
    },
    sortColumn: 'updated_at',
  });
}
