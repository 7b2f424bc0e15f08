/** What a row came in. */
export interface LineageSource {
  /** `message`: through the broker. `object`: put by a signed URL. `upload`: a file of an upload. */
  kind: 'message' | 'object' | 'upload';
  /** Of the message or the upload. */
  id: string;
  /** Where the object store has the bytes; null for what it does not have, and in an anonymised experiment, as a key names its sender. */
  objectKey: string | null;
  /** Path of the file, as it was sent; null for messages and objects. */
  path: string | null;
  /** Bytes of the message, object or file; null when that is not known any more. */
  byteCount: number | null;
  /** Place of the row in its source, from 0: of the record in the file, or of the element in the burst. */
  position: number;
}

/** The macro that made a row. */
export interface LineageMacro {
  /** Macro that made the row. */
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
  /** Table of the row, by its identifier. */
  tableName: string;
  /** The row's `id`, in lower case. */
  rowId: string;
  /**
   * What the row came in. Null for a device row, which is a sum over measurements, for rows older than this record, and for a macro row to who may
   * not read raw_data.
   */
  source: LineageSource | null;
  /** Names the pipeline definitions that made the row; any change of them has another name. Null when that is not known. */
  pipelineVersion: string | null;
  /** Macro that made the row; null in other tables. */
  macro: LineageMacro | null;
  /** When the source arrived, in UTC; null when that is not known. */
  arrivedAt: Date | null;
  /** When the row was made, in UTC: stored, or for a macro row run. Null when that is not known. */
  processedAt: Date | null;
  /** Version of the table that first had the source; readable with `asOf` while it is kept. Null for device and macro rows. */
  tableVersion: number | null;
}
