/** How many pages of a list a second a service gives as it grows from 100 experiments to a million, whoever asks. */
import { Agent, get } from 'node:http';
import pg from 'pg';
import { createApiKey } from '../src/api/credentials/credentials.service.ts';
import { createUser } from '../src/api/account/account.service.ts';
import { openDatabase, type Database } from '../src/database/database.ts';
import { APPLICATION_ROLE } from '../src/database/migrate.ts';
import { against, quantile, type Measured } from './pairs.ts';
import { growLists, userId } from './seed-lists.ts';
import { serve, stop } from './seed-reads.ts';

/** Sizes, and the least of the first one's pages a second that each may give. */
const SIZES: readonly (readonly [number, number])[] = [
  [100, 1],
  [5_000, 0.8],
  [Number(process.env['LISTS'] ?? 1_000_000), 0.6],
];
/** So that a page is full at every size, of one's own and of public ones. */
const MIX = { perOrganization: 50, publicEvery: 4 };
const LISTS: readonly string[] = ['scope=related', 'scope=all', 'visibility=public&scope=all', 'createdBy=me'];
const ROUNDS = 5;
const ROUND_MS = 1_000;
const WARM_UP_MS = 500;

interface Caller {
  name: string;
  key: string;
}

/** An owner of an organization, a member of it, and somebody who belongs to none. */
async function makeCallers(db: Database): Promise<Caller[]> {
  const stranger = await createUser(db, { email: 'stranger@example.org', firstName: 'A', lastName: 'Stranger', verified: true });
  const people = [
    ['owner', userId(11)],
    ['member', userId(12)],
    ['stranger', stranger.id],
  ] as const;
  return Promise.all(
    people.map(async ([name, id]) => ({ name, key: (await createApiKey(db, { userId: id, name: 'bench', rateLimit: 1_000_000 })).key })),
  );
}

/** Pages a second of one connection for so long. */
async function pagesPerSecond(url: string, key: string, milliseconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      get(url, { agent, headers: { 'x-api-key': key } }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`${url} was answered ${String(answer.statusCode)}`));
        answer.resume().once('end', resolve);
      }).once('error', reject);
    });
  const start = performance.now();
  let pages = 0;
  for (; performance.now() - start < milliseconds; pages += 1) await ask();
  agent.destroy();
  return (pages * 1_000) / (performance.now() - start);
}

/** The median of rounds, in which every caller asks for every list in turn. */
async function measure(baseUrl: string, callers: readonly Caller[]): Promise<Map<string, number>> {
  const kinds = callers.flatMap(({ name, key }) =>
    LISTS.map((list) => ({ kind: `${name}, ${list}`, url: `${baseUrl}/api/v1/experiments?pageSize=20&${list}`, key })),
  );
  for (const { url, key } of kinds) await pagesPerSecond(url, key, WARM_UP_MS);
  const found = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { kind, url, key } of kinds) found.set(kind, [...(found.get(kind) ?? []), await pagesPerSecond(url, key, ROUND_MS)]);
  return new Map([...found].map(([kind, rates]) => [kind, quantile(rates, 0.5)]));
}

/** Pages of 20 over HTTP of three callers and four lists, against the same at 100 experiments. `LISTS` makes the last size smaller. */
export async function benchGrowth(url: string, dataDir: string, onMeasured: (line: Measured) => void): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const db = openDatabase({ url, role: APPLICATION_ROLE, max: 2 });
  try {
    let [had, first]: [number, Map<string, number> | undefined] = [0, undefined];
    let callers: Caller[] = [];
    for (const [size, bound] of SIZES) {
      await growLists(client, had, size, MIX);
      if (had === 0) callers = await makeCallers(db);
      had = size;
      const { child, baseUrl } = await serve({ DATABASE_URL: url, DATA_DIR: dataDir, WORKER: 'off', BROKER: 'off', LOG_LEVEL: 'warn' });
      const rates = await measure(baseUrl, callers).finally(() => stop(child));
      first ??= rates;
      for (const [kind, rate] of rates)
        onMeasured(
          against(`${kind}: pages a second at ${size.toLocaleString('en')} experiments, at least`, rate, bound * (first.get(kind) ?? NaN)),
        );
    }
  } finally {
    await db.close();
    await client.end();
  }
}
