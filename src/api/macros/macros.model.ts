import type { CodeVersionSummary } from '../resources/code-versions.model.ts';
import type { MacroLanguage } from '../resources/links.model.ts';
import type { LibraryListQuery, LibraryResource, LibraryResourcePatch, NewLibraryResource } from '../resources/resources.model.ts';
import type { Uuid } from '../sharing/sharing.model.ts';

/** A reason why code would not start. It warns; the code is stored all the same. */
export interface CodeWarning {
  /** Line of the code, from 1. */
  line: number;
  /** Character of the line, from 1. */
  column: number;
  /** Why the code would not start. */
  message: string;
}

/** Code that makes results of measurements. */
export interface Macro extends LibraryResource {
  /** `macro_` and 12 hex digits of the id's hash; never changes. */
  filename: string;
  /** Language that the code is written in. */
  language: MacroLanguage;
  /** As it was sent. Canonical base64 of printable text is decoded when it runs. */
  code: string;
  /** Raised with every change of code or language; the first is 1. */
  codeVersion: number;
  /** Place among curated macros, lowest first; null for others. */
  sortOrder: number | null;
  /** In answers to a change of code: why it would not start. Absent in other answers. */
  warnings?: CodeWarning[];
}

/** What a macro said at a version, which never changes. */
export interface MacroVersion extends CodeVersionSummary {
  /** As it was sent. */
  code: string;
  /** Language that the code is written in. */
  language: MacroLanguage;
}

export interface MacroListQuery extends LibraryListQuery {
  /** Only macros in this language. */
  language?: MacroLanguage;
}

/** What a macro is made with. */
export interface NewMacro extends NewLibraryResource {
  /** Language that the code is written in. */
  language: MacroLanguage;
  /**
   * Source text, or its base64; 1 to 1,400,000 characters.
   * @minLength 1
   * @maxLength 1400000
   */
  code: string;
}

/** Changes; fields that are left out keep their value. */
export interface MacroPatch extends LibraryResourcePatch {
  /** Language that the code is written in. */
  language?: MacroLanguage;
  /**
   * Source text, or its base64; at most 1,400,000 characters.
   * @maxLength 1400000
   */
  code?: string;
}

/** One input to run a macro over. */
export interface MacroRun {
  /**
   * Text to run instead of the stored code, in the language of the macro, so that a change can be tried before it is stored: 1 to 1,400,000 characters. The
   * stored code when absent.
   * @minLength 1
   * @maxLength 1400000
   */
  code?: string;
  /** An object or array, or its JSON text. Of an object with a `sample`, the macro sees the sample: the first one, when it is an array. */
  data: unknown;
  /** What the macro sees as `ctx`: an object, or its JSON text. Nothing when absent. */
  context?: unknown;
  /**
   * Seconds for the whole run, 1 to 60; 30 by default.
   * @isInt
   * @minimum 1
   * @maximum 60
   */
  timeout?: number;
  /**
   * Seconds for the item, 0.01 to 60; 1 by default.
   * @minimum 0.01
   * @maximum 60
   */
  itemTimeout?: number;
  /** What the clock says to a macro in javascript, so that a run can be repeated; the other languages refuse it. */
  clock?: Date;
}

/** What went wrong, and where in the macro's own text. */
export interface MacroFailure {
  /** Name of the error, as the language gives it, such as `TypeError`. */
  type: string;
  /** What the error says. */
  message: string;
  /** Line of the macro's text, from 1; absent when that is not known. */
  line?: number;
  /** Character of that line, from 1; absent when that is not known. */
  column?: number;
}

/** What a run came to. */
export interface MacroRunResult {
  /** Macro that was run. */
  macro_id: string;
  /** Whether the macro ran to its end. */
  success: boolean;
  /** What the macro answered. Of a run that succeeded. */
  output?: Record<string, unknown>;
  /** Why it did not, as one sentence. Of a run that did not succeed. */
  error?: string;
  /** The error in parts, when the macro itself failed; absent otherwise. */
  failure?: MacroFailure;
  /** What the macro printed, a line each. */
  logs: string[];
  /** Milliseconds inside the sandbox. */
  durationMs: number;
}

/** One input, and the macro that is run over it. */
export interface MacroBatchItem {
  /**
   * Comes back with the result; need not be unique. At most 1,000 characters.
   * @maxLength 1000
   */
  id: string;
  /** Macro to run. */
  macro_id: Uuid;
  /** An object or array, or its JSON text, as in a single run. */
  data: unknown;
  /** What the macro sees as `ctx`, as in a single run. */
  context?: unknown;
  /** Runs the code that this workbook version keeps; the macro's own when absent. */
  workbook_version_id?: Uuid;
}

/** Inputs to run macros over. */
export interface MacroBatch {
  /**
   * 1 to 5,000, of any macros that you may read.
   * @minItems 1
   * @maxItems 5000
   */
  items: MacroBatchItem[];
  /**
   * Seconds for all items of one macro, 1 to 60; 30 by default.
   * @isInt
   * @minimum 1
   * @maximum 60
   */
  timeout?: number;
  /**
   * Seconds for one item, 0.01 to 60; 1 by default.
   * @minimum 0.01
   * @maximum 60
   */
  itemTimeout?: number;
  /** What the clock says to a macro in javascript, so that a run can be repeated; the other languages refuse it. */
  clock?: Date;
}

/** What the run of one item came to. */
export interface MacroBatchItemResult extends MacroRunResult {
  /** The item's own `id`. */
  id: string;
}

/** What the runs of a batch came to. */
export interface MacroBatchResult {
  /** Always true: the batch was run, and each result says how it went. */
  success: boolean;
  /** One an item, in the order of the items. */
  results: MacroBatchItemResult[];
  /** One a macro that could not be run at all. */
  errors: string[];
}
