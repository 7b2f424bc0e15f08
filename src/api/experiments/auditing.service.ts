import { audit, type AuditAction } from '../../auth/audit.ts';
import type { Actor } from '../../auth/caller.ts';
import type { Transaction } from '../../database/database.ts';

/** Writes an event of an experiment into the log of the organization that owns it; of one that is gone, into nobody's. */
export const auditExperiment = (
  tx: Transaction,
  by: Actor | null,
  experimentId: string,
  action: AuditAction,
  details: object = {},
): Promise<void> => audit(tx, by, { action, resource: { type: 'experiment', id: experimentId }, details });
