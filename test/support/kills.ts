import { setTimeout as sleep } from 'node:timers/promises';
import { breaches } from './answerable.ts';
import { addFired, fire, makeScene, random, type Fired, type Scene } from './fire.ts';
import { sharedSite, spawnServer, type ServerProcess } from './process.ts';

interface Orders {
  seed: number;
  people: number;
  acts: number;
  kills: number;
  lanes: number;
}

export interface Aftermath {
  fired: Fired;
  made: Scene['made'];
  kills: number;
  /** How often the checker looked while the fire went on, and at its end. */
  checks: number;
  breaches: { rule: string; id: string }[];
  seconds: number;
}

/**
 * Two server processes on one database, people who act through both at once, and kills of either at random moments; the checker reads the database
 * after every kill and at the end.
 */
export async function fireUnderKills({ seed, people, acts, kills, lanes }: Orders): Promise<Aftermath> {
  const began = Date.now();
  const site = await sharedSite();
  const { db } = site.database;
  const environment = { ...site.environment, SIGN_INS_PER_MINUTE: '100000', LOG_LEVEL: 'fatal', DUCKDB_MEMORY_MB: '256' };
  const up: (ServerProcess | null)[] = await Promise.all([spawnServer(environment), spawnServer(environment)]);
  const found: Aftermath['breaches'] = [];
  let checks = 0;
  let killed = 0;
  const check = async () => {
    checks += 1;
    found.push(...(await breaches(db)));
  };
  try {
    const scene = await makeScene(db, people);
    await check();
    const state = { killersAt: 2, answered: 0 };
    const killers = [0, 1].map(async (victim) => {
      const roll = random(seed * 7 + victim);
      try {
        for (let kill = victim; kill < kills; kill += 2) {
          // spread over the acts, at a moment when others are midway
          while (state.answered < ((kill + roll()) * acts) / kills && state.answered < acts) await sleep(10);
          const server = up[victim];
          up[victim] = null;
          await server?.kill('SIGKILL');
          killed += 1;
          await check();
          up[victim] = await spawnServer(environment);
        }
      } finally {
        // also of one whose server does not come back: the fire ends, and what went wrong is said
        state.killersAt -= 1;
      }
    });
    for (const killer of killers) killer.catch(() => undefined);
    const fired: Fired = { answered: {}, cutOff: 0 };
    const portion = Math.max(1, Math.floor(acts / 10));
    // people go on until the last kill is over
    for (let done = 0; done < acts || state.killersAt > 0; done += portion)
      addFired(
        fired,
        await fire(scene, {
          seed: seed + done,
          acts: portion,
          lanes,
          upUrls: () => up.flatMap((server) => server?.baseUrl ?? []),
          onAnswer: () => (state.answered += 1),
        }),
      );
    await Promise.all(killers);
    await check();
    return { fired, made: scene.made, kills: killed, checks, breaches: found, seconds: (Date.now() - began) / 1000 };
  } finally {
    for (const server of up) await server?.kill('SIGKILL');
    await site.remove();
  }
}
