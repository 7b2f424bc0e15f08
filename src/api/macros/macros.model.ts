import type { MacroLanguage } from '../resources/links.model.ts';
import type { LibraryListQuery, LibraryResource, LibraryResourcePatch, NewLibraryResource } from '../resources/resources.model.ts';

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
