/** What messages brought, for the pipeline on Databricks. */
import { landMeasurements } from '../../ingest/landing-measurements.ts';
import { landOutputs } from '../../ingest/landing-outputs.ts';
import { decodeStored } from '../iot/reading.service.ts';
import { listTables } from './lake.queries.ts';
import type { LakeTools } from './lake.service.ts';

/** Lands what is not in the folder yet: measurements of every experiment, and what macros made of them. Safe to run again, and beside the service. */
export async function landMessages(tools: LakeTools, folder: string) {
  const { db, staging, objects } = tools;
  const measurements = { files: 0, rows: 0, missing: 0 };
  const outputs = { files: 0, rows: 0 };
  for (const table of await listTables(db)) {
    if (table.kind === 'raw_data') {
      const landed = await landMeasurements({ db, read: (message) => decodeStored(objects, message) }, table, folder);
      measurements.files += landed.files;
      measurements.rows += landed.rows;
      measurements.missing += landed.missing;
    } else if (table.kind === 'macro') {
      const landed = await landOutputs({ db, staging }, table, folder);
      outputs.files += landed.files;
      outputs.rows += landed.rows;
    }
  }
  return { measurements, outputs };
}
