import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ambyteFiles } from './ambyte.ts';
import { measurementAt, weatherNdjson } from './season.ts';
import type { Quickstart } from './sample.service.ts';

const MESSAGES_PER_OBJECT = 1_000;
export const SEASON_ROWS = 20_000;
const MACRO = { id: '5f0c7a52-8c7e-4d0b-9a35-6f2f3f1f2a10', name: 'Photosynthesis', filename: 'photosynthesis' };
const WAIT_MS = 300_000;

interface SeasonOptions {
  rows?: number;
  signal?: AbortSignal;
  /** Where the service listens, when its base URL is not reached from here (yet). */
  localUrl?: string;
  /** Told how far it is, in a sentence. */
  say?: (line: string) => void;
}

type Table = { identifier: string; displayName: string; totalRows: number };
type Asked = Pick<Quickstart, 'baseUrl' | 'experimentId' | 'users'>;

const pack = promisify(gzip);

async function call<T>(url: string, apiKey: string, signal: AbortSignal | undefined, body?: object | FormData): Promise<T> {
  const isForm = body instanceof FormData;
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': apiKey, ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    signal,
  });
  if (!response.ok) throw new Error(`the season could not be loaded: ${new URL(url).pathname} answered ${response.status}`);
  return (await response.json()) as T;
}

async function putObject(url: string, bytes: Buffer, signal: AbortSignal | undefined): Promise<void> {
  const response = await fetch(url, { method: 'PUT', body: new Blob([new Uint8Array(bytes)]), signal });
  if (!response.ok) throw new Error(`the season could not be loaded: the object was answered with ${response.status}`);
}

interface Files {
  sourceKind: 'ndjson' | 'ambyte';
  targetName: string;
  files: () => { path: string; text: string }[];
}

/** Upload tables of the season beside its measurements. */
const UPLOADS: readonly Files[] = [
  { sourceKind: 'ndjson', targetName: 'weather', files: () => [{ path: 'weather.ndjson', text: weatherNdjson() }] },
  { sourceKind: 'ambyte', targetName: 'ambyte_traces', files: ambyteFiles },
];

async function sendFiles(experiment: string, apiKey: string, { sourceKind, targetName, files }: Files, signal: AbortSignal | undefined) {
  const form = new FormData();
  form.append('sourceKind', sourceKind);
  form.append('targetKind', 'new');
  form.append('targetName', targetName);
  for (const { path, text } of files()) form.append('files', new Blob([text]), path);
  await call(`${experiment}/data/uploads`, apiKey, signal, form);
}

/**
 * Loads the season over HTTP, the way that instruments do: signed URLs and packed lists of messages, some of them sent twice. Measurements that are there already
 * are not added again, so that it may be cut off and begun anew. Resolves when all of them can be read; rejects when it is aborted.
 */
export async function loadSeason(
  { baseUrl, experimentId, users }: Asked,
  { rows = SEASON_ROWS, signal, say, localUrl = baseUrl }: SeasonOptions = {},
): Promise<void> {
  const experiment = `${localUrl}/api/v1/experiments/${experimentId}`;
  const owner = users.owner.apiKey;
  const tables = () => call<Table[]>(`${experiment}/tables`, owner, signal);
  const stored = async () => (await tables()).find(({ identifier }) => identifier === 'raw_data')?.totalRows ?? 0;
  const before = await tables();
  for (const upload of UPLOADS)
    if (!before.some(({ displayName }) => displayName === upload.targetName)) await sendFiles(experiment, owner, upload, signal);
  if ((await stored()) >= rows) return;
  for (let from = 0; from < rows; from += MESSAGES_PER_OBJECT) {
    const messages = Array.from({ length: Math.min(MESSAGES_PER_OBJECT, rows - from) }, (_, at) => measurementAt(from + at, MACRO));
    // a lost acknowledgement makes an instrument send again
    const again = from === 0 ? messages.slice(0, 20) : [];
    const bytes = await pack(JSON.stringify([...messages, ...again]));
    const apiKey = (from / MESSAGES_PER_OBJECT) % 3 === 2 ? users.member.apiKey : owner;
    const { uploadUrl } = await call<{ uploadUrl: string }>(`${localUrl}/api/v1/iot/upload-url`, apiKey, signal, { experimentId });
    const ours = uploadUrl.startsWith(`${baseUrl}/`);
    await putObject(ours ? localUrl + uploadUrl.slice(baseUrl.length) : uploadUrl, bytes, signal);
    if ((from / MESSAGES_PER_OBJECT) % 5 === 4)
      say?.(`sent ${(from + messages.length).toLocaleString('en')} of ${rows.toLocaleString('en')} measurements`);
  }
  for (const since = Date.now(); Date.now() - since < WAIT_MS; await sleep(500, undefined, { signal })) {
    const count = await stored();
    if (count < rows) continue;
    say?.(`${count.toLocaleString('en')} measurements can be read`);
    return;
  }
  throw new Error('the measurements of the season were sent, but not all of them can be read yet');
}
