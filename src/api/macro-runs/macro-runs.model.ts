export interface NewReprocess {
  /** Also where the measurement brought an output of the macro along, which then gives way to what is computed here. False by default. */
  includeDelivered?: boolean;
}

/** A request to run a macro again over every measurement of an experiment that names it, and how far it is. */
export interface Reprocess {
  id: string;
  experimentId: string;
  macroId: string;
  /** Version of the macro's code when the request was made. A row is made by the code as it is when the row's turn comes; its lineage names the version. */
  codeVersion: number;
  includeDelivered: boolean;
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
}
