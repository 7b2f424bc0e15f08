import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { publishEvent } from '../events/events.service.ts';
import type { Experiment, NewExperiment } from '../experiments/experiments.model.ts';
import { addExperiment, loadExperiment } from '../experiments/experiments.service.ts';
import { lockOpenExperiment } from '../experiments/open.service.ts';
import { attach, detach, pinVersion, upgrade } from '../workbooks/versions.service.ts';
import type { WorkbookPin } from '../workbooks/workbooks.model.ts';

/** Creates an experiment and, with `workbookId`, attaches that workbook as the attach route would. */
export const createExperiment = (ctx: Context, caller: Caller, body: NewExperiment): Promise<Experiment> =>
  ctx.db.transaction(async (tx) => {
    const id = await addExperiment(tx, caller, body);
    if (body.workbookId !== undefined) await attach(tx, caller, id, body.workbookId);
    await publishEvent(ctx, tx, { kind: 'experiment.created', experimentId: id });
    return caller.created(tx, await loadExperiment(tx, id));
  });

const onOpenExperiment = <T>(ctx: Context, id: string, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  ctx.db.transaction(async (tx) => {
    await lockOpenExperiment(tx, id);
    return work(tx);
  });

/** Attaches the current state of a workbook. Errors: archived; workbook not found, not readable, not publishable, or without a valid flow. */
export const attachWorkbook = (ctx: Context, caller: Caller, id: string, workbookId: string): Promise<WorkbookPin> =>
  onOpenExperiment(ctx, id, async (tx) => (await attach(tx, caller, id, workbookId.toLowerCase())).pin);

/** Moves to the current state of the attached workbook. Errors: as for attaching, and none attached. */
export const upgradeWorkbook = (ctx: Context, caller: Caller, id: string): Promise<WorkbookPin> =>
  onOpenExperiment(ctx, id, async (tx) => (await upgrade(tx, caller, id)).pin);

/** Pins a version of the attached workbook. Errors: as for moving to the current state, and version not found. */
export const chooseVersion = (ctx: Context, caller: Caller, id: string, versionId: string): Promise<WorkbookPin> =>
  onOpenExperiment(ctx, id, async (tx) => (await pinVersion(tx, caller, id, versionId.toLowerCase())).pin);

/** Detaches the workbook and removes its flow; the version stays as history. Errors: archived; none attached. */
export const detachWorkbook = (ctx: Context, caller: Caller, id: string): Promise<Experiment> =>
  onOpenExperiment(ctx, id, async (tx) => {
    await detach(tx, caller, id);
    return loadExperiment(tx, id);
  });
