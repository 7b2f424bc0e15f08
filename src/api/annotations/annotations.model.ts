export type AnnotationType = 'comment' | 'flag';
export type FlagType = 'outlier' | 'needs_review';

/** A comment has a text of 1 to 255 characters; a flag has a flagType and may have a text. */
export interface AnnotationContent {
  type: AnnotationType;
  text?: string;
  flagType?: FlagType;
}

export interface NewAnnotation {
  type: AnnotationType;
  /** Of the same type. */
  content: AnnotationContent;
}

export interface RowAnnotation {
  /**
   * `raw_data`, a macro's id, or an upload table's id or name.
   * @minLength 1
   * @maxLength 256
   */
  tableName: string;
  /**
   * @minLength 1
   * @maxLength 128
   */
  rowId: string;
  annotation: NewAnnotation;
}

/**
 * @minLength 1
 * @maxLength 128
 */
export type RowId = string;

export interface RowsAnnotation {
  /**
   * @minLength 1
   * @maxLength 256
   */
  tableName: string;
  /**
   * Each row gets an annotation of its own; a row that is named twice gets one.
   * @minItems 1
   * @maxItems 10000
   */
  rowIds: RowId[];
  annotation: NewAnnotation;
}

export interface AnnotationPatch {
  /** Of the type that the annotation has. */
  content: AnnotationContent;
}

export interface AnnotationRemoval {
  /**
   * @minLength 1
   * @maxLength 256
   */
  tableName: string;
  /**
   * @minItems 1
   * @maxItems 10000
   */
  rowIds: RowId[];
  /** Annotations of this type are removed. */
  type: AnnotationType;
}

export interface RowsAffected {
  /** Annotations that were made, changed or removed. */
  rowsAffected: number;
}
