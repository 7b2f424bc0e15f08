declare const scoped: unique symbol;

/** Proof that the authorization procedure allowed this caller to read this experiment's table. */
export interface ExperimentScope {
  readonly experimentId: string;
  /** Identity-bearing fields show pseudonyms. */
  readonly anonymised: boolean;
  readonly [scoped]: true;
}

/** The only maker of a scope. To be called from `src/authorization` and nowhere else (a dependency rule and a lint rule hold that), with the decision it just made. */
export const makeExperimentScope = (decision: { experimentId: string; anonymised: boolean }): ExperimentScope =>
  Object.freeze({ experimentId: decision.experimentId, anonymised: decision.anonymised }) as ExperimentScope;
