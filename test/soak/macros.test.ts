import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../../src/api/credentials/credentials.service.ts';
import type { MacroLanguage } from '../../src/sandbox/job.ts';
import { makePerson } from '../support/cast.ts';
import { sharedSite, spawnServer, type ServerProcess } from '../support/process.ts';
import { HAS_BUBBLEWRAP } from '../sandbox/machine.ts';

const SCALE = Number(process.env['SOAK'] ?? 0.1);
const LANGUAGES: MacroLanguage[] = HAS_BUBBLEWRAP ? ['javascript', 'python', 'r'] : ['javascript', 'python'];
const CODE: Record<MacroLanguage, string> = {
  javascript: 'return { n: json.n, values: json.values.map((value) => value * 2) };',
  python: "return {'n': json['n'], 'values': [value * 2 for value in json['values']]}",
  r: 'list(n = json$n, values = unlist(json$values) * 2)',
};

let site: Awaited<ReturnType<typeof sharedSite>>;
let server: ServerProcess;
let post: (path: string, body: object) => Promise<any>;
const macros = {} as Record<MacroLanguage, string>;

beforeAll(async () => {
  site = await sharedSite();
  const { id: userId, workspaceId } = await makePerson(site.database.db, 'runner');
  const { key } = await createApiKey(site.database.db, { userId, name: 'soak', rateLimit: 1_000_000 });
  server = await spawnServer({ ...site.environment, MACRO_LANGUAGES: LANGUAGES.join(','), MACRO_LEVEL: 'best', MACRO_ACCEPT_ROOT: 'on' });
  post = async (path, body) => {
    const response = await fetch(`${server.baseUrl}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  for (const language of LANGUAGES)
    macros[language] = (await post('macros', { name: `Soak ${language}`, language, code: CODE[language], organizationId: workspaceId })).id;
}, 120_000);
afterAll(async () => {
  await server.kill('SIGTERM');
  await site.remove();
});

const valuesOf = (n: number) => [n, n + 0.5, -n - 1];

for (const language of LANGUAGES) {
  for (const full of [3_000, 5_000]) {
    const count = Math.round(full * SCALE);
    test(`${language}: ${count} items of one macro give that many results in order`, async () => {
      const items = Array.from({ length: count }, (_, n) => ({
        id: `item ${n}`,
        macro_id: macros[language],
        data: { n, values: valuesOf(n) },
      }));
      const start = performance.now();
      const { results, errors } = await post('macros/execute-batch', { items, timeout: 60, itemTimeout: 5 });
      console.log(`${language}: ${count} items in ${Math.round(performance.now() - start)} ms`);
      expect(errors).toEqual([]);
      expect(
        results.map(({ id, success, output }: { id: string; success: boolean; output: unknown }) => ({ id, success, output })),
      ).toEqual(
        items.map(({ id, data }) => ({ id, success: true, output: { n: data.n, values: valuesOf(data.n).map((value) => value * 2) } })),
      );
    });
  }
}

/** Megabytes of a process and all that it has started; what they share is counted once. */
function memoryOf(pid: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      parents.set(Number(name), Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1]));
    } catch {
      // it has ended
    }
  }
  const isOurs = (at: number | undefined): boolean => at === pid || (at !== undefined && at > 1 && isOurs(parents.get(at)));
  let kilobytes = 0;
  for (const each of parents.keys()) {
    if (!isOurs(each)) continue;
    try {
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${each}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      // it has ended
    }
  }
  return kilobytes / 1024;
}

/** After the processes that are kept for a while have gone; the least of some looks, because a collection may come late. */
async function settled(): Promise<number> {
  await pause(13_000);
  const looks: number[] = [];
  for (let look = 0; look < 5; look += 1) {
    looks.push(memoryOf(server.child.pid ?? 0));
    await pause(500);
  }
  return Math.min(...looks);
}

test.runIf(process.platform === 'linux')(
  `memory after ${10_000 * SCALE} runs is that after ${1_000 * SCALE}, within a tenth`,
  { timeout: 1_800_000 },
  async () => {
    let done = 0;
    const runTo = async (count: number) => {
      await Promise.all(
        [0, 1].map(async () => {
          while (done < count) {
            const n = (done += 1);
            const language = LANGUAGES[n % LANGUAGES.length]!;
            const answer = await post(`macros/${macros[language]}/execute`, { data: { n, values: valuesOf(n) }, itemTimeout: 10 });
            expect(answer.output).toEqual({ n, values: valuesOf(n).map((value) => value * 2) });
          }
        }),
      );
    };
    await runTo(1_000 * SCALE);
    const before = await settled();
    const start = performance.now();
    await runTo(10_000 * SCALE);
    const perRun = (performance.now() - start) / (9_000 * SCALE);
    const after = await settled();
    console.log(
      `memory: ${before.toFixed(0)} MB, then ${after.toFixed(0)} MB (${(after / before).toFixed(3)}); ${perRun.toFixed(1)} ms a run`,
    );
    expect(after).toBeLessThanOrEqual(before * 1.1);
  },
);
