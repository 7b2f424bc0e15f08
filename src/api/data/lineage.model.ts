export interface LineageSource {
  /** `message`: through the broker. `object`: put by a signed URL. `upload`: a file of an upload. */
  kind: 'message' | 'object' | 'upload';
  /** Of the message or the upload. */
  id: string;
  /** Where the object store has the bytes; null for what it does not have, and in an anonymised experiment, as a key names its sender. */
  objectKey: string | null;
  /** Path of the file, as it was sent. */
  path: string | null;
  byteCount: number | null;
  /** Place of the row in its source, from 0: of the record in the file, or of the element in the burst. */
  position: number;
}

export interface LineageMacro {
  id: string;
  /** Null for who may not read the macro. */
  name: string | null;
  /** The macro's code version, or the workbook version whose code ran; null where the measurement brought the output along. */
  version: string | null;
  /** Row of raw_data that it was run on. */
  rawId: string;
}

/** Where a row came from, and what made it. */
export interface Lineage {
  tableName: string;
  rowId: string;
  /** Null for a device row, which is a sum over measurements, and for rows older than this record. */
  source: LineageSource | null;
  /** Names the pipeline definitions that made the row; any change of them has another name. */
  pipelineVersion: string | null;
  macro: LineageMacro | null;
  /** When the source arrived. */
  arrivedAt: Date | null;
  /** When the row was made: stored, or for a macro row run. */
  processedAt: Date | null;
  /** Version of the table that first had the source; readable with `asOf` while it is kept. */
  tableVersion: number | null;
}
