import { randomUUIDv7 } from 'node:crypto';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { printLongNumbers } from '../../json.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { lockOpenExperiment, type PartTarget } from '../experiments/open.service.ts';
import { isReservedColumn } from '../flow/flow.service.ts';
import { printBounded, readShape, refuseBody, requireExpected } from '../input/input.service.ts';
import { refreshMetadata } from './lake.service.ts';
import type { Metadata, MetadataRecord, MetadataReplacement, NewMetadataRecord } from './metadata.model.ts';
import { deleteRecord, findRecord, insertRecord, measureRecords, updateRecord, type StoredRecord } from './metadata.queries.ts';
import { findDuplicateIdentifiers, listMetadataProblems, metadataShape } from './records.ts';

const MOST_CHARACTERS = 5_000_000;
/** The engine holds every cell of the joined rows, also an empty one: 40 million of them did not fit its memory. */
const MOST_TOGETHER = { count: 100, size: 50_000_000, cells: 5_000_000 };

/** Adds the duplicate identifiers to a stored record, and takes away its version, for an answer. */
export function addDuplicates({ version: _version, ...record }: StoredRecord): MetadataRecord {
  return { ...record, duplicateIdentifiers: findDuplicateIdentifiers(record.metadata) };
}

function checkMetadata(given: Metadata): { metadata: Metadata; size: number } {
  const size = printBounded(given, '/metadata', MOST_CHARACTERS).length;
  const metadata = readShape(metadataShape, printLongNumbers(given), '/metadata');
  const problems = listMetadataProblems(metadata, isReservedColumn);
  if (problems.length > 0) throw refuseBody(problems);
  return { metadata, size };
}

async function refuseTooMuch(tx: Transaction, experimentId: string, size: number, exceptId: string | null): Promise<void> {
  const there = await measureRecords(tx, experimentId, exceptId);
  if (there.count >= MOST_TOGETHER.count || there.size + size > MOST_TOGETHER.size) throw errors.metadataFull();
}

async function mustFind(tx: Transaction, { experimentId, id }: Omit<PartTarget, 'versions'>): Promise<StoredRecord> {
  return (await findRecord(tx, experimentId, id)) ?? refuse(errors.metadataNotFound());
}

/** Adds a metadata table. Errors: invalid input, experiment archived, metadata full. */
export async function createMetadata(ctx: Context, caller: Caller, experimentId: string, body: NewMetadataRecord): Promise<StoredRecord> {
  const { metadata, size } = checkMetadata(body.metadata);
  return ctx.db.transaction(async (tx) => {
    await lockOpenExperiment(tx, experimentId);
    await refuseTooMuch(tx, experimentId, size, null);
    const made = await insertRecord(tx, { id: randomUUIDv7(), experimentId, metadata, size, createdBy: caller.userId });
    if (!made) throw errors.conflict();
    await refreshMetadata(ctx, tx, experimentId, MOST_TOGETHER.cells);
    await auditExperiment(tx, caller, experimentId, 'metadata.created', { metadataId: made.metadataId });
    await caller.created(tx, addDuplicates(made));
    return made;
  });
}

/** Replaces a metadata table. Its creator and time of creation stay. Errors: metadata not found, experiment archived, precondition failed. */
export async function changeMetadata(ctx: Context, caller: Caller, target: PartTarget, body: MetadataReplacement): Promise<StoredRecord> {
  const given = body.metadata === undefined ? null : checkMetadata(body.metadata);
  const { experimentId, id } = target;
  return ctx.db.transaction(async (tx) => {
    if (given) await lockOpenExperiment(tx, experimentId);
    const found = await mustFind(tx, target);
    requireExpected(found.version, target.versions);
    if (!given) return found;
    await refuseTooMuch(tx, experimentId, given.size, id);
    const changed = (await updateRecord(tx, id, given.metadata, given.size)) ?? refuse(errors.metadataNotFound());
    await refreshMetadata(ctx, tx, experimentId, MOST_TOGETHER.cells);
    await auditExperiment(tx, caller, experimentId, 'metadata.updated', { metadataId: id });
    return changed;
  });
}

/** Removes a metadata table. Errors: metadata not found, experiment archived, precondition failed. */
export const removeMetadata = (ctx: Context, caller: Caller, target: PartTarget): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    const { experimentId, id } = target;
    await lockOpenExperiment(tx, experimentId);
    requireExpected((await mustFind(tx, target)).version, target.versions);
    await deleteRecord(tx, id);
    await refreshMetadata(ctx, tx, experimentId);
    await auditExperiment(tx, caller, experimentId, 'metadata.deleted', { metadataId: id });
  });
