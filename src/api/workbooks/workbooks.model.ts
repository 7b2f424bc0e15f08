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
  id: string;
  type: WorkbookCellType;
  isCollapsed?: boolean;
  [field: string]: unknown;
}

export interface WorkbookListItem extends LibraryResource {
  metadata: Record<string, unknown>;
  /** How many cells there are of each type. */
  cellTypeCounts: Record<string, number>;
  /** Whether the workbook, or the code that it uses, differs from its latest version. */
  isUpgradable: boolean;
  /** Experiments that it is attached to. */
  experimentCount: number;
}

export interface Workbook extends LibraryResource {
  cells: WorkbookCell[];
  metadata: Record<string, unknown>;
  /** Whether the workbook, or the code that it uses, differs from its latest version. False without a version. */
  isUpgradable: boolean;
  /** Experiments that it is attached to. */
  experimentCount: number;
}

export interface NewWorkbook extends NewLibraryResource {
  /** @maxItems 1000 */
  cells?: WorkbookCell[];
  metadata?: Record<string, unknown>;
}

export interface WorkbookPatch extends LibraryResourcePatch {
  /**
   * Replaces all cells. Experiments keep the version that they pin.
   * @maxItems 1000
   */
  cells?: WorkbookCell[];
  metadata?: Record<string, unknown>;
}

export interface WorkbookVersionSummary {
  id: string;
  workbookId: string;
  /** 1, 2, 3 … */
  version: number;
  createdAt: Date;
  createdBy: string;
}

export interface ProtocolSnapshot {
  code: unknown;
  family: ProtocolFamily;
}

export interface MacroSnapshot {
  code: string;
  language: MacroLanguage;
}

/** What the used protocols and macros said when the version was made. */
export interface EntitySnapshots {
  protocols: Record<string, ProtocolSnapshot>;
  macros: Record<string, MacroSnapshot>;
}

/** A version never changes. */
export interface WorkbookVersion extends WorkbookVersionSummary {
  /** Without outputs and answers. */
  cells: WorkbookCell[];
  metadata: Record<string, unknown>;
  entitySnapshots: EntitySnapshots;
}

export type WorkbookProblemCode =
  | 'missing-protocol'
  | 'missing-macro'
  | 'unreadable-protocol'
  | 'unreadable-macro'
  | 'dangling-branch-source'
  | 'dangling-branch-goto'
  | 'dangling-branch-default'
  | 'reserved-name'
  | 'duplicate-cell-id'
  | 'macro-language-changed'
  | 'macro-without-input'
  | 'mixed-sensor-families';

export interface WorkbookProblem {
  code: WorkbookProblemCode;
  /** An error stops the workbook from being attached or from working; a warning is for a person to judge. */
  severity: 'error' | 'warning';
  cellId: string;
  message: string;
}

export interface WorkbookProblems {
  /** No errors. */
  ok: boolean;
  problems: WorkbookProblem[];
}

/** Which version an experiment follows. */
export interface WorkbookPin {
  workbookId: string;
  workbookVersionId: string;
  version: number;
}

export interface WorkbookAttachment {
  workbookId: Uuid;
}

export interface WorkbookVersionChoice {
  versionId: Uuid;
}
