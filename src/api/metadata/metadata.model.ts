/** Type of a column's values. */
export type MetadataColumnType = 'string' | 'number' | 'date';

/** A column of a metadata table. */
export interface MetadataColumn {
  /** Names the column within the table, 1 to 255 characters; unique in it. */
  id: string;
  /**
   * What the column is called beside measurements: 1 to 64 letters, digits and underscores; unique without regard to case, and not the name of a
   * column that every measurement has.
   */
  name: string;
  /** Type of its values. What does not fit is null beside measurements. A `number` has up to 17 digits: a longer one is refused, and kept whole as `string`. */
  type: MetadataColumnType;
}

/** A row: `_id`, and a value for each column under the column's id or name. */
export interface MetadataRow {
  /** Names the row, 1 to 255 characters. */
  _id: string;
  [column: string]: unknown;
}

/** A table that is joined to measurements: a row meets those whose answer to a question (or whose device) equals its identifier. */
export interface Metadata {
  /** What people call the table, at most 120 characters. */
  name: string;
  /** 1 to 500. */
  columns: MetadataColumn[];
  /** Of rows with the same identifier only the first is joined. */
  rows: MetadataRow[];
  /** The id of the column that identifies a row; at most 64 characters. */
  identifierColumnId: string;
  /** Canonical name of the question whose answers the identifiers are, or `column:device_id`; at most 64 characters. */
  experimentQuestionId: string;
}

/** A metadata table to add. */
export interface NewMetadataRecord {
  /** The table; at most 5,000,000 characters as JSON. */
  metadata: Metadata;
}

/** What takes the place of a metadata table; nothing changes when it is empty. */
export interface MetadataReplacement {
  /** The table that takes its place; at most 5,000,000 characters as JSON. */
  metadata?: Metadata;
}

/** A metadata table of an experiment. */
export interface MetadataRecord {
  /** Metadata table, by its UUID. */
  metadataId: string;
  /** Experiment whose measurements it is joined to. */
  experimentId: string;
  /** The table. */
  metadata: Metadata;
  /** Identifiers that more than one row has, at most 100; only the first row of each is joined. */
  duplicateIdentifiers: string[];
  /** Person who made it, by their UUID. A pseudonym in an anonymised experiment, but to its managers and to themselves. */
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}
