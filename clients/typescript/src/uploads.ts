import type { paths } from '../generated/api.ts';
import { bodyOf, type Fieldlake } from './client.ts';
import { RETRIES, withRetries } from './retry.ts';
import type { AnswerTo } from './types.ts';

const PATH = '/api/v1/experiments/{id}/data/uploads';
const PREVIEW = `${PATH}/preview`;

type Form<Path extends typeof PATH | typeof PREVIEW> = paths[Path]['post']['requestBody']['content']['multipart/form-data'];
type WithoutFiles<Target> = Target extends unknown ? Omit<Target, 'files' | 'parts'> : never;

/** What an upload says of its files: their kind, the table that they go into, and how their text is read. */
export type UploadFields = WithoutFiles<Form<typeof PATH>>;

/** An upload, and what became of every file and column. */
export type UploadReport = AnswerTo<typeof PATH, 'post'>;

/** The same of a preview, whose new table need not have a name yet. */
export type PreviewFields = WithoutFiles<Form<typeof PREVIEW>>;

/** What an upload would decide of each column. */
export type UploadPreview = AnswerTo<typeof PREVIEW, 'post'>;

interface UploadSettings {
  signal?: AbortSignal;
  /** The Idempotency-Key, where the same upload may be asked for by several calls. */
  key?: string;
  /** What sends the form with the method, address and headers of the request; the platform's `fetch` when absent. */
  send?: (request: Request, form: FormData) => Promise<Response>;
}

const placeOf = (file: File) => file.webkitRelativePath || file.name;

/** The fields of an upload, which come before its files. */
function formOf(fields: UploadFields | PreviewFields): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (typeof value === 'string') form.append(name, value);
  return form;
}

/** Sends files into a table. The answer comes before they are read. Errors: ProblemError, UnreachableError, the signal's reason. */
export async function uploadFiles(
  client: Fieldlake,
  experimentId: string,
  fields: UploadFields,
  files: readonly File[],
  { signal, key, send }: UploadSettings = {},
): Promise<UploadReport> {
  const form = formOf(fields);
  // files keep the folders that they were chosen with
  for (const file of files) form.append('files', file, placeOf(file));
  return bodyOf(
    client.POST(PATH, {
      params: { path: { id: experimentId } },
      // the document has files as text, since it knows no bytes
      body: { ...fields, files: [] },
      bodySerializer: () => form,
      ...(signal === undefined ? {} : { signal }),
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
      ...(send === undefined ? {} : { fetch: withRetries((request) => send(request, form), RETRIES) }),
    }),
  );
}

/** Files that are looked at together at most. */
export const MOST_PREVIEWED = 10;
const MOST_BYTES = 4_194_304;
/** Of text the beginning says what there is to say. */
const ENOUGH_BYTES = 1_048_576;
const WHOLE: readonly PreviewFields['sourceKind'][] = ['xlsx', 'parquet'];

/** Asks what an upload of files would decide, by their beginnings where they are large. Nothing is stored. Errors: those of `uploadFiles`. */
export async function previewFiles(
  client: Fieldlake,
  experimentId: string,
  fields: PreviewFields,
  files: readonly File[],
  { signal }: Pick<UploadSettings, 'signal'> = {},
): Promise<UploadPreview> {
  const form = formOf(fields);
  const isWhole = WHOLE.includes(fields.sourceKind);
  for (const file of files.slice(0, MOST_PREVIEWED))
    if (file.size <= (isWhole ? MOST_BYTES : ENOUGH_BYTES)) form.append('files', file, placeOf(file));
    // of what is read whole or not at all, a part says nothing
    else form.append('parts', file.slice(0, isWhole ? 0 : ENOUGH_BYTES), placeOf(file));
  return bodyOf(
    client.POST(PREVIEW, {
      params: { path: { id: experimentId } },
      body: { ...fields, files: [] },
      bodySerializer: () => form,
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}
