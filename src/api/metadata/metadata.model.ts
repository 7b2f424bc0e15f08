export type MetadataColumnType = 'string' | 'number' | 'date';

export interface MetadataColumn {
  id: string;
  /** Letters, digits and underscores; unique without regard to case, and not the name of a column that every measurement has. */
  name: string;
  type: MetadataColumnType;
}

/** A row: `_id`, and a value for each column under the column's id or name. */
export interface MetadataRow {
  _id: string;
  [column: string]: unknown;
}

/** A table that is joined to measurements: a row meets those whose answer to a question (or whose device) equals its identifier. */
export interface Metadata {
  name: string;
  columns: MetadataColumn[];
  rows: MetadataRow[];
  /** The id of the column that identifies a row. */
  identifierColumnId: string;
  /** Canonical name of the question whose answers the identifiers are, or `column:device_id`. */
  experimentQuestionId: string;
}

export interface NewMetadataRecord {
  /** At most 5,000,000 characters as JSON. */
  metadata: Metadata;
}

/** Nothing to change when empty. */
export interface MetadataReplacement {
  /** At most 5,000,000 characters as JSON. */
  metadata?: Metadata;
}

export interface MetadataRecord {
  metadataId: string;
  experimentId: string;
  metadata: Metadata;
  /** Identifiers that more than one row has, at most 100; only the first row of each is joined. */
  duplicateIdentifiers: string[];
  /** A pseudonym in an anonymised experiment, but to its managers and to themselves. */
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}
