import { randomUUIDv7 } from 'node:crypto';
import { audit } from '../../auth/audit.ts';
import type { Actor } from '../../auth/caller.ts';
import { requireAccess } from '../../authorization/access.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { readExactJson } from '../../json.ts';
import { errors, refuse } from '../../errors.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { replaceFlow } from '../flow/flow.service.ts';
import { lockWithParts } from '../resources/resources.service.ts';
import { hashDesign, listUses, dropRunData, type Cell } from './cells.ts';
import { makeFlow } from './flow.ts';
import { MOST_CODE } from './problems.ts';
import { findLatest, findPin, findVersion, insertVersion, insertVersionUses, setPin } from './versions.queries.ts';
import type { EntitySnapshots, WorkbookPin, WorkbookVersion } from './workbooks.model.ts';
import { findWorkbook, listCode, listUsed, lockUsed } from './workbooks.queries.ts';

/** Reads one version with the protocols and macros that it keeps. Errors: version not found, also for a version of another workbook. */
export async function readVersion(db: Queryable, workbookId: string, id: string): Promise<WorkbookVersion> {
  const row = (await findVersion(db, workbookId, id)) ?? refuse(errors.workbookVersionNotFound());
  const { snapshots, ...version } = row;
  return { ...version, cells: row.cells as WorkbookVersion['cells'], entitySnapshots: readExactJson(snapshots) as EntitySnapshots };
}

async function loadSnapshots(tx: Transaction, ids: readonly string[]) {
  const code = await listCode(tx, ids);
  return {
    protocols: Object.fromEntries(
      code.flatMap(({ id, type, code: text, kind }) => (type === 'protocol' ? [[id, { code: readExactJson(text), family: kind }]] : [])),
    ),
    macros: Object.fromEntries(
      code.flatMap(({ id, type, code: text, kind }) => (type === 'macro' ? [[id, { code: text, language: kind }]] : [])),
    ),
  };
}

/**
 * Finds the version that holds the current state of a workbook: the latest, or a new one when the workbook has drifted from it. The workbook's row is locked,
 * so that any number of publications at once make one version. Errors: something that the workbook uses may not be read; too much code.
 */
async function publish(tx: Transaction, maker: Actor, workbookId: string): Promise<WorkbookPin> {
  await lockWithParts(tx, 'workbook', workbookId);
  const latest = await findLatest(tx, workbookId);
  if (latest && !latest.isDrifted) return { workbookId, workbookVersionId: latest.workbookVersionId, version: latest.version };
  const workbook = (await findWorkbook(tx, workbookId)) ?? refuse(errors.resourceNotFound('workbook'));
  const cells = workbook.cells as unknown as Cell[];
  const uses = listUses(cells);
  await lockUsed(tx, uses);
  const entities = await listUsed(tx, maker.userId, uses);
  const hidden = entities.find(({ isReadable }) => !isReadable);
  if (hidden) throw errors.workbookNotPublishable(hidden.type, hidden.id);
  const size = entities.reduce((sum, entity) => sum + entity.size, 0);
  if (size > MOST_CODE) throw errors.workbookTooLarge(size, MOST_CODE);
  const id = randomUUIDv7();
  const version = (latest?.version ?? 0) + 1;
  await insertVersion(tx, {
    id,
    workbookId,
    version,
    cells: JSON.stringify(dropRunData(cells)),
    metadata: JSON.stringify(workbook.metadata),
    designDigest: hashDesign(cells),
    snapshots: JSON.stringify(
      await loadSnapshots(
        tx,
        entities.map((entity) => entity.id),
      ),
    ),
    createdBy: maker.userId,
  });
  await insertVersionUses(tx, id, workbookId);
  await audit(tx, maker, { action: 'workbook.version-published', resource: { type: 'workbook', id: workbookId }, details: { version } });
  return { workbookId, workbookVersionId: id, version };
}

/** What an experiment follows from now on; no flow when no cell is a step. */
export interface Followed {
  pin: WorkbookPin;
  flowId: string | null;
}

async function follow(tx: Transaction, maker: Actor, experimentId: string, pin: WorkbookPin): Promise<Followed> {
  const { cells } = await readVersion(tx, pin.workbookId, pin.workbookVersionId);
  const flow = await replaceFlow(tx, experimentId, makeFlow(cells as unknown as Cell[]));
  await setPin(tx, experimentId, pin);
  await auditExperiment(tx, maker, experimentId, 'experiment.workbook-attached', pin);
  return { pin, flowId: flow?.id ?? null };
}

/**
 * Makes an experiment follow the current state of a workbook. Publishes a version when the workbook has drifted, pins the version and writes the flow. The
 * caller has locked the experiment and decided that it may be written. Errors: workbook not found or not readable, not publishable, or no valid flow.
 */
export async function attach(tx: Transaction, maker: Actor, experimentId: string, workbookId: string): Promise<Followed> {
  await requireAccess(tx, maker.userId, 'workbook', workbookId, 'read');
  return follow(tx, maker, experimentId, await publish(tx, maker, workbookId));
}

async function attachedTo(tx: Transaction, experimentId: string): Promise<string> {
  const pin = await findPin(tx, experimentId);
  if (!pin?.workbookId) throw errors.noWorkbookAttached();
  return pin.workbookId;
}

/** Attaches the current state of the workbook that the experiment follows already. Errors: those of `attach`, and none attached. */
export const upgrade = async (tx: Transaction, maker: Actor, experimentId: string): Promise<Followed> =>
  attach(tx, maker, experimentId, await attachedTo(tx, experimentId));

/** Pins an earlier or later version of the attached workbook. Errors: none attached; version not found. */
export async function pinVersion(tx: Transaction, maker: Actor, experimentId: string, versionId: string): Promise<Followed> {
  const workbookId = await attachedTo(tx, experimentId);
  await requireAccess(tx, maker.userId, 'workbook', workbookId, 'read');
  const { version } = await readVersion(tx, workbookId, versionId);
  return follow(tx, maker, experimentId, { workbookId, workbookVersionId: versionId, version });
}

/** Ends following: no workbook and no flow; the version stays as history. Errors: none attached. */
export async function detach(tx: Transaction, maker: Actor, experimentId: string): Promise<void> {
  const workbookId = await attachedTo(tx, experimentId);
  await setPin(tx, experimentId, null);
  await replaceFlow(tx, experimentId, null);
  await auditExperiment(tx, maker, experimentId, 'experiment.workbook-detached', { workbookId });
}
