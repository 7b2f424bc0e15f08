export type FlowNodeType = 'question' | 'instruction' | 'measurement' | 'analysis' | 'branch';

/** Where a node stands on the drawing. */
export interface FlowPosition {
  x: number;
  y: number;
}

/** A step of the flow. */
export interface FlowNode {
  /** Unique in the flow. */
  id: string;
  type: FlowNodeType;
  /** For a question, the label whose canonical form is the column of its answers. */
  name: string;
  /**
   * By type. question: `kind` (yes_no, open_ended, number, multi_choice), `text` (0 to 64), `required`, and for multi_choice `options` (1 or more texts of 1 to 64).
   * instruction: `text`. measurement: `protocolId` and `params`, or `command` {`format` string, json or yaml, `content`}. analysis: `macroId` and `params`.
   * branch: `paths` (each `id`, `label`, `color`) and `defaultPathId`.
   */
  content: Record<string, unknown>;
  /** Exactly one node is the start. */
  isStart?: boolean;
  position?: FlowPosition;
}

/** A way from one node to another. */
export interface FlowEdge {
  /** Unique in the flow. */
  id: string;
  /** Id of the node that it leaves. */
  source: string;
  /** Id of the node that it enters. */
  target: string;
  label?: string | null;
  /** Of a branch: the path that it belongs to. */
  sourceHandle?: string | null;
}

export interface FlowGraph {
  /** @maxItems 1000 */
  nodes: FlowNode[];
  /** @maxItems 5000 */
  edges: FlowEdge[];
}

/** Both parts, or neither: then nothing changes. */
export interface FlowReplacement {
  /** @maxItems 1000 */
  nodes?: FlowNode[];
  /** @maxItems 5000 */
  edges?: FlowEdge[];
}

/** The flow of an experiment. */
export interface Flow {
  id: string;
  experimentId: string;
  graph: FlowGraph;
  createdAt: Date;
  updatedAt: Date;
}
