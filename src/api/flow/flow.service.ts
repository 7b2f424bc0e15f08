import { randomUUIDv7 } from 'node:crypto';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { auditExperiment } from '../experiments/auditing.service.ts';
import { lockOpenExperiment } from '../experiments/open.service.ts';
import { dropVersion, readShape, refuseBody, requireExpected, type Target } from '../input/input.service.ts';
import type { Flow, FlowGraph, FlowReplacement } from './flow.model.ts';
import { deleteFlow, findFlow, insertFlow, updateFlow, type VersionedFlow } from './flow.queries.ts';
import { listGraphProblems, graphShape } from './graph.ts';

export { canonicaliseQuestion, isReservedColumn } from './questions.ts';

/** Checks a graph, and answers it with its defaults filled in. Errors: invalid input, with paths that begin with `root`. */
function checkGraph(graph: unknown, root = ''): FlowGraph {
  const shaped = readShape(graphShape, graph, root);
  const problems = listGraphProblems(shaped, root);
  if (problems.length > 0) throw refuseBody(problems);
  return shaped;
}

/**
 * Makes `graph` the flow of an experiment, whatever flow it had before, inside the caller's transaction. Null, or a graph without nodes, leaves the experiment
 * without a flow. The caller has locked the experiment and decided that it may be written. Errors: invalid input (`graph.nodes[0].name`) as for a flow that is
 * sent.
 */
export async function replaceFlow(tx: Transaction, experimentId: string, graph: FlowGraph | null): Promise<Flow | null> {
  if (graph === null || graph.nodes.length === 0) {
    await deleteFlow(tx, experimentId);
    return null;
  }
  const given = checkGraph(graph, 'graph');
  const saved = (await updateFlow(tx, experimentId, given)) ?? (await insertFlow(tx, { id: randomUUIDv7(), experimentId, graph: given }));
  if (!saved) throw errors.conflict();
  return dropVersion(saved);
}

/** Gives an experiment its flow. Errors: flow exists, experiment archived, invalid input. */
export async function createFlow(ctx: Context, caller: Caller, experimentId: string, body: FlowGraph): Promise<VersionedFlow> {
  const graph = checkGraph(body);
  return ctx.db.transaction(async (tx) => {
    await lockOpenExperiment(tx, experimentId);
    const made = (await insertFlow(tx, { id: randomUUIDv7(), experimentId, graph })) ?? refuse(errors.flowExists());
    await auditExperiment(tx, caller, experimentId, 'flow.saved');
    const { version, ...flow } = made;
    return { ...(await caller.created(tx, flow)), version };
  });
}

/** Replaces the flow. Errors: flow not found, experiment archived, invalid input, precondition failed. */
export async function changeFlow(ctx: Context, caller: Caller, target: Target, body: FlowReplacement): Promise<VersionedFlow> {
  const { id: experimentId, versions } = target;
  const graph = body.nodes === undefined && body.edges === undefined ? null : checkGraph(body);
  return ctx.db.transaction(async (tx) => {
    if (graph) await lockOpenExperiment(tx, experimentId);
    const current = (await findFlow(tx, experimentId)) ?? refuse(errors.flowNotFound());
    requireExpected(current.version, versions);
    if (!graph) return current;
    const changed = (await updateFlow(tx, experimentId, graph)) ?? refuse(errors.flowNotFound());
    await auditExperiment(tx, caller, experimentId, 'flow.saved');
    return changed;
  });
}
