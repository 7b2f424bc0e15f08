import type { NewLocation } from '../experiments/experiments.model.ts';
import type { MacroLanguage, ProtocolFamily } from '../resources/links.model.ts';
import type { LongText, Name, Uuid } from '../sharing/sharing.model.ts';

/** How far a wish has come. */
export type TransferStatus = 'pending' | 'approved' | 'rejected' | 'failed' | 'completed' | 'partial_failed';

/** A wish to bring a project over from another platform. */
export interface TransferRequest {
  /** Names the request. */
  requestId: string;
  /** Person who asked, by their UUID. */
  userId: string;
  /** Address that letters about it go to. */
  userEmail: string;
  /** Platform that the project is on. */
  sourcePlatform: string;
  /** Id of the project there. */
  projectIdOld: string;
  /** Page of the project there. */
  projectUrlOld: string;
  /** How far the wish has come. After `rejected` and `failed` the project may be asked for again. */
  status: TransferStatus;
  /** When it was asked for, in UTC. */
  requestedAt: Date;
}

/** Which project is asked for. */
export interface NewTransferRequest {
  /**
   * Id of the project on the other platform, 1 to 255 characters; spaces around it are cut off.
   * @maxLength 255
   * @pattern \S
   */
  projectIdOld: string;
  /**
   * Page of the project there: an absolute http or https URL, at most 2,000 characters.
   * @maxLength 2000
   * @pattern ^https?://[^\s/?#@]+([/?#]\S*)?$
   */
  projectUrlOld: string;
}

/** The experiment of a project. */
export interface ImportedExperiment {
  /** What people call the experiment, 1 to 255 characters. */
  name: Name;
  /** What the experiment is about, at most 100,000 characters. */
  description?: LongText;
  /** An active person; the experiment goes to their personal workspace. */
  createdBy: Uuid;
  /**
   * Places of the experiment, at most 1,000.
   * @maxItems 1000
   */
  locations?: NewLocation[];
}

/** The protocol of a project. */
export interface ImportedProtocol {
  /** What people call the protocol, 1 to 255 characters. */
  name: Name;
  /** What the protocol is for, at most 100,000 characters. */
  description?: LongText;
  /** What the instrument runs: any JSON value but null. */
  code: unknown;
  /** Instruments that the protocol is for; `multispeq` by default. */
  family?: ProtocolFamily;
  /** An active person, who becomes its maker. */
  createdBy: Uuid;
}

/** The macro of a project. */
export interface ImportedMacro {
  /** What people call the macro, 1 to 255 characters. */
  name: Name;
  /** What the macro is for, at most 100,000 characters. */
  description?: LongText;
  /** Language that the code is written in; `javascript` by default. */
  language?: MacroLanguage;
  /**
   * Source text, or its base64; 1 to 1,400,000 characters.
   * @minLength 1
   * @maxLength 1400000
   */
  code: string;
  /** An active person, who becomes its maker. */
  createdBy: Uuid;
}

/** A question that people answer with each measurement. */
export interface ImportedQuestion {
  /** How it is answered. */
  kind: 'yes_no' | 'open_ended' | 'multi_choice' | 'number';
  /**
   * What is asked, 1 to 64 characters.
   * @minLength 1
   * @maxLength 64
   */
  text: string;
  /** For multi_choice: 1 to 500 answers to choose from, each 1 to 64 characters. */
  options?: string[];
  /** Whether it must be answered; false by default. */
  required?: boolean;
}

/** A whole project of another platform. */
export interface ProjectImport {
  /** The experiment that is made. */
  experiment: ImportedExperiment;
  /** The protocol that measures; none when null or absent. */
  protocol?: ImportedProtocol | null;
  /** The macro that reads what was measured; none when null or absent. */
  macro?: ImportedMacro | null;
  /**
   * At most 200, in order.
   * @maxItems 200
   */
  questions?: ImportedQuestion[];
  /** The transfer request that this completes. */
  requestId?: Uuid;
  /** Or its project: the one pending request of `experiment.createdBy` that names it is completed. */
  projectIdOld?: string;
}

/** What a project was made into. */
export interface ProjectImportResult {
  success: boolean;
  /** Experiment that was made. */
  experimentId: string;
  /** Protocol that was made, or found with the same name and code; null without one. */
  protocolId: string | null;
  /** Macro that was made, or found with the same name and code; null without one. */
  macroId: string | null;
  /** The macro's `filename`; null without one. */
  macroFilename: string | null;
  /** What people call the macro; null without one. */
  macroName: string | null;
  /** Flow that was made; null when there was nothing to walk through. */
  flowId: string | null;
  /** Workbook that was made; null when there was nothing to put into one. */
  workbookId: string | null;
  /** Version of that workbook that the experiment follows; null without one. */
  workbookVersionId: string | null;
  /** What was done, as a sentence. */
  message: string;
}
