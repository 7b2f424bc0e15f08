import { randomUUIDv7 } from 'node:crypto';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { lockOpenExperiment, type PartTarget } from '../experiments/open.service.ts';
import { listGiven, readShape, refuseBody, requireExpected } from '../input/input.service.ts';
import { findForeignVisualizations } from '../visualizations/visualizations.service.ts';
import type { DashboardPatch, DashboardWidget, NewDashboard } from './dashboards.model.ts';
import { deleteDashboard, findDashboard, insertDashboard, updateDashboard, type VersionedDashboard } from './dashboards.queries.ts';
import { layoutShape, listVisualizationUses, readWidgets } from './widgets.ts';

async function mustFind(tx: Transaction, { experimentId, id }: Omit<PartTarget, 'versions'>): Promise<VersionedDashboard> {
  return (await findDashboard(tx, experimentId, id)) ?? refuse(errors.dashboardNotFound());
}

/** Refuses charts of another experiment. A chart that no longer exists is accepted, and leaves an empty place. */
async function refuseForeign(tx: Transaction, experimentId: string, widgets: readonly DashboardWidget[]): Promise<void> {
  const shown = listVisualizationUses(widgets);
  const foreign = await findForeignVisualizations(
    tx,
    experimentId,
    shown.map(({ id }) => id),
  );
  const problems = shown
    .filter(({ id }) => foreign.has(id))
    .map(({ path }) => ({ path, message: 'is a visualization of another experiment' }));
  if (problems.length > 0) throw refuseBody(problems);
}

/** Adds a dashboard. Errors: invalid input, experiment archived. */
export async function createDashboard(ctx: Context, caller: Caller, experimentId: string, body: NewDashboard): Promise<VersionedDashboard> {
  const layout = readShape(layoutShape, body.layout ?? {}, '/layout');
  const widgets = await readWidgets(body.widgets ?? []);
  return ctx.db.transaction(async (tx) => {
    await lockOpenExperiment(tx, experimentId);
    await refuseForeign(tx, experimentId, widgets);
    const id = randomUUIDv7();
    const { name, description = null } = body;
    await insertDashboard(tx, { id, experimentId, name, description, layout, widgets, createdBy: caller.userId });
    await auditExperiment(tx, caller, experimentId, 'dashboard.created', { dashboardId: id });
    const { version, ...made } = await mustFind(tx, { experimentId, id });
    return { ...(await caller.created(tx, made)), version };
  });
}

/** Changes the given fields. A layout or a list of widgets is replaced as a whole. Errors: as for a creation, dashboard not found, precondition failed. */
export async function patchDashboard(ctx: Context, caller: Caller, target: PartTarget, body: DashboardPatch): Promise<VersionedDashboard> {
  const layout = body.layout === undefined ? undefined : readShape(layoutShape, body.layout, '/layout');
  const widgets = body.widgets === undefined ? undefined : await readWidgets(body.widgets);
  const given = listGiven(body, { name: true, description: true, layout: true, widgets: true });
  return ctx.db.transaction(async (tx) => {
    if (given.length > 0) await lockOpenExperiment(tx, target.experimentId);
    const found = await mustFind(tx, target);
    requireExpected(found.version, target.versions);
    if (given.length === 0) return found;
    if (widgets) await refuseForeign(tx, target.experimentId, widgets);
    await updateDashboard(tx, {
      id: target.id,
      name: body.name ?? found.name,
      description: body.description === undefined ? found.description : body.description,
      layout: layout ?? found.layout,
      widgets: widgets ?? found.widgets,
    });
    await auditExperiment(tx, caller, target.experimentId, 'dashboard.updated', { dashboardId: target.id, fields: given });
    return mustFind(tx, target);
  });
}

/** Removes a dashboard. Errors: dashboard not found, experiment archived, precondition failed. */
export const removeDashboard = (ctx: Context, caller: Caller, target: PartTarget): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    await lockOpenExperiment(tx, target.experimentId);
    requireExpected((await mustFind(tx, target)).version, target.versions);
    await deleteDashboard(tx, target.id);
    await auditExperiment(tx, caller, target.experimentId, 'dashboard.deleted', { dashboardId: target.id });
  });
