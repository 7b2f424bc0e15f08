import type { MacroLanguage, ProtocolFamily } from '../resources/links.model.ts';
import type { LibraryResource, LibraryResourcePatch, NewLibraryResource } from '../resources/resources.model.ts';
import type { Uuid } from '../sharing/sharing.model.ts';

export type WorkbookCellType = 'protocol' | 'command' | 'macro' | 'question' | 'branch' | 'output' | 'markdown';

/**
 * A cell, by type. protocol: `payload` {`protocolId`, `version` (1 or more), `name`}. command: `payload` {`format` string, json or yaml, `content`, `name`}.
 * macro: `payload` {`macroId`, `language`, `name`}. question: `name` (1 to 64), `question` {`kind` yes_no, open_ended, number or multi_choice, `text`,
 * `required`, `options`}, `answer`, `isAnswered`. branch: `paths` (each `id`, `label`, `color`, `conditions`, `gotoCellId`), `defaultPathId`,
 * `evaluatedPathId`. output: `producedBy`, `data`, `executionTime`, `messages`, `deviceResults`. markdown: `content`.
 */
export interface WorkbookCell {
  /** Names the cell, 1 to 80 characters; unique in the workbook. */
  id: string;
  /** What the cell is, which decides what else it holds. */
  type: WorkbookCellType;
  /** Whether a screen shows it folded; false by default. */
  isCollapsed?: boolean;
  [field: string]: unknown;
}

/** A workbook, as lists show it. */
export interface WorkbookListItem extends LibraryResource {
  /** What its makers say of it, in their own words. */
  metadata: Record<string, unknown>;
  /** How many cells there are of each type. */
  cellTypeCounts: Record<string, number>;
  /** Whether the workbook, or the code that it uses, differs from its latest version. */
  isUpgradable: boolean;
  /** Experiments that it is attached to. */
  experimentCount: number;
}

/** Steps and notes for measuring in the field. */
export interface Workbook extends LibraryResource {
  /** Steps and notes, in order; at most 1,000. */
  cells: WorkbookCell[];
  /** What its makers say of it, in their own words. */
  metadata: Record<string, unknown>;
  /** Whether the workbook, or the code that it uses, differs from its latest version. False without a version. */
  isUpgradable: boolean;
  /** Experiments that it is attached to. */
  experimentCount: number;
}

/** What a workbook is made with. */
export interface NewWorkbook extends NewLibraryResource {
  /**
   * Steps and notes, in order; at most 1,000 and 5 MB as JSON. None when absent.
   * @maxItems 1000
   */
  cells?: WorkbookCell[];
  /** What its makers say of it, in their own words; at most 100,000 characters as JSON. */
  metadata?: Record<string, unknown>;
}

/** Changes; fields that are left out keep their value. */
export interface WorkbookPatch extends LibraryResourcePatch {
  /**
   * Replaces all cells; at most 1,000 and 5 MB as JSON. Experiments keep the version that they follow.
   * @maxItems 1000
   */
  cells?: WorkbookCell[];
  /** Replaces what its makers say of it; at most 100,000 characters as JSON. */
  metadata?: Record<string, unknown>;
}

/** A version of a workbook, without its cells. */
export interface WorkbookVersionSummary {
  /** Version, by its UUID. */
  id: string;
  /** Workbook that it is of. */
  workbookId: string;
  /** Number of the version: 1, 2, 3 … */
  version: number;
  createdAt: Date;
  createdBy: string;
}

/** What a protocol said when the version was made. */
export interface ProtocolSnapshot {
  /** Code of the protocol then. */
  code: unknown;
  /** Instruments that it was for then. */
  family: ProtocolFamily;
}

/** What a macro said when the version was made. */
export interface MacroSnapshot {
  /** Code of the macro then. */
  code: string;
  /** Language that it was written in then. */
  language: MacroLanguage;
}

/** What the used protocols and macros said when the version was made. */
export interface EntitySnapshots {
  /** By the protocol's id. */
  protocols: Record<string, ProtocolSnapshot>;
  /** By the macro's id. */
  macros: Record<string, MacroSnapshot>;
}

/** A version never changes. */
export interface WorkbookVersion extends WorkbookVersionSummary {
  /** Without outputs and answers. */
  cells: WorkbookCell[];
  /** The workbook's `metadata` at the time of this version. */
  metadata: Record<string, unknown>;
  /** The protocols and macros that its cells use, as they were at the time of this version. */
  entitySnapshots: EntitySnapshots;
}

/** Kind of a problem. */
export type WorkbookProblemCode =
  | 'missing-protocol'
  | 'missing-macro'
  | 'unreadable-protocol'
  | 'unreadable-macro'
  | 'too-much-code'
  | 'dangling-branch-source'
  | 'dangling-branch-goto'
  | 'dangling-branch-default'
  | 'reserved-name'
  | 'duplicate-cell-id'
  | 'macro-language-changed'
  | 'macro-without-input'
  | 'mixed-sensor-families';

/** What would stop a workbook from working, or looks like a slip. */
export interface WorkbookProblem {
  /** What kind of problem it is. */
  code: WorkbookProblemCode;
  /** An error stops the workbook from being attached or from working; a warning is for a person to judge. */
  severity: 'error' | 'warning';
  /** Cell that it is about. */
  cellId: string;
  /** The problem, as a sentence for a person. */
  message: string;
}

/** Problems of a workbook. */
export interface WorkbookProblems {
  /** Whether there are no errors; warnings do not count. */
  ok: boolean;
  /** In the order of the cells. */
  problems: WorkbookProblem[];
}

/** Which version an experiment follows. */
export interface WorkbookPin {
  /** Workbook that the experiment follows. */
  workbookId: string;
  /** Version of it that the experiment follows. */
  workbookVersionId: string;
  /** Number of that version. */
  version: number;
}

/** Which workbook is attached. */
export interface WorkbookAttachment {
  /** Workbook that you may read. */
  workbookId: Uuid;
}

/** Which version is followed. */
export interface WorkbookVersionChoice {
  /** Version of the attached workbook. */
  versionId: Uuid;
}
