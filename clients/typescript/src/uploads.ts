import type { paths } from '../generated/api.ts';
import { bodyOf, type Fieldlake } from './client.ts';
import { RETRIES, withRetries } from './retry.ts';
import type { AnswerTo } from './types.ts';

const PATH = '/api/v1/experiments/{id}/data/uploads';

type Form = paths[typeof PATH]['post']['requestBody']['content']['multipart/form-data'];
type WithoutFiles<Target> = Target extends unknown ? Omit<Target, 'files'> : never;

/** What an upload says of its files: their kind, the table that they go into, and how their text is read. */
export type UploadFields = WithoutFiles<Form>;

/** An upload, and what became of every file and column. */
export type UploadReport = AnswerTo<typeof PATH, 'post'>;

interface UploadSettings {
  signal?: AbortSignal;
  /** What sends the form with the method, address and headers of the request; the platform's `fetch` when absent. */
  send?: (request: Request, form: FormData) => Promise<Response>;
}

/** The form of an upload: its fields come before its files, which keep the folders that they were chosen with. */
function formOf(fields: UploadFields, files: readonly File[]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (typeof value === 'string') form.append(name, value);
  for (const file of files) form.append('files', file, file.webkitRelativePath || file.name);
  return form;
}

/** Sends files into a table. The answer comes before they are read. Errors: ProblemError, UnreachableError, the signal's reason. */
export async function uploadFiles(
  client: Fieldlake,
  experimentId: string,
  fields: UploadFields,
  files: readonly File[],
  { signal, send }: UploadSettings = {},
): Promise<UploadReport> {
  const form = formOf(fields, files);
  return bodyOf(
    client.POST(PATH, {
      params: { path: { id: experimentId } },
      // the document has files as text, since it knows no bytes
      body: { ...fields, files: [] },
      bodySerializer: () => form,
      ...(signal === undefined ? {} : { signal }),
      ...(send === undefined ? {} : { fetch: withRetries((request) => send(request, form), RETRIES) }),
    }),
  );
}
