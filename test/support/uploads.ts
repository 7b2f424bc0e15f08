import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from './server.ts';

/** Uploads a file (a CSV) as a new table and waits until its rows are there. Answers the table's id. */
export const uploadTable = (
  call: Call,
  experimentId: string,
  name: string,
  text: string | Uint8Array<ArrayBuffer>,
  sourceKind = 'csv',
): Promise<string> => upload(call, experimentId, text, { sourceKind, targetKind: 'new', targetName: name });

/** Adds the rows of a CSV to a table, and waits until they are there. */
export const appendTo = (call: Call, experimentId: string, uploadTableId: string, csv: string): Promise<string> =>
  upload(call, experimentId, csv, { targetKind: 'existing', uploadTableId });

async function upload(call: Call, experimentId: string, text: string | Uint8Array<ArrayBuffer>, fields: Record<string, string>) {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', ...fields })) form.append(field, value);
  form.append('files', new Blob([text]), `rows.${fields.sourceKind ?? 'csv'}`);
  const path = `/api/v1/experiments/${experimentId}/data/uploads`;
  const made = await call('POST', path, { body: form });
  for (let tries = 0; tries < 1_200; tries += 1) {
    const { body } = await call('GET', `${path}/${String(made.body.uploadId)}`);
    if (body.status === 'completed') return String(body.uploadTableId);
    if (body.status === 'failed') break;
    await sleep(50);
  }
  throw new Error(`the upload did not complete: ${made.text}`);
}
