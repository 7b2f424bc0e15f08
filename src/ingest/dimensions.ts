import type { Database, Transaction } from '../database/database.ts';
import type { ColumnType } from '../lakehouse/terms/catalog.ts';
import { removeUnlessCommitted, retryUnchanged } from '../lakehouse/tables/attempts.ts';
import { commit, createTable, listFilesAt, findTable } from '../lakehouse/tables/manifest.ts';
import { listPaths, useSession, type StagingArea } from '../lakehouse/tables/staging.ts';
import { printPhysicalType } from '../lakehouse/terms/physical-types.ts';
import { quoteName } from '../lakehouse/terms/quoting.ts';
import { setVariable } from './pipeline.ts';

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

/** What a dimension is to hold: a statement whose first value is the experiment's id, and its other values. */
interface Selected {
  sql: string;
  values: readonly string[];
}

const stageSelected = (staging: StagingArea, tableId: string, experimentId: string, { sql, values }: Selected) =>
  staging.stage({
    tableId,
    experimentId,
    select: { sql, values: [experimentId, ...values].map((value) => ({ type: { kind: 'string' }, value })) },
    sortColumn: 'replaced_at',
  });

const PEOPLE = `
  select $1 as experiment_id, person."userId" as user_id, person.name, person.avatar, person.pseudonym, person."userId" as id, now() as replaced_at
  from (select unnest(from_json($2, '[{"userId":"VARCHAR","name":"VARCHAR","avatar":"VARCHAR","pseudonym":"VARCHAR"}]')) as person)`;

const textOf = (rows: readonly IdentityRow[]) =>
  JSON.stringify(rows.map(({ userId, name, avatar, pseudonym }) => JSON.stringify([userId, name, avatar, pseudonym])).sort());

/** Whether a version of the dimension holds exactly these people. */
async function holds(
  { db, staging }: DimensionDeps,
  table: { id: string; version: number },
  rows: readonly IdentityRow[],
): Promise<boolean> {
  const files = await listFilesAt(db, table.id, table.version);
  if (files.length === 0) return false;
  return useSession(staging, {}, async (session) => {
    await session.prepare([setVariable('files', listPaths(staging, files))]);
    const there = await session.rows({
      sql: `select user_id as "userId", name, avatar, pseudonym from read_parquet(getvariable('files'), union_by_name = true, hive_partitioning = false)`,
      values: [],
    });
    return textOf(there as unknown as IdentityRow[]) === textOf(rows);
  });
}

/**
 * Replaces the identity dimension of an experiment as a whole, by a new version. Does nothing when there are no people, or when the dimension holds exactly
 * these people already. The people are read after the version that is to be replaced. When another writer has replaced that version meanwhile, the people are
 * read again, so that an old name is never written over a new one.
 */
export const replaceIdentity = (
  { db, staging }: DimensionDeps,
  experimentId: string,
  readPeople: () => Promise<readonly IdentityRow[]>,
): Promise<void> =>
  retryUnchanged(TRIES, async () => {
    const known = await findTable(db, experimentId, 'identity');
    const before = known?.version ?? 0;
    const rows = await readPeople();
    if (rows.length === 0) return;
    if (known && (await holds({ db, staging }, known, rows)) && (await findTable(db, experimentId, 'identity'))?.version === before) return;
    const table = await createTable(db, { experimentId, kind: 'identity' });
    const staged = await stageSelected(staging, table.id, experimentId, { sql: PEOPLE, values: [JSON.stringify(rows)] });
    await removeUnlessCommitted({ db, staging }, [staged], () =>
      db.transaction(async (tx) => {
        const live = await listFilesAt(tx, table.id, before);
        await commit(tx, { tableId: table.id, cause: 'replace', basedOn: before, files: staged.files, retire: live.map(({ id }) => id) });
      }),
    );
  });

export interface RegistryRow {
  /** The client id, as the broker proved it. */
  clientId: string;
  id: string;
  serialNumber: string;
  ownerId: string;
  status: string;
  deviceType: string;
}

/** Replaces a dimension of an experiment as a whole, in the caller's transaction. That transaction keeps others from doing so at the same time. */
async function replaceDimension(
  staging: StagingArea,
  tx: Transaction,
  { experimentId, kind }: { experimentId: string; kind: 'registry' | 'metadata_record' },
  selected: Selected | null,
): Promise<void> {
  const { id: tableId, version } = await createTable(tx, { experimentId, kind });
  const retire = (await listFilesAt(tx, tableId, version)).map(({ id }) => id);
  if (!selected) {
    // what the lake has no version of is looked for by the nightly job until it has one
    if (retire.length > 0 || version === 0) await commit(tx, { tableId, cause: 'replace', retire });
    return;
  }
  const { files } = await stageSelected(staging, tableId, experimentId, selected);
  try {
    await commit(tx, { tableId, cause: 'replace', files, retire });
  } catch (error) {
    await staging.remove(files.map(({ path }) => path));
    throw error;
  }
}

const DEVICES = `
  select $1 as experiment_id, device."clientId" as client_id, device.id, device."serialNumber" as serial_number, device."ownerId" as owner_id,
    device.status, device."deviceType" as device_type, now() as replaced_at
  from (select unnest(from_json($2, '[{"clientId":"VARCHAR","id":"VARCHAR","serialNumber":"VARCHAR","ownerId":"VARCHAR","status":"VARCHAR","deviceType":"VARCHAR"}]')) as device)`;

/** Replaces the device dimension of an experiment, as `replaceDimension` does. */
export const replaceRegistry = (staging: StagingArea, tx: Transaction, experimentId: string, rows: readonly RegistryRow[]): Promise<void> =>
  replaceDimension(
    staging,
    tx,
    { experimentId, kind: 'registry' },
    rows.length === 0 ? null : { sql: DEVICES, values: [JSON.stringify(rows)] },
  );

export interface MetadataRows {
  columns: readonly { name: string; type: ColumnType }[];
  /** Values by the place of their column. */
  rows: readonly { matchedBy: string; key: string; values: ReadonlyMap<number, string | number> }[];
}

/** Prints what selects the rows of the metadata dimension. */
function selectMetadata({ columns, rows }: MetadataRows): Selected {
  // the JSON has names of our own for the columns, so that no name from the user has to be written in it
  const shape = { m: 'VARCHAR', k: 'VARCHAR', ...Object.fromEntries(columns.map(({ type }, at) => [`c${at}`, printPhysicalType(type)])) };
  const values = rows.map(({ matchedBy, key, values: cells }) => ({
    m: matchedBy,
    k: key,
    ...Object.fromEntries([...cells].map(([at, cell]) => [`c${at}`, cell])),
  }));
  const typed = columns.map(({ name }, at) => `, entry.c${at} as ${quoteName(name)}`).join('');
  const sql = `
    select $1 as experiment_id, entry.m as matched_column, entry.k as key${typed}, entry.m || chr(31) || entry.k as id, now() as replaced_at
    from (select unnest(from_json($2, $3)) as entry)`;
  return { sql, values: [JSON.stringify(values), JSON.stringify([shape])] };
}

/** Replaces the metadata dimension of an experiment, as `replaceDimension` does. */
export const replaceMetadata = (staging: StagingArea, tx: Transaction, experimentId: string, metadata: MetadataRows): Promise<void> =>
  replaceDimension(staging, tx, { experimentId, kind: 'metadata_record' }, metadata.rows.length === 0 ? null : selectMetadata(metadata));
