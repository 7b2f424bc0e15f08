import type { NewLocation } from '../experiments/experiments.model.ts';
import type { MacroLanguage, ProtocolFamily } from '../resources/links.model.ts';
import type { Uuid } from '../sharing/sharing.model.ts';

export type TransferStatus = 'pending' | 'approved' | 'rejected' | 'failed' | 'completed' | 'partial_failed';

/** A wish to bring a project over from another platform. */
export interface TransferRequest {
  requestId: string;
  userId: string;
  userEmail: string;
  sourcePlatform: string;
  projectIdOld: string;
  projectUrlOld: string;
  status: TransferStatus;
  requestedAt: Date;
}

export interface NewTransferRequest {
  /**
   * Trimmed.
   * @maxLength 255
   * @pattern \S
   */
  projectIdOld: string;
  /**
   * An absolute http or https URL.
   * @maxLength 2000
   * @pattern ^https?://[^\s/?#@]+([/?#]\S*)?$
   */
  projectUrlOld: string;
}

export interface ImportedExperiment {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name: string;
  /** @maxLength 100000 */
  description?: string | null;
  /** An active person; the experiment goes to their personal workspace. */
  createdBy: Uuid;
  /** @maxItems 1000 */
  locations?: NewLocation[];
}

export interface ImportedProtocol {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name: string;
  /** @maxLength 100000 */
  description?: string | null;
  /** Any JSON value but null. */
  code: unknown;
  /** multispeq by default. */
  family?: ProtocolFamily;
  createdBy: Uuid;
}

export interface ImportedMacro {
  /**
   * @minLength 1
   * @maxLength 255
   */
  name: string;
  /** @maxLength 100000 */
  description?: string | null;
  /** javascript by default. */
  language?: MacroLanguage;
  /**
   * Source text, or its base64.
   * @minLength 1
   * @maxLength 1400000
   */
  code: string;
  createdBy: Uuid;
}

export interface ImportedQuestion {
  kind: 'yes_no' | 'open_ended' | 'multi_choice' | 'number';
  /**
   * @minLength 1
   * @maxLength 64
   */
  text: string;
  /** For multi_choice. */
  options?: string[];
  required?: boolean;
}

/** A whole project of another platform. */
export interface ProjectImport {
  experiment: ImportedExperiment;
  protocol?: ImportedProtocol | null;
  macro?: ImportedMacro | null;
  /** @maxItems 200 */
  questions?: ImportedQuestion[];
  /** The transfer request that this completes. */
  requestId?: Uuid;
  /** Or its project: the one pending request of `experiment.createdBy` that names it is completed. */
  projectIdOld?: string;
}

export interface ProjectImportResult {
  success: boolean;
  experimentId: string;
  protocolId: string | null;
  macroId: string | null;
  macroFilename: string | null;
  macroName: string | null;
  flowId: string | null;
  workbookId: string | null;
  workbookVersionId: string | null;
  message: string;
}
