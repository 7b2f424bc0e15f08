import type { DataFilter } from '../visualizations/visualizations.model.ts';

/** How a macro is run again. */
export interface NewReprocess {
  /** Also where the measurement brought an output of the macro along, which then gives way to what is computed here. False by default. */
  includeDelivered?: boolean;
}

/** Over what a macro is run. */
export interface NewMacroRun extends NewReprocess {
  /** What measurements are narrowed by, as in a read of `raw_data`, or its JSON text; every measurement when absent. */
  filters?: DataFilter[] | string;
  /** Whether it runs on measurements that are to come as well. What was said before stays when absent. */
  onNew?: boolean;
}

/** A request to run a macro over measurements of an experiment, and how far it is. */
export interface Reprocess {
  /** Names the request. */
  id: string;
  /** Experiment whose measurements it runs over. */
  experimentId: string;
  /** Macro that is run. */
  macroId: string;
  /** Version of the macro's code when the request was made. A row is made by the code as it is when the row's turn comes; its lineage names the version. */
  codeVersion: number;
  /** Whether outputs that measurements brought along give way to what is computed. */
  includeDelivered: boolean;
  /** Over which measurements: those that name the macro or have a result of it, or all that match the filters. */
  scope: 'naming' | 'matching';
  /** What the measurements are narrowed by, as JSON text; absent when nothing narrows them. Without values for who may not contribute to the experiment. */
  filters?: string;
  /** `queued`, then `running`, then `completed`. */
  status: 'queued' | 'running' | 'completed';
  /** Measurements to run over; 0 until it runs. */
  totalRows: number;
  /** Measurements that have been run over. */
  doneRows: number;
  /** Of the done ones, those with a `macro_error`. */
  failedRows: number;
  /** Person who asked for it, by their UUID; null when the account is gone, or for new measurements whose results could not be stored. A pseudonym in an anonymised experiment, but to its managers and to themselves. */
  createdBy: string | null;
  createdAt: Date;
  /** When it began to run, in UTC; null until then. */
  startedAt: Date | null;
  /** When it ended, in UTC; null until then. */
  completedAt: Date | null;
  /** Why nothing was run, or results could not be stored; absent otherwise. */
  note?: string;
}
