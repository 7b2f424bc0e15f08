import type { MacroLanguage } from '../resources/links.model.ts';
import type { LibraryListQuery, LibraryResource, LibraryResourcePatch, NewLibraryResource } from '../resources/resources.model.ts';
import type { Uuid } from '../sharing/sharing.model.ts';

/** A reason why code would not start. It warns; the code is stored all the same. */
export interface CodeWarning {
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  message: string;
}

export interface Macro extends LibraryResource {
  /** `macro_` and 12 hex digits of the id's hash; never changes. */
  filename: string;
  language: MacroLanguage;
  /** As it was sent. Canonical base64 of printable text is decoded when it runs. */
  code: string;
  /** Raised with every change of code or language. */
  codeVersion: number;
  sortOrder: number | null;
  /** In answers to a change of code: why it would not start. */
  warnings?: CodeWarning[];
}

export interface MacroListQuery extends LibraryListQuery {
  language?: MacroLanguage;
}

export interface NewMacro extends NewLibraryResource {
  language: MacroLanguage;
  /**
   * Source text, or its base64.
   * @minLength 1
   * @maxLength 1400000
   */
  code: string;
}

export interface MacroPatch extends LibraryResourcePatch {
  language?: MacroLanguage;
  /**
   * Source text, or its base64.
   * @maxLength 1400000
   */
  code?: string;
}

export interface MacroRun {
  /**
   * An object or array, or its JSON text. Of an object with a `sample`, the macro sees the sample: the first one, when it is an array.
   */
  data: unknown;
  /** What the macro sees as `ctx`: an object, or its JSON text. */
  context?: unknown;
  /**
   * Seconds for the whole run; 30 by default.
   * @isInt
   * @minimum 1
   * @maximum 60
   */
  timeout?: number;
  /**
   * Seconds for the item; 1 by default.
   * @minimum 0.01
   * @maximum 60
   */
  itemTimeout?: number;
  /** What the clock says to a macro in javascript, so that a run can be repeated; the other languages refuse it. */
  clock?: Date;
}

/** What went wrong, and where in the macro's own text. */
export interface MacroFailure {
  type: string;
  message: string;
  /** From 1. */
  line?: number;
  /** From 1. */
  column?: number;
}

export interface MacroRunResult {
  macro_id: string;
  success: boolean;
  /** Of a run that succeeded. */
  output?: Record<string, unknown>;
  /** Of a run that did not. */
  error?: string;
  /** The error in parts, when the macro itself failed. */
  failure?: MacroFailure;
  /** What the macro printed, a line each. */
  logs: string[];
  /** Milliseconds inside the sandbox. */
  durationMs: number;
}

export interface MacroBatchItem {
  /**
   * Comes back with the result; need not be unique.
   * @maxLength 1000
   */
  id: string;
  macro_id: Uuid;
  /** As in a single run. */
  data: unknown;
  /** As in a single run. */
  context?: unknown;
  /** Runs the code that this workbook version keeps. */
  workbook_version_id?: Uuid;
}

export interface MacroBatch {
  /**
   * @minItems 1
   * @maxItems 5000
   */
  items: MacroBatchItem[];
  /**
   * Seconds for all items of one macro; 30 by default.
   * @isInt
   * @minimum 1
   * @maximum 60
   */
  timeout?: number;
  /**
   * Seconds for one item; 1 by default.
   * @minimum 0.01
   * @maximum 60
   */
  itemTimeout?: number;
  /** What the clock says to a macro in javascript, so that a run can be repeated; the other languages refuse it. */
  clock?: Date;
}

export interface MacroBatchItemResult extends MacroRunResult {
  id: string;
}

export interface MacroBatchResult {
  /** The batch was run; each result says how it went. */
  success: boolean;
  /** One an item, in the order of the items. */
  results: MacroBatchItemResult[];
  /** One a macro that could not be run at all. */
  errors: string[];
}
