/** Macros for measurements that name no macro: those of their workbook, or else of their protocol. */
import type { Queryable } from '../../database/database.ts';
import { isUuid } from '../../database/uuid.ts';
import { MACROS_RUN, type MeasurementRow } from '../../ingest/messages/rows.ts';
import { listProtocolMacros, listWorkbookSteps, type WorkbookSteps } from './attached.queries.ts';

export interface AttachedMacro {
  macroId: string;
  /** The workbook version whose kept code runs; null for the macro's current code. */
  workbookVersionId: string | null;
}

/** Finds the macros that are attached to a measurement. */
export type FindAttached = (row: Pick<MeasurementRow, 'facts' | 'macros'>) => readonly AttachedMacro[];

const NONE: readonly never[] = [];

const idOf = (text: string | null): string | null => (text !== null && isUuid(text) ? text.toLowerCase() : null);

/**
 * Picks macros from a workbook's steps. Where the workbook has the protocol, these are the macros between it and the next protocol; otherwise they are all
 * macros. Pure.
 */
export function pickMacros(steps: WorkbookSteps['steps'], protocolId: string | null): string[] {
  const hasProtocol = steps.some(([type, id]) => type === 'protocol' && id === protocolId);
  const macroIds = new Set<string>();
  let isAfter = !hasProtocol;
  for (const [type, id] of steps) {
    if (type === 'macro' && isAfter) macroIds.add(id);
    if (type === 'protocol' && hasProtocol) isAfter = id === protocolId;
  }
  return [...macroIds].slice(0, MACROS_RUN);
}

/**
 * Looks up the macros that are attached to these measurements, in at most two statements. The workbook is the one that a measurement names, or else the one
 * that the experiment uses. The protocol counts where the workbook has no macro for it.
 */
export async function findAttached(db: Queryable, experimentId: string, measurements: readonly MeasurementRow[]): Promise<FindAttached> {
  const versionIds = new Set<string>();
  const protocolIds = new Set<string>();
  let isAsked = false;
  for (const { macros, facts } of measurements) {
    if (macros !== null) continue;
    isAsked = true;
    const [versionId, protocolId] = [idOf(facts.workbookVersionId), idOf(facts.protocolId)];
    if (versionId !== null) versionIds.add(versionId);
    if (protocolId !== null) protocolIds.add(protocolId);
  }
  if (!isAsked) return () => NONE;
  const workbooks = await listWorkbookSteps(db, experimentId, [...versionIds]);
  const linked = protocolIds.size === 0 ? [] : await listProtocolMacros(db, [...protocolIds]);
  const stepsOf = new Map(workbooks.map((workbook) => [workbook.versionId, workbook]));
  const used = workbooks.find(({ isUsed }) => isUsed);
  const found = new Map<string, readonly AttachedMacro[]>();
  const find = (versionId: string | null, protocolId: string | null): readonly AttachedMacro[] => {
    const workbook = stepsOf.get(versionId ?? '') ?? used;
    const ofWorkbook = workbook ? pickMacros(workbook.steps, protocolId) : NONE;
    if (workbook && ofWorkbook.length > 0) return ofWorkbook.map((macroId) => ({ macroId, workbookVersionId: workbook.versionId }));
    const ofProtocol = linked.filter((link) => link.protocolId === protocolId);
    return ofProtocol.slice(0, MACROS_RUN).map(({ macroId }) => ({ macroId, workbookVersionId: null }));
  };
  return ({ macros, facts }) => {
    if (macros !== null) return NONE;
    const [versionId, protocolId] = [idOf(facts.workbookVersionId), idOf(facts.protocolId)];
    const key = `${versionId ?? ''} ${protocolId ?? ''}`;
    const attached = found.get(key) ?? find(versionId, protocolId);
    found.set(key, attached);
    return attached;
  };
}
