/** `comment`: a text. `flag`: a mark that filters find by `has_flag`. */
export type AnnotationType = 'comment' | 'flag';
/** What a flag says of a row. */
export type FlagType = 'outlier' | 'needs_review';

/** A comment has a text of 1 to 255 characters; a flag has a flagType and may have a text. */
export interface AnnotationContent {
  /** Of the same type as the annotation. */
  type: AnnotationType;
  /** A comment's text, 1 to 255 characters; a flag may have one of at most 255. */
  text?: string;
  /** What the flag says of the row. A flag needs it. */
  flagType?: FlagType;
}

/** A comment or a flag. */
export interface NewAnnotation {
  type: AnnotationType;
  /** What it says; of the same type. */
  content: AnnotationContent;
}

/** The table that is annotated. */
export interface InTable {
  /**
   * `raw_data`, a macro's id, or an upload table's id or name.
   * @minLength 1
   * @maxLength 256
   */
  tableName: string;
}

/** An annotation for one row. */
export interface RowAnnotation extends InTable {
  /**
   * The row's `id`, as reads show it.
   * @minLength 1
   * @maxLength 128
   */
  rowId: string;
  /** What is said of the row. */
  annotation: NewAnnotation;
}

/**
 * `id` of a row, as reads show it.
 * @minLength 1
 * @maxLength 128
 */
export type RowId = string;

/** An annotation for each of many rows. */
export interface RowsAnnotation extends InTable {
  /**
   * `id` of 1 to 10,000 rows. Each row gets an annotation of its own; a row that is named twice gets one.
   * @minItems 1
   * @maxItems 10000
   */
  rowIds: RowId[];
  /** What is said of each row. */
  annotation: NewAnnotation;
}

/** What an annotation says from now on. */
export interface AnnotationPatch {
  /** What it says from now on. Of the type that the annotation has. */
  content: AnnotationContent;
}

/** Which annotations are removed. */
export interface AnnotationRemoval extends InTable {
  /**
   * `id` of 1 to 10,000 rows.
   * @minItems 1
   * @maxItems 10000
   */
  rowIds: RowId[];
  /** Annotations of this type are removed. */
  type: AnnotationType;
}

/** How many annotations were touched. */
export interface RowsAffected {
  /** Annotations that were made, changed or removed. */
  rowsAffected: number;
}
