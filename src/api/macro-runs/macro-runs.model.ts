import type { ChartFilter } from '../visualizations/visualizations.model.ts';

export interface NewReprocess {
  /** Also where the measurement brought an output of the macro along, which then gives way to what is computed here. False by default. */
  includeDelivered?: boolean;
}

/** Over what a macro is run. */
export interface NewMacroRun extends NewReprocess {
  /** What measurements are narrowed by, as in a read of `raw_data`, or its JSON text; every measurement when absent. */
  filters?: ChartFilter[] | string;
  /** Whether it runs on measurements that are to come as well. What was said before stays when absent. */
  onNew?: boolean;
}

/** A request to run a macro over measurements of an experiment, and how far it is. */
export interface Reprocess {
  id: string;
  experimentId: string;
  macroId: string;
  /** Version of the macro's code when the request was made. A row is made by the code as it is when the row's turn comes; its lineage names the version. */
  codeVersion: number;
  includeDelivered: boolean;
  /** Over which measurements: those that name the macro, or all that match the filters. */
  scope: 'naming' | 'matching';
  /** JSON text. */
  filters?: string;
  status: 'queued' | 'running' | 'completed';
  /** Measurements; known once it runs. */
  totalRows: number;
  doneRows: number;
  /** Of the done ones, those with a `macro_error`. */
  failedRows: number;
  createdBy: string | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  /** Why nothing was run. */
  note?: string;
}
