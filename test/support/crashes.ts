import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from './cast.ts';
import type { ServerProcess } from './process.ts';

/** Numbers from a seed, so that a run can be replayed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** The seed of a test: SEED where it is given, another one each time in soak, else always the same. */
export const seedOf = (name: string): number => {
  const seed = Number(process.env['SEED'] ?? (process.env['SOAK'] === undefined ? 22 : Math.floor(Math.random() * 1_000_000_000)));
  process.stdout.write(`${name}: SEED=${seed}\n`);
  return seed;
};

/** When each of so many kills comes, as parts of the stretch in which it may: somewhere in a part of its own, so that a few are spread over all of it. */
export const momentsOf = (kills: number, random: () => number): number[] =>
  Array.from({ length: kills }, (_, kill) => (kill + random()) / kills);

/** A CSV whose every row is its own number, so that a lost or doubled row shows. */
export const numberedCsv = (file: number, rows: number): string =>
  `file,row,value\n${Array.from({ length: rows }, (_, row) => `${file},${row},${(file * 1_000 + row) / 8}`).join('\n')}\n`;

/** Sends a file; undefined when the server died on the way. */
export async function sendCsv(
  server: ServerProcess,
  person: Person,
  target: { experimentId: string; fields: Record<string, string> },
  name: string,
  text: string,
) {
  const form = new FormData();
  for (const [field, value] of Object.entries({ sourceKind: 'csv', ...target.fields })) form.append(field, value);
  form.append('files', new Blob([text]), name);
  try {
    const response = await fetch(`${server.baseUrl}/api/v1/experiments/${target.experimentId}/data/uploads`, {
      method: 'POST',
      headers: { 'x-api-key': person.apiKey },
      body: form,
    });
    const body = (await response.json()) as { uploadId: string; uploadTableId: string };
    return {
      code: response.status,
      retryAfter: response.headers.get('retry-after'),
      uploadId: body.uploadId,
      uploadTableId: body.uploadTableId,
    };
  } catch {
    return undefined;
  }
}

export async function getJson(server: ServerProcess, person: Person, path: string): Promise<any> {
  const response = await fetch(`${server.baseUrl}${path}`, { headers: { 'x-api-key': person.apiKey } });
  return response.json();
}

/** Asks until the answer satisfies, at most so many milliseconds: ever more rarely, so that a long wait is no flood of requests. */
export async function eventually<T>(ask: () => Promise<T>, good: (answer: T) => boolean, milliseconds: number): Promise<T> {
  const end = Date.now() + milliseconds;
  for (let pause = 200; ; pause = Math.min(pause * 1.2, 1_000)) {
    const answer = await ask();
    if (good(answer) || Date.now() > end) return answer;
    await sleep(pause);
  }
}
