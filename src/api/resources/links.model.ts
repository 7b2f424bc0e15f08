import type { Uuid } from '../sharing/sharing.model.ts';

/** Kind of instrument that a protocol is for; `generic` is for any. */
export type ProtocolFamily = 'multispeq' | 'ambyte' | 'minipar' | 'generic' | 'ambit';
/** Language that the code of a macro is written in. */
export type MacroLanguage = 'python' | 'r' | 'javascript';

/** A macro, as a link shows it. */
export interface LinkedMacro {
  /** Macro that is linked. */
  id: string;
  /** What people call the macro. */
  name: string;
  /** `macro_` and 12 hex digits of the id's hash; never changes. */
  filename: string;
  /** Language that the code is written in. */
  language: MacroLanguage;
  /** Person who made the macro, by their UUID. */
  createdBy: string;
}

/** A macro that reads what this protocol measures. */
export interface ProtocolMacroLink {
  /** Protocol that is linked. */
  protocolId: string;
  /** The macro. */
  macro: LinkedMacro;
  /** When the two were linked, in UTC. */
  addedAt: Date;
}

/** Macros to link. */
export interface ProtocolMacroLinks {
  /**
   * 1 to 100 macros that you may read.
   * @minItems 1
   * @maxItems 100
   */
  macroIds: Uuid[];
}

/** A protocol, as a link shows it. */
export interface LinkedProtocol {
  /** Protocol that is linked. */
  id: string;
  /** What people call the protocol. */
  name: string;
  /** Instruments that the protocol is for. */
  family: ProtocolFamily;
  /** Person who made the protocol, by their UUID. */
  createdBy: string;
}

/** A protocol whose measurements this macro reads. */
export interface MacroProtocolLink {
  /** Macro that is linked. */
  macroId: string;
  /** The protocol. */
  protocol: LinkedProtocol;
  /** When the two were linked, in UTC. */
  addedAt: Date;
}

/** Protocols to link. */
export interface MacroProtocolLinks {
  /**
   * 1 to 100 protocols that you may read.
   * @minItems 1
   * @maxItems 100
   */
  protocolIds: Uuid[];
}
