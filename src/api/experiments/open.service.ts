import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import { lockExperiment } from './experiments.queries.ts';

/**
 * Locks an experiment for a write to something under it, so that no archiving and no second write gets between. Answers its version. Errors: resource not found,
 * experiment archived.
 */
export async function lockOpenExperiment(tx: Transaction, id: string): Promise<number> {
  const state = (await lockExperiment(tx, id)) ?? refuse(errors.resourceNotFound('experiment'));
  if (state.isArchived) throw errors.experimentArchived();
  return state.version;
}

/** A part of an experiment as the caller names it: its experiment, its id, and the versions in which it may be changed (null: any). */
export interface PartTarget {
  experimentId: string;
  id: string;
  versions: number[] | null;
}

/** Locks an experiment for a write of the service's own, whatever its status; false when it is gone. */
export const isExperimentLocked = async (tx: Transaction, id: string): Promise<boolean> => (await lockExperiment(tx, id)) !== undefined;
