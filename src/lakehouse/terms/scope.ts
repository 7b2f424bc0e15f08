declare const scoped: unique symbol;

/** Proof that the authorization procedure allowed this caller to read this experiment's table. */
export interface ExperimentScope {
  readonly experimentId: string;
  /** Whether fields that identify people show pseudonyms. */
  readonly anonymised: boolean;
  readonly [scoped]: true;
}

/**
 * Makes a scope from a decision that was just made; nothing else makes one. Only `src/authorization` may call it, which a dependency rule and a lint rule
 * enforce.
 */
export const makeExperimentScope = (decision: { experimentId: string; anonymised: boolean }): ExperimentScope =>
  Object.freeze({ experimentId: decision.experimentId, anonymised: decision.anonymised }) as ExperimentScope;
