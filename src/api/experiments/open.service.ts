import type { Transaction } from '../../database/database.ts';
import { errors, refuse } from '../../errors.ts';
import type { Target } from '../input/input.service.ts';
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

/** A part of an experiment as the caller names it for a change. */
export interface PartTarget extends Target {
  experimentId: string;
}

/** Locks an experiment for a write of the service's own, whatever its status; false when it is gone. */
export const isExperimentLocked = async (tx: Transaction, id: string): Promise<boolean> => (await lockExperiment(tx, id)) !== undefined;
