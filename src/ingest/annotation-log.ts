import type { Database, Transaction } from '../database/database.ts';
import { removeUnlessCommitted } from '../lakehouse/tables/attempts.ts';
import { commit, createTable } from '../lakehouse/tables/manifest.ts';
import type { StagingArea } from '../lakehouse/tables/staging.ts';
import type { Staged } from '../lakehouse/terms/warehouse.ts';

/** One change of an annotation, as the whole annotation after that change. Times are ISO 8601. */
export interface AnnotationChange {
  id: string;
  /** Identifier of the table. */
  tableId: string;
  rowId: string;
  /** Of two changes of one annotation, the one with the greater sequence is the later. */
  sequence: number;
  deleted: boolean;
  type: string;
  text: string | null;
  flagType: string | null;
  /** Null when we do not know the author. */
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
 * Adds changes to the annotation log of an experiment as one file. One transaction makes the file visible and holds what `alongside` writes. When `alongside`
 * throws, nothing is changed.
 */
export async function appendAnnotationChanges<T>(
  { db, staging }: LogDeps,
  experimentId: string,
  changes: readonly AnnotationChange[],
  alongside: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const staged = await stageChanges({ db, staging }, experimentId, changes);
  return removeUnlessCommitted({ db, staging }, [staged], () =>
    db.transaction(async (tx) => {
      const answer = await alongside(tx);
      await commit(tx, { tableId: staged.tableId, cause: 'ingest', files: staged.files });
      return answer;
    }),
  );
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
