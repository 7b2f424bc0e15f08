/** A client for the sample, which does as a user does: HTTP, with a key. */
export interface SampleClient {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object | FormData): Promise<T>;
}

/** A client of the service at `localUrl`. Its calls reject when the service refuses them, and when `signal` is aborted. */
export function openClient(localUrl: string, apiKey: string, signal?: AbortSignal): SampleClient {
  async function call<T>(path: string, init: RequestInit, headers: Record<string, string> = {}): Promise<T> {
    const response = await fetch(`${localUrl}${path}`, { ...init, headers: { 'x-api-key': apiKey, ...headers }, signal });
    if (response.ok) return (await response.json()) as T;
    throw new Error(`the sample could not be made: ${path} answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
  }
  return {
    get: (path) => call(path, {}),
    post: (path, body) =>
      body instanceof FormData
        ? call(path, { method: 'POST', body })
        : call(path, { method: 'POST', body: JSON.stringify(body) }, { 'content-type': 'application/json' }),
  };
}

interface Named {
  id: string;
  name: string | null;
}

/** Finds the one with the name of `body` among the first hundred of a list, or else makes it of `body`. */
export async function findOrMake<T extends Named = Named>(
  client: SampleClient,
  path: string,
  body: Record<string, unknown> & { name: string },
): Promise<T> {
  const found = (await client.get<T[]>(path)).find(({ name }) => name === body.name);
  return found ?? client.post<T>(path.replace(/\?.*/, ''), body);
}

export interface ListedTable {
  identifier: string;
  displayName: string;
  totalRows: number;
}

export interface SampleTable {
  sourceKind: 'csv' | 'ndjson' | 'ambyte';
  targetName: string;
  files: readonly { path: string; text: string }[];
}

export function sendTable(client: SampleClient, experiment: string, { sourceKind, targetName, files }: SampleTable) {
  const form = new FormData();
  form.append('sourceKind', sourceKind);
  form.append('targetKind', 'new');
  form.append('targetName', targetName);
  for (const { path, text } of files) form.append('files', new Blob([text]), path);
  return client.post<{ uploadId: string; uploadTableId: string }>(`${experiment}/data/uploads`, form);
}
