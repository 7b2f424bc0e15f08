import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { makeAmbyteFiles } from './ambyte.ts';
import { openClient, sendTable, type ListedTable, type SampleTable } from './client.ts';
import { prepareLibrary, type SampleLibrary } from './library.service.ts';
import { makeMeasurement, printWeather } from './season.ts';
import type { Quickstart } from './sample.service.ts';

const MESSAGES_PER_OBJECT = 1_000;
export const SEASON_ROWS = 20_000;
const WAIT_MS = 300_000;

interface SeasonOptions {
  rows?: number;
  signal?: AbortSignal;
  /** Where the service listens, when its base URL is not reached from here (yet). */
  localUrl?: string;
  /** Called with sentences that say how far it is. */
  say?: (line: string) => void;
}

type Asked = Pick<Quickstart, 'baseUrl' | 'experimentId' | 'organizationId' | 'users'>;

const pack = promisify(gzip);

async function putObject(url: string, bytes: Buffer, signal: AbortSignal | undefined): Promise<void> {
  const response = await fetch(url, { method: 'PUT', body: new Blob([new Uint8Array(bytes)]), signal });
  if (!response.ok) throw new Error(`the season could not be loaded: the object was answered with ${response.status}`);
}

/** Makes the upload tables of the season beside its measurements. */
const UPLOADS: Readonly<Record<string, () => Omit<SampleTable, 'targetName'>>> = {
  weather: () => ({ sourceKind: 'ndjson', files: [{ path: 'weather.ndjson', text: printWeather() }] }),
  ambyte_traces: () => ({ sourceKind: 'ambyte', files: makeAmbyteFiles() }),
};

/** The measurement with the protocol that it was made by, and the macro that is to run on it. */
const nameHow = (measurement: object, { macro, protocolId }: SampleLibrary): object =>
  'macros' in measurement ? { ...measurement, protocol_id: protocolId, macros: [macro] } : measurement;

/**
 * Loads the season over HTTP, the way that instruments do: signed URLs and packed lists of messages, some of them sent twice. Measurements that are there
 * already are not added again, so that loading may be cut off and begun anew. Resolves when all of them can be read, with the macro and protocol that they were
 * made by. Rejects when it is aborted.
 */
export async function loadSeason(
  { baseUrl, experimentId, organizationId, users }: Asked,
  { rows = SEASON_ROWS, signal, say, localUrl = baseUrl }: SeasonOptions = {},
): Promise<SampleLibrary> {
  const experiment = `/api/v1/experiments/${experimentId}`;
  const owner = openClient(localUrl, users.owner.apiKey, signal);
  const member = openClient(localUrl, users.member.apiKey, signal);
  const tables = () => owner.get<ListedTable[]>(`${experiment}/tables`);
  const stored = async () => (await tables()).find(({ identifier }) => identifier === 'raw_data')?.totalRows ?? 0;
  const before = await tables();
  for (const [targetName, make] of Object.entries(UPLOADS))
    if (!before.some(({ displayName }) => displayName === targetName)) await sendTable(owner, experiment, { targetName, ...make() });
  const library = await prepareLibrary(owner, { experimentId, organizationId });
  const begun = await stored();
  for (let from = 0; begun < rows && from < rows; from += MESSAGES_PER_OBJECT) {
    const messages = Array.from({ length: Math.min(MESSAGES_PER_OBJECT, rows - from) }, (_, at) =>
      nameHow(makeMeasurement(from + at, library.macro), library),
    );
    // a lost acknowledgement makes an instrument send again
    const again = from === 0 ? messages.slice(0, 20) : [];
    const bytes = await pack(JSON.stringify([...messages, ...again]));
    const sender = (from / MESSAGES_PER_OBJECT) % 3 === 2 ? member : owner;
    const { uploadUrl } = await sender.post<{ uploadUrl: string }>('/api/v1/iot/upload-url', { experimentId });
    const ours = uploadUrl.startsWith(`${baseUrl}/`);
    await putObject(ours ? localUrl + uploadUrl.slice(baseUrl.length) : uploadUrl, bytes, signal);
    if ((from / MESSAGES_PER_OBJECT) % 5 === 4)
      say?.(`sent ${(from + messages.length).toLocaleString('en')} of ${rows.toLocaleString('en')} measurements`);
  }
  for (const since = Date.now(); Date.now() - since < WAIT_MS; await sleep(500, undefined, { signal })) {
    const count = await stored();
    if (count < rows) continue;
    if (begun < rows) say?.(`${count.toLocaleString('en')} measurements can be read`);
    return library;
  }
  throw new Error('the measurements of the season were sent, but not all of them can be read yet');
}
