export type FlowNodeType = 'question' | 'instruction' | 'measurement' | 'analysis' | 'branch';

/** Where a node stands on the drawing. */
export interface FlowPosition {
  /** Units to the right. */
  x: number;
  /** Units down. */
  y: number;
}

/** A step of the flow. */
export interface FlowNode {
  /** Unique in the flow; 1 to 255 characters. */
  id: string;
  /** What a person does at this step, which decides what `content` holds. */
  type: FlowNodeType;
  /** Name of the step, 1 to 64 characters. For a question, the label whose canonical form is the column of its answers. */
  name: string;
  /**
   * By type. question: `kind` (yes_no, open_ended, number, multi_choice), `text` (0 to 64), `required`, and for multi_choice `options` (1 or more texts of 1 to 64).
   * instruction: `text`. measurement: `protocolId` and `params`, or `command` {`format` string, json or yaml, `content`}. analysis: `macroId` and `params`.
   * branch: `paths` (each `id`, `label`, `color`) and `defaultPathId`.
   */
  content: Record<string, unknown>;
  /** Whether the flow begins here; false by default. Exactly one node is the start. */
  isStart?: boolean;
  /** Where the node stands on the drawing; absent when nobody placed it. */
  position?: FlowPosition;
}

/** A way from one node to another. */
export interface FlowEdge {
  /** Unique in the flow; 1 to 255 characters. */
  id: string;
  /** Id of the node that it leaves. */
  source: string;
  /** Id of the node that it enters. */
  target: string;
  /** Text that is drawn beside the way, at most 64 characters; null or absent when there is none. */
  label?: string | null;
  /** For a way that leaves a branch: id of the branch's path that it follows, at most 64 characters. Null or absent for other ways. */
  sourceHandle?: string | null;
}

/** Steps, and the ways between them. */
export interface FlowGraph {
  /**
   * Steps, 1 to 1,000; exactly one of them is the start.
   * @maxItems 1000
   */
  nodes: FlowNode[];
  /**
   * Ways between the steps, at most 5,000.
   * @maxItems 5000
   */
  edges: FlowEdge[];
}

/** Both parts, or neither: then nothing changes. */
export interface FlowReplacement {
  /**
   * Steps, 1 to 1,000; exactly one of them is the start.
   * @maxItems 1000
   */
  nodes?: FlowNode[];
  /**
   * Ways between the steps, at most 5,000.
   * @maxItems 5000
   */
  edges?: FlowEdge[];
}

/** The flow of an experiment. */
export interface Flow {
  /** Names the flow. */
  id: string;
  /** Experiment that it is of. */
  experimentId: string;
  graph: FlowGraph;
  createdAt: Date;
  updatedAt: Date;
}
