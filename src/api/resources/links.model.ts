import type { Uuid } from '../sharing/sharing.model.ts';

export type ProtocolFamily = 'multispeq' | 'ambyte' | 'minipar' | 'generic' | 'ambit';
export type MacroLanguage = 'python' | 'r' | 'javascript';

export interface LinkedMacro {
  id: string;
  name: string;
  filename: string;
  language: MacroLanguage;
  createdBy: string;
}

/** A macro that reads what this protocol measures. */
export interface ProtocolMacroLink {
  protocolId: string;
  macro: LinkedMacro;
  addedAt: Date;
}

export interface ProtocolMacroLinks {
  /**
   * Macros that you may read.
   * @minItems 1
   * @maxItems 100
   */
  macroIds: Uuid[];
}

export interface LinkedProtocol {
  id: string;
  name: string;
  family: ProtocolFamily;
  createdBy: string;
}

/** A protocol whose measurements this macro reads. */
export interface MacroProtocolLink {
  macroId: string;
  protocol: LinkedProtocol;
  addedAt: Date;
}

export interface MacroProtocolLinks {
  /**
   * Protocols that you may read.
   * @minItems 1
   * @maxItems 100
   */
  protocolIds: Uuid[];
}
