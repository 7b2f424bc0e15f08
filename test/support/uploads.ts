import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from './server.ts';

/** Uploads a CSV as a new table and waits until its rows are there. Answers the table's id. */
export async function uploadTable(call: Call, experimentId: string, name: string, csv: string): Promise<string> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', targetKind: 'new', targetName: name })) form.append(field, value);
  form.append('files', new Blob([csv]), `${name}.csv`);
  const path = `/api/v1/experiments/${experimentId}/data/uploads`;
  const made = await call('POST', path, { body: form });
  for (let tries = 0; tries < 400; tries += 1) {
    const { body } = await call('GET', `${path}/${String(made.body.uploadId)}`);
    if (body.status === 'completed') return String(body.uploadTableId);
    if (body.status === 'failed') break;
    await sleep(50);
  }
  throw new Error(`the upload of ${name} did not complete: ${made.text}`);
}
