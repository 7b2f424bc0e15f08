import type { Queryable } from '../../database/database.ts';
import { fragment, sql } from '../../database/sql.ts';
import type { Flow, FlowGraph } from './flow.model.ts';

export type VersionedFlow = Flow & { version: number };

// an older row may lack a part, and a read must not fail because of that
const columns = fragment`
  f.id, f.experiment_id as "experimentId",
  jsonb_build_object('nodes', coalesce(f.graph -> 'nodes', '[]'), 'edges', coalesce(f.graph -> 'edges', '[]')) as graph,
  f.created_at as "createdAt", f.updated_at as "updatedAt", f.version`;

export const findFlow = (db: Queryable, experimentId: string) =>
  db.one<VersionedFlow>(sql('flow.find')`select ${columns} from flows f where f.experiment_id = ${experimentId}`);

/** Inserts a flow. Answers nothing when the experiment has one already. */
export const insertFlow = (db: Queryable, flow: { id: string; experimentId: string; graph: FlowGraph }) =>
  db.one<VersionedFlow>(sql('flow.insert')`
    insert into flows as f (id, experiment_id, graph) values (${flow.id}, ${flow.experimentId}, ${JSON.stringify(flow.graph)})
    on conflict (experiment_id) do nothing returning ${columns}`);

export const updateFlow = (db: Queryable, experimentId: string, graph: FlowGraph) =>
  db.one<VersionedFlow>(sql('flow.update')`
    update flows f set graph = ${JSON.stringify(graph)}, version = version + 1, updated_at = now()
    where f.experiment_id = ${experimentId} returning ${columns}`);

export const deleteFlow = (db: Queryable, experimentId: string) =>
  db.run(sql('flow.delete')`delete from flows where experiment_id = ${experimentId}`);
