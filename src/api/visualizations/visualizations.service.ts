import { randomUUIDv7 } from 'node:crypto';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Queryable, Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { lockOpenExperiment, type PartTarget } from '../experiments/open.service.ts';
import { listGiven, readShape, refuseBody, requireExpected } from '../input/input.service.ts';
import { checkRoles } from './roles.ts';
import { configShape, dataConfigShape } from './shape.ts';
import type { ChartType, DataConfig, NewVisualization, VisualizationPatch } from './visualizations.model.ts';
import {
  deleteVisualization,
  findVisualization,
  insertVisualization,
  listForeignVisualizations,
  updateVisualization,
  type VersionedVisualization,
} from './visualizations.queries.ts';

function checkDataConfig(type: ChartType, given: DataConfig): DataConfig {
  const config = readShape(dataConfigShape, given, '/dataConfig');
  const problems = checkRoles(type, config);
  if (problems.length > 0) throw refuseBody(problems);
  return config;
}

async function mustFind(tx: Transaction, { experimentId, id }: Omit<PartTarget, 'versions'>): Promise<VersionedVisualization> {
  return (await findVisualization(tx, experimentId, id)) ?? refuse(errors.visualizationNotFound());
}

/** Adds a chart; columns without a name make it a draft. Errors: invalid input, experiment archived. */
export async function createVisualization(
  ctx: Context,
  caller: Caller,
  experimentId: string,
  body: NewVisualization,
): Promise<VersionedVisualization> {
  const dataConfig = checkDataConfig(body.chartType, body.dataConfig);
  const config = readShape(configShape, body.config ?? {}, '/config');
  return ctx.db.transaction(async (tx) => {
    await lockOpenExperiment(tx, experimentId);
    const id = randomUUIDv7();
    const { name, description = null, chartFamily, chartType } = body;
    await insertVisualization(tx, {
      id,
      experimentId,
      name,
      description,
      chartFamily,
      chartType,
      config,
      dataConfig,
      createdBy: caller.userId,
    });
    await auditExperiment(tx, caller, experimentId, 'visualization.created', { visualizationId: id });
    const { version, ...made } = await mustFind(tx, { experimentId, id });
    return { ...(await caller.created(tx, made)), version };
  });
}

/** Changes the given fields. Errors: visualization not found, invalid input, experiment archived, precondition failed. */
export async function patchVisualization(
  ctx: Context,
  caller: Caller,
  target: PartTarget,
  body: VisualizationPatch,
): Promise<VersionedVisualization> {
  const config = body.config === undefined ? undefined : readShape(configShape, body.config, '/config');
  const given = listGiven(body, { name: true, description: true, chartFamily: true, chartType: true, config: true, dataConfig: true });
  return ctx.db.transaction(async (tx) => {
    if (given.length > 0) await lockOpenExperiment(tx, target.experimentId);
    const found = await mustFind(tx, target);
    requireExpected(found.version, target.versions);
    if (given.length === 0) return found;
    const chartType = body.chartType ?? found.chartType;
    const asked = body.dataConfig ?? (body.chartType === undefined ? undefined : found.dataConfig);
    await updateVisualization(tx, {
      id: target.id,
      name: body.name ?? found.name,
      description: body.description === undefined ? found.description : body.description,
      chartFamily: body.chartFamily ?? found.chartFamily,
      chartType,
      config: config ?? found.config,
      dataConfig: asked === undefined ? found.dataConfig : checkDataConfig(chartType, asked),
    });
    await auditExperiment(tx, caller, target.experimentId, 'visualization.updated', { visualizationId: target.id, fields: given });
    return mustFind(tx, target);
  });
}

/** Removes a chart; widgets that show it are left without one. Errors: visualization not found, experiment archived, precondition failed. */
export const removeVisualization = (ctx: Context, caller: Caller, target: PartTarget): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    await lockOpenExperiment(tx, target.experimentId);
    requireExpected((await mustFind(tx, target)).version, target.versions);
    await deleteVisualization(tx, target.id);
    await auditExperiment(tx, caller, target.experimentId, 'visualization.deleted', { visualizationId: target.id });
  });

/** Finds those of these charts that belong to another experiment and so may not be shown in this one. */
export const findForeignVisualizations = async (db: Queryable, experimentId: string, ids: readonly string[]): Promise<Set<string>> =>
  new Set(ids.length === 0 ? [] : await listForeignVisualizations(db, experimentId, ids));
